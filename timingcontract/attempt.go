package timingcontract

import "time"

// A Case is a way for every attempt to fail.
type Case string

// The cases. What really happens is a mixture of them; none of its deliveries
// comes sooner than the soonest of these.
const (
	// Instant: the handler fails at once and does what it does on failure.
	Instant Case = "instant"
	// TimeOut: nothing is heard of any attempt, as if its process had died.
	TimeOut Case = "timeout"
	// WholeBudget: the handler works as long as it may, with its heartbeat, and
	// does then what it does on failure. With a rung of zero, which no contract
	// should have, it may come otherwise.
	WholeBudget Case = "budget"
)

// Cases lists the cases.
func Cases() []Case { return []Case{Instant, TimeOut, WholeBudget} }

// A step is what follows one delivery.
type step struct {
	wait    time.Duration // until the next delivery, or until the message is given up
	stalled bool          // nothing follows
	lapses  bool          // the lease ends while the handler still works
}

// step says what follows delivery n.
func (c *Contract) step(of Case, n int) step {
	switch {
	case of == TimeOut, of == Instant && c.waits():
		return step{wait: c.timer(n), stalled: c.stallsSilent(n)}
	case of == Instant:
		return c.failed(n, 0)
	}
	lease := c.lease(n)
	switch {
	case lease < c.Handler.Budget:
		return step{wait: lease, lapses: true}
	case c.waits():
		beats := lease > c.timer(n)
		return step{wait: lease, stalled: c.stallsSilent(n) || beats && c.stallsEarly(n)}
	default:
		return c.failed(n, c.Handler.Budget)
	}
}

// waits says whether a failing handler leaves it to the server.
func (c *Contract) waits() bool {
	return c.Handler.OnFailure == "" || c.Handler.OnFailure == Ladder
}

// failed is the step after an attempt that speaks up after so much work.
func (c *Contract) failed(n int, work time.Duration) step {
	delay := at(c.Handler.Delays, n)
	if c.Handler.OnFailure != NakDelay || delay == 0 && !c.Handler.Raw() {
		return step{wait: work}
	}
	wait := max(delay+c.correction(n), 0)
	return step{wait: work + wait, stalled: wait > nakCheck && c.stallsEarly(n)}
}

// nakCheck is when the broker looks at its pending messages after a nak with a
// delay (processNak, consumer.go:3407, nats-server 2.15.3).
const nakCheck = 10 * time.Millisecond

// lease is how long after delivery n the broker takes the handler to be working
// if it works for its whole budget: the last heartbeat that comes in time, and
// the rung after it. In-progress resets the clock and nothing else
// (progressUpdate, consumer.go:2935, nats-server 2.15.3).
func (c *Contract) lease(n int) time.Duration {
	h, rung := &c.Handler, c.timer(n)
	if c.timerOff() {
		return most
	}
	if h.Heartbeat.Every <= 0 || h.Heartbeat.Every >= rung {
		return rung
	}
	held := max(h.Budget-1, 0) // none at the very end
	if h.Heartbeat.Cap > 0 {
		held = min(held, h.Heartbeat.Cap)
	}
	return held.Truncate(h.Heartbeat.Every) + rung // the last beat, and its rung
}

// timer is how long the server really waits for an acknowledgment of delivery n.
// It is the rung, unless that is zero. Then 2.10 to 2.12 expire the message at
// once; 2.14 and later (and 2.9) stop the timer for it and start it anew with
// ack_wait when they deliver (trackPending, consumer.go:6160, nats-server
// 2.15.3; measured).
func (c *Contract) timer(n int) time.Duration {
	rung := c.rung(n)
	if rung == 0 && len(c.Ladder) > 0 && (c.Line.since(14) || c.Line == 9) {
		return max(c.Ladder[0], 0)
	}
	return max(rung, 0)
}

// stallsSilent says whether delivery n is the last thing that ever happens to a
// message of which nothing is heard. Since 2.14 a check of the pending messages
// that finds none expired and the next rung zero stops the timer for good
// (resetPtmr, consumer.go:7496, nats-server 2.15.3), and with an ack_wait of zero
// there are no checks at all (checkPending, consumer.go:6313). A check before its
// time happens after a redelivery if the last rung is shorter than the one at hand:
// the timer is set to the shortest of them. On a busy machine it can come before
// its time by a hair all the same, so that nobody should count on what a zero does.
func (c *Contract) stallsSilent(n int) bool {
	if !c.Line.since(14) || len(c.Ladder) == 0 || c.timerOff() {
		return c.timerOff()
	}
	last := c.Ladder[len(c.Ladder)-1]
	return n > 1 && last > 0 && last < c.rung(n) && c.rung(n+1) == 0
}

// stallsEarly is [Contract.stallsSilent] for a message whose clock was moved, by a nak
// with a delay or a heartbeat: its next check comes before its time.
func (c *Contract) stallsEarly(n int) bool {
	if !c.Line.since(14) || len(c.Ladder) == 0 {
		return false
	}
	return c.timerOff() || c.rung(n+1) == 0 || c.Ladder[len(c.Ladder)-1] == 0
}

// timerOff says whether the broker has no ack timer at all: the stored ack_wait
// is the first rung, and that is zero.
func (c *Contract) timerOff() bool {
	return c.Line.since(14) && len(c.Ladder) > 0 && c.Ladder[0] == 0
}

// steady is the delivery from which on every step is like the one before.
func (c *Contract) steady() int { return max(len(c.Ladder), len(c.Handler.Delays), 1) + 1 }
