package timingcontract

import "time"

// An Envelope is what a contract comes to for a message whose every attempt
// fails at once. Times count from the first delivery.
type Envelope struct {
	// Unbounded: the message is retried for ever, and there are no timings.
	Unbounded bool
	// Stalled: a rung of zero turns the ack timer off after delivery
	// LastAttempt.Delivery, and nothing happens any more (nats-server 2.9 to
	// 2.15, observed).
	Stalled bool
	// LastAttempt is the handler's last chance: where the application gives up.
	LastAttempt Moment
	// Capture is the first delivery of the reserve, nil without one.
	Capture *Moment
	// Exhausted is when the broker gives up and releases the ack floor: the last
	// delivery plus its own wait. Zero for a handler that terminates.
	Exhausted time.Duration
}

// A Moment is one delivery and when it happens.
type Moment struct {
	Delivery int // from 1
	At       time.Duration
}

// Envelope works out the contract.
func (c Contract) Envelope() Envelope {
	if c.Handler.OnFailure == Discard {
		return Envelope{LastAttempt: Moment{Delivery: 1}}
	}
	if n := c.zeroRung(); n > 0 && (c.MaxDeliver < 1 || n <= c.MaxDeliver) {
		return Envelope{Stalled: true, LastAttempt: Moment{n, c.At(n)}}
	}
	if c.MaxDeliver < 1 {
		return Envelope{Unbounded: true}
	}
	last := max(c.MaxDeliver-c.Handler.Reserve, 0)
	e := Envelope{
		LastAttempt: Moment{last, c.At(last)},
		Exhausted:   c.At(c.MaxDeliver) + c.wait(c.MaxDeliver),
	}
	if c.Handler.Reserve > 0 {
		e.Capture = &Moment{last + 1, c.At(last + 1)}
	}
	return e
}

// zeroRung is the first delivery after which the ack timer is off, or 0. It
// matters only to a handler that waits for the server.
func (c Contract) zeroRung() int {
	if c.Handler.OnFailure != "" && c.Handler.OnFailure != Ladder {
		return 0
	}
	for i, d := range c.Ladder {
		if d == 0 {
			return i + 1
		}
	}
	return 0
}

// At says when delivery n happens, counted from the first. Deliveries below one
// happen at once.
func (c Contract) At(n int) time.Duration {
	var at time.Duration
	steady := max(len(c.Ladder), len(c.Handler.Delays), 1) // from here on every wait is the same
	for i := 1; i < n && i < steady; i++ {
		at += c.wait(i)
	}
	if n > steady {
		at += saturate(c.wait(steady), n-steady)
	}
	return at
}

// saturate multiplies without wrapping around: a ladder of years times a large
// max_deliver is "for ever", not a negative time.
func saturate(d time.Duration, n int) time.Duration {
	const most = time.Duration(1<<63 - 1)
	if d > 0 && time.Duration(n) > most/d/2 {
		return most / 2
	}
	return d * time.Duration(n)
}

// wait is the time between delivery n and what follows it.
//
// A nak with delay d moves the pending timestamp to now - ack_wait + d
// (processNak), and checkPending expires it against the rung of delivery n, so
// redelivery follows after d + rung - ack_wait. A plain nak ignores the ladder.
func (c Contract) wait(n int) time.Duration {
	switch c.Handler.OnFailure {
	case Nak:
		return 0
	case NakDelay:
		d := at(c.Handler.Delays, n)
		if len(c.Ladder) > 0 {
			d += c.Rung(n) - c.Ladder[0]
		}
		return max(d, 0)
	default:
		return c.Rung(n)
	}
}

// Rung is how long the server waits for an acknowledgment of delivery n.
func (c Contract) Rung(n int) time.Duration {
	if len(c.Ladder) == 0 {
		return c.AckWait
	}
	return at(c.Ladder, n)
}

func at(list []time.Duration, n int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	return list[min(n, len(list))-1]
}
