package timingcontract

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func ladderTooLong(c *Contract) *Breach {
	if c.MaxDeliver < 1 || len(c.Ladder) <= c.MaxDeliver {
		return nil
	}
	return &Breach{
		Kind: LadderTooLong, Field: "backoff",
		Left: count("rungs", len(c.Ladder), FromConsumer), Relation: ">", Right: count("max_deliver", c.MaxDeliver, FromConsumer),
		Message: "the broker refuses a ladder with more rungs than deliveries (err_code 10116)",
		Source:  "checkConsumerCfg, consumer.go:813, nats-server 2.15.3",
		Fix:     fmt.Sprintf("drop %d rungs, or raise max_deliver to %d", len(c.Ladder)-c.MaxDeliver, len(c.Ladder)+1),
	}
}

func ackWaitOverridden(c *Contract) *Breach {
	if len(c.Ladder) == 0 || c.AckWait == 0 || c.AckWait == c.Ladder[0] {
		return nil
	}
	return &Breach{
		Kind: AckWaitOverridden, Field: "ack_wait",
		Left: term("ack_wait", c.AckWait, FromConsumer), Relation: "!=", Right: term("backoff[0]", c.Ladder[0], FromConsumer),
		Message: fmt.Sprintf("with a ladder the broker stores its first rung as ack_wait: %s, whatever is asked", Duration(c.Ladder[0])),
		Source:  "setConsumerConfigDefaults, consumer.go:687, nats-server 2.15.3",
		Fix:     fmt.Sprintf("start the ladder at %s, or declare ack_wait: %s", Duration(c.AckWait), Duration(c.Ladder[0])),
	}
}

func mixedOwnership(c *Contract) *Breach {
	if !c.mixed() {
		return nil
	}
	delays := c.delays()
	first := delays[0]
	for _, d := range delays {
		if first = d; d.Asked != d.Given {
			break
		}
	}
	return &Breach{
		Kind: MixedOwnership, Field: "backoff", Delivery: first.Delivery, Delays: delays,
		Left:     term("delay", first.Asked, FromHandler),
		Relation: "!=",
		Right:    term("wait", first.Given, FromContract),
		Message:  "the handler asks for delays and the server adds its ladder to them: " + tellDelays(delays),
		Source:   "processNak, consumer.go:3401, and checkPending, consumer.go:6304, nats-server 2.15.3: redelivery after delay + backoff[n-1] - backoff[0]",
		Fix:      "let one own the schedule: drop backoff, or do nothing on failure; a raw -NAK with the delays " + listDelays(delays) + " waits what was meant",
	}
}

func (c *Contract) delays() []Delay {
	var all []Delay
	comp := c.CompensatedDelays()
	for i, d := range comp {
		n := i + 1
		if c.MaxDeliver > 0 && n >= c.MaxDeliver {
			break
		}
		asked := at(c.Handler.Delays, n)
		all = append(all, Delay{n, asked, c.failed(n, 0).wait, d})
	}
	if len(all) == 0 { // a single delivery: nothing follows but the end
		all = []Delay{{1, at(c.Handler.Delays, 1), at(c.Handler.Delays, 1), comp[0]}}
	}
	return all
}

func tellDelays(ds []Delay) string {
	var parts []string
	for _, d := range ds {
		parts = append(parts, fmt.Sprintf("after delivery %d asked %s, waits %s", d.Delivery, Duration(d.Asked), Duration(d.Given)))
	}
	return strings.Join(parts, "; ")
}

func listDelays(ds []Delay) string {
	var parts []string
	for _, d := range ds {
		parts = append(parts, Duration(d.Compensated))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func burningNak(c *Contract) *Breach {
	h := &c.Handler
	plain := h.OnFailure == Nak || h.OnFailure == NakDelay && !slices.ContainsFunc(h.Delays, func(d time.Duration) bool { return d != 0 })
	if !plain || c.MaxDeliver == 1 {
		return nil
	}
	b := &Breach{
		Kind: BurningNak, Field: "handler.on_failure",
		Left: term("wait after a nak", 0, FromHandler), Relation: "<", Right: c.rungTerm(1),
		Message: fmt.Sprintf("a plain nak ignores the ladder and ack_wait: all %d deliveries are spent within milliseconds, so a blip gives the message up; the nak of the last one is given up only when somebody pulls", c.MaxDeliver),
		Source:  "processNak puts the message on the redelivery queue, consumer.go:3420; the count is checked when it is taken from there, getNextMsg, consumer.go:5146, nats-server 2.15.3",
		Fix:     "do nothing on failure and let the server's ladder schedule, or nak with a delay; end the last attempt with a capture and a term",
	}
	if c.MaxDeliver < 1 {
		b.Message = "a plain nak ignores the ladder and ack_wait, and max_deliver is unlimited: a failing message comes again as fast as it is refused, for ever"
	}
	return b
}

func zeroRung(c *Contract) *Breach {
	for n := 1; n <= len(c.Ladder); n++ {
		if c.Ladder[n-1] == 0 && (c.MaxDeliver < 1 || n <= c.MaxDeliver) {
			return &Breach{
				Kind: ZeroRung, Field: "backoff", Delivery: n,
				Left: term(fmt.Sprintf("backoff[%d]", n-1), 0, FromConsumer), Relation: "<=", Right: term("no wait at all", 0, FromContract),
				Message: c.tellZero(n),
				Source:  "checkPending, consumer.go:6313, and resetPtmr, consumer.go:7496, nats-server 2.15.3",
				Fix:     "replace the zero by the wait you want",
			}
		}
	}
	return nil
}

// tellZero says what a zero at rung n does on the contract's line.
func (c *Contract) tellZero(n int) string {
	switch stalled := max(c.stop(TimeOut), c.stop(Instant)); {
	case stalled > 0:
		return fmt.Sprintf("a rung of zero: after delivery %d an unacknowledged message is never delivered again and never given up", stalled)
	case !c.Line.since(14) && (c.Line != 9 || n == 1):
		return fmt.Sprintf("a rung of zero: delivery %d is followed by the next one at once", n)
	default:
		return fmt.Sprintf("a rung of zero: after delivery %d the broker waits ack_wait (%s), and after a delayed nak or a heartbeat it may never deliver again", n, Duration(c.timer(n)))
	}
}

func descendingRung(c *Contract) *Breach {
	for i := 1; i < len(c.Ladder); i++ {
		if c.Ladder[i] < c.Ladder[i-1] && c.Ladder[i] > 0 {
			b := &Breach{
				Kind: DescendingRung, Field: "backoff", Delivery: i + 1, Risk: true,
				Left: c.rungTerm(i + 1), Relation: "<", Right: c.rungTerm(i),
				Message: fmt.Sprintf("the ladder goes down: delivery %d is waited for %s, the one before %s", i+1, Duration(c.Ladder[i]), Duration(c.Ladder[i-1])),
				Source:  "checkPending, consumer.go:6304, nats-server 2.15.3",
				Fix:     "let the rungs grow, or keep them alike",
			}
			if c.Ladder[i] < c.Ladder[0] {
				b.Message += "; a nak with a delay under " + Duration(c.Ladder[0]-c.Ladder[i]) + " comes again at once"
			}
			return b
		}
	}
	return nil
}

// third is a heartbeat that may be lost twice.
func third(d time.Duration) time.Duration { return (d / 3).Truncate(time.Millisecond) }
