package audit

import (
	"fmt"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/timingcontract"
)

var suspiciousUnit = &Rule{
	Code: "NM102", Severity: Warning,
	Title: "a duration reads as if it were in the wrong unit",
	Doc: `Durations on the wire are nanoseconds. A value below 100 ms is nearly always a
number that was meant in another unit: 20000000 is 20 ms, not 20 s. Messages are
then redelivered while they are being handled. Write durations with their unit
("20s"), or multiply.`,
	Consumer: func(p *ConsumerPass) {
		c := p.Stored()
		if p.Result.Outcome == broker.Reject {
			c = p.Result.Asked
		}
		if c == nil {
			return
		}
		ladder := len(c.Backoff) > 0
		if !ladder && c.AckPolicy != broker.AckNone {
			p.checkUnit("ack_wait", c.AckWait)
		}
		for _, d := range c.Backoff {
			if p.checkUnit("backoff", d) {
				break
			}
		}
		p.checkUnit("inactive_threshold", c.InactiveThreshold)
	},
	Stream: func(p *StreamPass) {
		if c := p.Result.Stored; c != nil && c.MaxAge > 0 && odd(c.MaxAge) {
			p.Report(Finding{Field: "max_age", Have: c.MaxAge, Message: oddText("max_age", c.MaxAge), Fix: oddFix})
		}
	},
}

const oddFix = `write the duration with its unit, for example "30s"`

func odd(d time.Duration) bool {
	return d > 0 && (d < 100*time.Millisecond || d%time.Millisecond != 0)
}

func oddText(field string, d time.Duration) string {
	return fmt.Sprintf("%s is %v: %d reads like %s", field, d, d.Nanoseconds(), meant(d))
}

// meant guesses the unit: the largest that makes a plausible wait of at least a
// second.
func meant(d time.Duration) string {
	for _, u := range []struct {
		nanoseconds int64 // of which the number may have been meant to count
		name        string
	}{{1e3, "microseconds"}, {1e6, "milliseconds"}, {1e9, "seconds"}} {
		got := time.Duration(d.Nanoseconds() * u.nanoseconds)
		if got.Nanoseconds()/u.nanoseconds == d.Nanoseconds() && got >= time.Second {
			return fmt.Sprintf("%s in %s", Duration(got), u.name)
		}
	}
	return "a number in another unit"
}

func (p *ConsumerPass) checkUnit(field string, d time.Duration) bool {
	if !odd(d) {
		return false
	}
	p.Report(Finding{Field: field, Have: d, Message: oddText(field, d), Fix: oddFix})
	return true
}

var rungBeyondLast = &Rule{
	Code: "NM104", Severity: Info,
	Title: "the last rung is no retry delay",
	Doc: `With as many rungs as deliveries the last rung comes after the last delivery: it
only says how long the broker waits before it gives the message up. The error text
of the broker asks for max_deliver greater than the ladder's length, and 2.9
insists; later lines accept equality.`,
	Consumer: func(p *ConsumerPass) {
		c := p.Stored()
		if c == nil || p.Declaration == nil || p.Result.Outcome == broker.Reject || len(c.Backoff) < 2 || len(c.Backoff) != c.MaxDeliver {
			return
		}
		p.Report(Finding{
			Field:   "backoff",
			Message: fmt.Sprintf("the last rung (%s) is never a redelivery delay: max_deliver is %d, so it is the wait before giving up", Duration(c.Backoff[len(c.Backoff)-1]), c.MaxDeliver),
			Fix:     "raise max_deliver by one if the rung was meant as a retry",
		})
	},
}

// ifNew is the severity of a danger that the declaration brings. One that is
// live already and stays as it is counts as a warning: the deploy does not make
// it.
func (p *ConsumerPass) ifNew(s Severity) Severity {
	if p.Result.Outcome == broker.Noop || p.Result.Outcome == broker.Untouched {
		return Warning
	}
	return s
}

// tellEnvelope says what an envelope comes to, in one clause.
func tellEnvelope(e *timingcontract.Envelope) string {
	switch {
	case e == nil:
		return "no retries"
	case e.Unbounded:
		return "a failing message is retried for ever"
	case e.Stalled:
		return fmt.Sprintf("a failing message is stuck after delivery %d", e.LastAttempt.Delivery)
	}
	return fmt.Sprintf("the last attempt is delivery %d at %s", e.LastAttempt.Delivery, Duration(e.LastAttempt.At))
}
