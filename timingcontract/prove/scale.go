package prove

import (
	"cmp"
	"slices"
	"time"

	"github.com/natsmig/natsmig/timingcontract"
)

// What waits are scaled to. They are far apart, so that a busy machine does not
// make one look like another: two rungs differ by step at least, and a delay is
// apart from every rung that it could be taken for.
const (
	base  = 800 * time.Millisecond  // the shortest rung
	step  = 400 * time.Millisecond  // from one rung to the next
	delay = 1400 * time.Millisecond // the shortest delay
	work  = 300 * time.Millisecond  // a budget within every rung
	long  = 1150 * time.Millisecond // a budget that takes a heartbeat
	beat  = 400 * time.Millisecond  // twice in a long budget, and well within a rung

	longest   = 10 // deliveries that are measured; later ones are like the last of them
	unbounded = 5  // the same, of a contract without an end
)

// scale makes a contract that is like c and takes seconds, on a broker of the
// given line.
func scale(c timingcontract.Contract, of timingcontract.Case, l timingcontract.Line) timingcontract.Contract {
	out := timingcontract.Contract{AckWait: base, MaxDeliver: min(c.MaxDeliver, longest), Line: l}
	if out.MaxDeliver < 1 {
		out.MaxDeliver = -1
	}
	if len(c.Ladder) > 0 {
		out.Ladder = rungs(&c, ladderLength(&out))
		out.AckWait = out.Ladder[0]
	}
	out.Handler.OnFailure = c.Handler.OnFailure
	out.Handler.Delays = delays(&c.Handler, &out)
	if of == timingcontract.WholeBudget {
		scaleBudget(&c, &out)
	}
	return out
}

// ladderLength gives every delivery a rung of its own. A broker before 2.10 wants
// fewer rungs than deliveries.
func ladderLength(c *timingcontract.Contract) int {
	switch {
	case c.MaxDeliver < 1:
		return unbounded
	case c.Line == 9:
		return max(c.MaxDeliver-1, 1)
	}
	return c.MaxDeliver
}

// rungs keeps the order of the rungs, and has those that are alike grow. A zero
// stays what it is.
func rungs(c *timingcontract.Contract, n int) []time.Duration {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.Rung(a+1), c.Rung(b+1)) })
	out, next := make([]time.Duration, n), base
	for _, i := range order {
		if c.Rung(i+1) == 0 {
			continue
		}
		out[i] = next
		next += step
	}
	return out
}

// delays keeps the order of the delays, and zeros. Delays that make up for a
// ladder are made to make up for the scaled one.
func delays(h *timingcontract.Handler, scaled *timingcontract.Contract) []time.Duration {
	distinct := slices.Clone(h.Delays)
	slices.Sort(distinct)
	distinct = slices.DeleteFunc(slices.Compact(distinct), func(d time.Duration) bool { return d == 0 })
	var out []time.Duration
	for _, d := range h.Delays {
		rank, found := slices.BinarySearch(distinct, d)
		if !found {
			out = append(out, 0)
			continue
		}
		out = append(out, delay+time.Duration(rank)*step)
	}
	if !h.Raw() {
		return out
	}
	flat := *scaled
	flat.Handler = timingcontract.Handler{OnFailure: timingcontract.NakDelay, Delays: []time.Duration{delay}}
	if comp := flat.CompensatedDelays(); comp != nil {
		return comp
	}
	return out
}

// scaleBudget keeps whether the lease of an attempt lasts, and what makes it last.
func scaleBudget(c, out *timingcontract.Contract) {
	h, s := &c.Handler, &out.Handler
	beats := h.Heartbeat.Every > 0 && h.Heartbeat.Every < c.Rung(1) && h.Budget > h.Heartbeat.Every
	lapsed := c.Course(timingcontract.WholeBudget).Lapsed
	switch {
	case lapsed > 0 && beats: // its cap ends the lease
		s.Heartbeat = timingcontract.Heartbeat{Every: beat, Cap: beat}
		s.Budget = beat + out.Rung(min(lapsed, longest)) + step/2
	case lapsed > 0:
		rung := out.Rung(min(lapsed, longest))
		s.Budget = rung + step/2
		if h.Heartbeat.Every > 0 { // it comes too late
			s.Heartbeat.Every = rung + step/4
		}
	case beats:
		s.Heartbeat, s.Budget = timingcontract.Heartbeat{Every: beat}, long
		if h.Heartbeat.Cap > 0 && h.Heartbeat.Cap < h.Budget {
			s.Heartbeat.Cap = 2 * beat
		}
	default:
		s.Budget = work
	}
}

// watchable bounds a contract without an end, for as many deliveries as are
// waited for.
func watchable(c timingcontract.Contract) timingcontract.Contract {
	if c.MaxDeliver < 1 {
		c.MaxDeliver = unbounded
	}
	return c
}
