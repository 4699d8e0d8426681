package prove

import (
	"slices"
	"time"

	"github.com/natsmig/natsmig/timingcontract"
)

// A Rival is another explanation of what is measured.
type Rival struct {
	Name string
	// Gaps are the waits that it would have, after each delivery.
	Gaps []time.Duration
	// RuledOut: some event that came as predicted is apart from the rival.
	RuledOut bool
}

// A candidate says how long a rival would wait after delivery n.
type candidate struct {
	name string
	wait func(n int) time.Duration
}

// rivals are the explanations that could be taken for the prediction. Those that
// say the same of a contract anyway, as the ladder and ack_wait do of one without
// a ladder, are left out.
func (r *run) rivals(events []Event) []Rival {
	out := []Rival{}
	for _, c := range r.candidates(events) {
		rival := Rival{Name: c.name}
		for i := range events {
			rival.Gaps = append(rival.Gaps, max(c.wait(events[i].After), 0))
		}
		out = append(out, rival)
	}
	return out
}

func (r *run) candidates(events []Event) []candidate {
	c, of := &r.proof.Scaled, r.proof.Case
	switch {
	case of == timingcontract.TimeOut || waits(c) || r.course.Lapsed > 0:
		return r.ofTheServer(events)
	case c.Handler.OnFailure == timingcontract.NakDelay && slices.Max(c.Handler.Delays) > 0:
		return r.ofDelays()
	case c.Handler.OnFailure == timingcontract.Discard:
		return []candidate{{"retried by the server all the same", c.Rung}}
	default:
		return r.ofNaks()
	}
}

// budget is what an attempt takes in the case at hand.
func (r *run) budget() time.Duration {
	if r.proof.Case == timingcontract.WholeBudget {
		return r.proof.Scaled.Handler.Budget
	}
	return 0
}

// ofTheServer are the rivals where the server alone schedules.
func (r *run) ofTheServer(events []Event) []candidate {
	c, b, first := &r.proof.Scaled, r.budget(), r.proof.Scaled.Rung(1)
	held := func(n int) time.Duration { // by heartbeats
		if e := &events[n-1]; e.What != Silence {
			return max(e.Predicted-c.Rung(n), 0)
		}
		return 0
	}
	all := []candidate{{"at once", func(int) time.Duration { return 0 }}}
	if len(c.Ladder) == 0 && len(events) > 1 {
		all = append(all, candidate{"a wait that grows by itself", func(n int) time.Duration { return held(n) + time.Duration(n)*c.AckWait }})
	}
	if len(c.Ladder) > 1 && len(events) > 1 { // after the first delivery the two are one
		all = append(all,
			candidate{"the ladder is ignored: ack_wait alone", func(n int) time.Duration { return held(n) + c.Ladder[0] }},
			candidate{"one rung further", func(n int) time.Duration { return held(n) + c.Rung(n+1) }},
		)
	}
	if b > 0 {
		all = append(all, candidate{"counted from the failure", func(n int) time.Duration { return b + c.Rung(n) }})
	}
	switch every := c.Handler.Heartbeat.Every; {
	case every > first:
		all = append(all, candidate{"the late heartbeat counts", func(n int) time.Duration { return every + c.Rung(n) }})
	case every > 0:
		all = append(all, candidate{"the heartbeat is ignored", c.Rung})
	}
	return all
}

// ofDelays are the rivals where the handler asks for a delay.
func (r *run) ofDelays() []candidate {
	c, b := &r.proof.Scaled, r.budget()
	asked := func(n int) time.Duration { return c.Handler.Delays[min(n, len(c.Handler.Delays))-1] }
	first := c.Rung(1)
	all := []candidate{
		{"at once", func(int) time.Duration { return b }},
		{"ack_wait alone, whatever is asked", func(int) time.Duration { return first }},
		{"the delay after ack_wait or the rung", func(n int) time.Duration { return b + asked(n) + c.Rung(n) }},
	}
	if len(c.Ladder) > 0 {
		all = append(all,
			candidate{"the ladder is ignored: the delay alone", func(n int) time.Duration { return b + asked(n) }},
			candidate{"the rung, whatever is asked", c.Rung},
		)
	}
	if b > 0 {
		all = append(all, candidate{"counted from the delivery", func(n int) time.Duration { return asked(n) + c.Rung(n) - first }})
	}
	return all
}

// ofNaks are the rivals where the handler asks for the message at once.
func (r *run) ofNaks() []candidate {
	c, b := &r.proof.Scaled, r.budget()
	all := []candidate{{"paced by the ladder or ack_wait", func(n int) time.Duration { return b + c.Rung(n) }}}
	if b > 0 {
		all = append(all, candidate{"counted from the delivery", func(int) time.Duration { return 0 }})
	}
	return all
}
