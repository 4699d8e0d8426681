package timingcontract

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A simulation plays one message on one pull consumer, whose pulls are always
// open, event by event as the source of nats-server 2.15.3 has it. It shares no
// code with the model: rungs are indexed by the redelivery count, as there, and
// the timer is set, moved and stopped, as there.
type simulation struct {
	c   Contract
	of  Case
	now time.Duration

	ackWait time.Duration // cfg.AckWait, after setConsumerConfigDefaults
	pending bool          // o.pending has the message
	stamp   time.Duration // Pending.Timestamp
	rdc     int           // o.rdc
	queued  bool          // on o.rdq
	armed   bool          // o.ptmr is not nil
	fire    time.Duration // o.ptmrEnd
	todo    []event       // of the client, and the delivery under way

	working    int // attempts that have not ended
	deliveries []time.Duration
	exhausted  time.Duration
	lapsed     int
}

type event struct {
	at time.Duration
	do func()
}

const (
	toClient  = 20 * time.Microsecond // from the redelivery queue to the clock of the delivery
	toServer  = 200 * time.Microsecond
	overslept = 50 * time.Microsecond // of a timer; measured to be more than toClient
	timerLate = time.Millisecond      // ackWaitDelay
)

func simulate(c Contract, of Case) *simulation {
	sim := &simulation{c: c, of: of, ackWait: c.AckWait}
	if sim.ackWait == 0 {
		sim.ackWait = 30 * time.Second
	}
	if len(c.Ladder) > 0 {
		sim.ackWait = c.Ladder[0]
	}
	sim.deliver()
	for sim.exhausted == 0 && sim.lapsed == 0 && len(sim.deliveries) < 60 && sim.next() {
	}
	return sim
}

// next plays the event that comes first, and says whether there was one.
func (sim *simulation) next() bool {
	first := -1
	for i := range sim.todo {
		if first < 0 || sim.todo[i].at < sim.todo[first].at {
			first = i
		}
	}
	switch {
	case sim.armed && (first < 0 || sim.fire < sim.todo[first].at):
		sim.now = sim.fire
		sim.checkPending()
	case first >= 0:
		e := sim.todo[first]
		sim.todo = slices.Delete(sim.todo, first, first+1)
		sim.now = e.at
		e.do()
	default:
		return false
	}
	return true
}

func (sim *simulation) after(d time.Duration, do func()) {
	sim.todo = append(sim.todo, event{sim.now + d, do})
}

// resetPtmr (consumer.go:7495).
func (sim *simulation) resetPtmr(d time.Duration) {
	if d == 0 && (sim.c.Line == 0 || sim.c.Line >= 14) {
		sim.armed = false
		return
	}
	sim.armed, sim.fire = true, sim.now+d+overslept
}

// delayOr is ackWait (consumer.go:3467).
func (sim *simulation) delayOr(next time.Duration) time.Duration {
	if next > 0 {
		return next + timerLate
	}
	return sim.ackWait + timerLate
}

// trackPending (consumer.go:6160).
func (sim *simulation) trackPending() {
	sim.pending, sim.stamp = true, sim.now
	minDelay := sim.delayOr(0)
	if l := len(sim.c.Ladder); l > 0 {
		minDelay = sim.delayOr(sim.c.Ladder[min(sim.rdc, l-1)])
	}
	if !sim.armed || sim.fire > sim.now+minDelay {
		sim.resetPtmr(minDelay)
	}
}

// checkPending (consumer.go:6304), for a consumer with one message.
func (sim *simulation) checkPending() {
	newest := sim.c.Line == 0 || sim.c.Line >= 14
	if newest && sim.ackWait == 0 {
		sim.armed = false
		return
	}
	next := sim.delayOr(0)
	l := len(sim.c.Ladder)
	if l > 0 {
		next = sim.c.Ladder[l-1]
	}
	expired := false
	if sim.pending {
		elapsed, deadline := sim.now-sim.stamp, sim.ackWait
		if l > 0 {
			dc := sim.rdc
			nbi := dc + 1
			if dc+1 >= l {
				dc, nbi = l-1, l-1
			}
			deadline = sim.c.Ladder[dc]
			next = min(next, sim.c.Ladder[nbi])
		}
		if elapsed >= deadline {
			expired = !sim.queued && !sim.hasMaxDeliveries()
		} else {
			next = min(next, deadline-elapsed)
		}
	}
	if expired {
		sim.queue()
		sim.stamp = sim.now
	}
	if sim.pending {
		sim.resetPtmr(next)
	} else {
		sim.armed = false
	}
}

// hasMaxDeliveries (consumer.go:2449). deliveryCount (consumer.go:5003) is one for
// the first delivery and for the second, so that this holds only where there is one
// delivery at all; the others are given up when they are taken from the queue.
func (sim *simulation) hasMaxDeliveries() bool {
	if deliveryCount := max(sim.rdc, 1); sim.c.MaxDeliver < 1 || deliveryCount < sim.c.MaxDeliver {
		return false
	}
	sim.giveUp()
	return true
}

func (sim *simulation) giveUp() {
	sim.pending, sim.exhausted = false, sim.now
	if sim.working > 0 {
		sim.lapsed = len(sim.deliveries)
	}
}

// queue is addToRedeliverQueue and what takes it from there, getNextMsg
// (consumer.go:5133).
func (sim *simulation) queue() {
	sim.queued = true
	sim.after(toClient, func() {
		if !sim.queued {
			return
		}
		sim.queued = false
		if sim.c.MaxDeliver > 0 && sim.rdc+2 > sim.c.MaxDeliver {
			sim.giveUp()
			return
		}
		sim.rdc++
		sim.deliver()
	})
}

// processNak with a delay (consumer.go:3348).
func (sim *simulation) nakDelay(d time.Duration) {
	sim.queued = false
	sim.stamp = sim.now - sim.ackWait + d
	if sim.armed {
		sim.resetPtmr(10 * time.Millisecond)
	}
}

// deliver is deliverMsg, and the client that gets the message.
func (sim *simulation) deliver() {
	sim.deliveries = append(sim.deliveries, sim.now)
	n := len(sim.deliveries)
	if sim.working > 0 {
		sim.lapsed = n - 1
		return
	}
	sim.trackPending()
	h := sim.c.Handler
	switch sim.of {
	case TimeOut:
		return
	case Instant:
		h.Budget = 0
	case WholeBudget:
	}
	sim.working++
	for beat := h.Heartbeat.Every; h.Heartbeat.Every > 0 && beat < h.Budget && (h.Heartbeat.Cap == 0 || beat <= h.Heartbeat.Cap); beat += h.Heartbeat.Every {
		sim.after(beat, func() { sim.stamp = sim.now }) // progressUpdate (consumer.go:2935)
	}
	sim.after(h.Budget+toServer, func() {
		sim.working--
		switch h.OnFailure {
		case Nak:
			sim.queue()
		case NakDelay:
			sim.nakDelay(h.Delays[min(n, len(h.Delays))-1])
		case Ladder, Discard, "": // nothing is heard; a term is not drawn
		}
	})
}

// randomContract draws a contract that has everything, zeros among its rungs on
// the newest line.
func randomContract(r *rand.Rand) Contract {
	wait := func() time.Duration { return time.Duration(1+r.IntN(50)) * 200 * ms }
	c := Contract{AckWait: wait(), MaxDeliver: 1 + r.IntN(9), Line: []Line{0, 15, 14, 12, 11, 10}[r.IntN(6)]}
	zeros := c.Line.since(14) && r.IntN(4) == 0
	for range r.IntN(min(c.MaxDeliver, 5) + 1) {
		rung := wait()
		if zeros && r.IntN(3) == 0 {
			rung = 0
		}
		c.Ladder = append(c.Ladder, rung)
	}
	c.Handler.OnFailure = []OnFailure{"", Ladder, Nak, NakDelay}[r.IntN(4)]
	if c.Handler.OnFailure == NakDelay {
		for range 1 + r.IntN(4) {
			c.Handler.Delays = append(c.Handler.Delays, wait())
		}
	}
	c.Handler.Budget = wait() + 55*ms // never just when a lease ends
	if r.IntN(2) == 0 {
		c.Handler.Heartbeat = Heartbeat{Every: wait() - 30*ms}
		if r.IntN(2) == 0 {
			c.Handler.Heartbeat.Cap = wait()
		}
	}
	return c
}

// TestModelEqualsSimulation plays random contracts. What may differ is the slack
// of the broker's timers: 1 ms for a time-out, 10 ms for a delayed nak.
func TestModelEqualsSimulation(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	kinds := map[string]int{}
	for range 20000 {
		c := randomContract(r)
		for _, of := range Cases() {
			if of == WholeBudget && slices.Contains(c.Ladder, 0) {
				continue // not promised
			}
			sim, got := simulate(c, of), c.Course(of)
			if err := disagree(&got, sim); err != nil {
				t.Fatalf("seed %d, %s: %v\ncontract %+v\nmodel %+v\nsimulation: deliveries %v, exhausted %v, lapsed %d", seed, of, err, c, got, sim.deliveries, sim.exhausted, sim.lapsed)
			}
			kinds[fmt.Sprintf("%s stalled=%v lapsed=%v", of, got.Stalled > 0, got.Lapsed > 0)]++
		}
	}
	if len(kinds) < 6 {
		t.Errorf("the draw is too narrow: %v", kinds)
	}
}

func disagree(c *Course, sim *simulation) error {
	if len(c.Deliveries) != len(sim.deliveries) {
		return fmt.Errorf("%d deliveries, not %d", len(c.Deliveries), len(sim.deliveries))
	}
	if c.Lapsed != sim.lapsed || (c.Stalled > 0) != (sim.exhausted == 0 && sim.lapsed == 0) {
		return fmt.Errorf("stalled or lapsed")
	}
	for n, at := range append(slices.Clone(c.Deliveries), c.Exhausted) {
		is := sim.exhausted
		if n < len(sim.deliveries) {
			is = sim.deliveries[n]
		}
		if late := is - at; late < 0 || late > time.Duration(n)*11*ms {
			return fmt.Errorf("event %d at %v, not %v", n+1, at, is)
		}
	}
	return nil
}
