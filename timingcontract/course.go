package timingcontract

import "time"

// Listed is how many deliveries a [Course] lists at most.
const Listed = 1000

// A Course is one way through a contract, delivery by delivery.
type Course struct {
	Case Case
	// Deliveries are the offsets from the first, at most [Listed] of them.
	Deliveries []time.Duration
	// More is how many deliveries are not listed.
	More int
	// Ended: the handler terminates the message at [Course.Exhausted], and the
	// broker never gives it up.
	Ended bool
	// Exhausted is when the message leaves the consumer. Zero: it does not, or it
	// can not be told.
	Exhausted time.Duration
	// Unbounded: it goes on for ever, and nothing is listed.
	Unbounded bool
	// Stalled is the delivery after which nothing happens any more, 0 for none.
	Stalled int
	// Lapsed is the delivery whose lease ends while its handler still works, 0 for
	// none. The message is then handled twice at a time, and what the first
	// handler says in the end counts for the second, so only the delivery that
	// comes too soon is told; after the last delivery the message is given up.
	Lapsed int
}

// Course works out every delivery of a case. The case [WholeBudget] of a handler
// that states no budget is that of a budget of zero.
func (c Contract) Course(of Case) Course {
	out := Course{Case: of}
	if of != TimeOut && c.Handler.OnFailure == Discard {
		return c.discarded(of)
	}
	last := c.MaxDeliver
	if n := c.stop(of); n > 0 {
		if last = n; c.step(of, n).stalled {
			out.Stalled = n
		} else {
			out.Lapsed, last = n, n+1
		}
	} else if c.MaxDeliver < 1 {
		return Course{Case: of, Unbounded: true}
	}
	c.fill(&out, last)
	return out
}

// fill lists the deliveries, and tells the end if there is one.
func (c *Contract) fill(out *Course, last int) {
	wait := func(n int) time.Duration { return c.step(out.Case, n).wait }
	at := time.Duration(0)
	for n := 1; n <= min(last, Listed); n++ {
		out.Deliveries = append(out.Deliveries, at)
		at = add(at, wait(n))
	}
	out.More = max(last-Listed, 0)
	if out.Stalled > 0 || out.Lapsed > 0 {
		return
	}
	out.Exhausted = add(c.sum(last, wait), wait(last))
	if c.step(out.Case, last).lapses {
		out.Lapsed = last
	}
}

func (c *Contract) discarded(of Case) Course {
	out := Course{Case: of, Deliveries: []time.Duration{0}, Ended: true}
	if of == WholeBudget {
		if out.Exhausted = c.Handler.Budget; c.lease(1) < c.Handler.Budget {
			return Course{Case: of, Deliveries: []time.Duration{0, c.lease(1)}, Lapsed: 1}
		}
	}
	return out
}

// CompensatedDelays are the delays to ask for, attempt by attempt, so that the
// handler's own delays are what really passes before the next delivery. They can
// be negative: NakWithDelay sends none of those, a raw -NAK {"delay": ns} does.
// Nil for a contract in which nothing has to be made up for.
func (c Contract) CompensatedDelays() []time.Duration {
	if !c.mixed() {
		return nil
	}
	var out []time.Duration
	for n := 1; n < c.steady(); n++ {
		out = append(out, at(c.Handler.Delays, n)-c.correction(n))
	}
	return out
}
