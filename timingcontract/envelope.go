package timingcontract

import (
	"slices"
	"time"
)

// An Envelope is what a contract comes to. Times count from the first delivery.
// All but Residency are those of a message whose every attempt fails at once;
// [Contract.Course] has the other cases, and every delivery.
type Envelope struct {
	// Unbounded: the message is retried for ever, and there are no timings.
	Unbounded bool
	// Stalled: a rung of zero turns the ack timer off after delivery
	// LastAttempt.Delivery, and nothing happens any more (nats-server 2.14 and
	// later; older lines deliver again at once).
	Stalled bool
	// LastAttempt is the handler's last chance: where the application gives up.
	// The zero Moment: the reserve takes all deliveries.
	LastAttempt Moment
	// Capture is the first delivery of the reserve, nil without one.
	Capture *Moment
	// Exhausted is when the broker gives up and releases the ack floor: the last
	// delivery plus its own wait, and then the next pull: the count is looked at when
	// the message is taken for one (getNextMsg, consumer.go:5146, nats-server
	// 2.15.3). Zero for a handler that terminates.
	Exhausted time.Duration
	// Residency is how long the stream has to keep a message so that none of its
	// attempts is cut short: each of them takes its whole budget or times out,
	// whichever holds the message longer, and the last one is over. A last nak
	// with a delay holds it for that delay more, to no purpose. Zero: never over.
	Residency time.Duration
}

// A Moment is one delivery and when it happens.
type Moment struct {
	Delivery int // from 1
	At       time.Duration
}

// Envelope works out the contract.
func (c Contract) Envelope() Envelope {
	if c.Handler.OnFailure == Discard {
		return Envelope{LastAttempt: Moment{Delivery: 1}, Residency: c.residency()}
	}
	switch n := c.stop(Instant); {
	case n > 0:
		return Envelope{Stalled: true, LastAttempt: Moment{n, c.offset(n)}}
	case c.MaxDeliver < 1:
		return Envelope{Unbounded: true}
	}
	final := Moment{c.MaxDeliver, c.offset(c.MaxDeliver)}
	e := Envelope{LastAttempt: final, Exhausted: add(final.At, c.instantly(c.MaxDeliver))}
	if e.Residency = e.Exhausted; !c.uniform() {
		e.Residency = c.residency()
	}
	if c.Handler.Reserve > 0 {
		e.LastAttempt = Moment{}
		last := c.lastAttempt()
		if last > 0 {
			e.LastAttempt = Moment{last, c.offset(last)}
		}
		e.Capture = &Moment{last + 1, c.offset(last + 1)}
	}
	return e
}

// lastAttempt is the number of the handler's last delivery, 0 if it has none.
func (c *Contract) lastAttempt() int { return max(c.MaxDeliver-c.Handler.Reserve, 0) }

// stop is the first delivery after which nothing follows that can be told, 0 if
// something always does until the message is given up.
func (c *Contract) stop(of Case) int {
	if of != WholeBudget && !slices.Contains(c.Ladder, 0) {
		return 0 // a lease lapses at work only, and only a zero stalls
	}
	last := c.steady()
	if c.MaxDeliver > 0 {
		last = min(last, c.MaxDeliver)
	}
	for n := 1; n <= last; n++ {
		if s := c.step(of, n); s.stalled || s.lapses && n != c.MaxDeliver {
			return n
		}
	}
	return 0
}

// uniform says whether all cases are one: the server alone schedules, and neither
// work nor pulls take any time.
func (c *Contract) uniform() bool {
	return c.waits() && c.Handler.Budget == 0 && c.Handler.PullGap == 0
}

// At says when delivery n happens to a message whose every attempt fails at
// once, counted from the first. Deliveries below one happen at once.
func (c Contract) At(n int) time.Duration { return c.offset(n) }

func (c *Contract) offset(n int) time.Duration { return c.sum(n, c.instantly) }

func (c *Contract) instantly(n int) time.Duration { return c.step(Instant, n).wait }

// sum adds up the waits before delivery n.
func (c *Contract) sum(n int, wait func(int) time.Duration) time.Duration {
	var total time.Duration
	steady := c.steady()
	for i := 1; i < n && i < steady; i++ {
		total = add(total, wait(i))
	}
	if n > steady {
		total = add(total, times(wait(steady), n-steady))
	}
	return total
}

// residency is worked out as [Envelope.Residency] says.
func (c *Contract) residency() time.Duration {
	if c.MaxDeliver < 1 || c.stop(TimeOut) > 0 {
		return 0
	}
	last := c.MaxDeliver
	longest := func(n int) time.Duration {
		wait := c.lease(n)
		if !c.waits() && c.Handler.OnFailure != Discard {
			wait = max(wait, c.failed(n, c.Handler.Budget).wait)
		}
		return add(wait, c.Handler.PullGap)
	}
	return add(c.sum(last, longest), max(c.lease(last), c.Handler.Budget))
}

// most is a time that is as good as for ever, and that can be added to itself.
const most = time.Duration(1<<63-1) / 2

// add does not wrap around: a ladder of years times a large max_deliver is "for
// ever", not a negative time.
func add(a, b time.Duration) time.Duration { return min(a, most) + min(b, most-min(a, most)) }

func times(d time.Duration, n int) time.Duration {
	if d > 0 && time.Duration(n) > most/d {
		return most
	}
	return d * time.Duration(n)
}
