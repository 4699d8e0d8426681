// Package timingcontract works out when a failing message is really retried and
// when it is given up, and whether that fits its surroundings.
//
// A [Contract] is what the broker holds about one consumer together with what
// its handler does on failure. Its [Envelope] says when each delivery happens
// at the earliest, which delivery is the handler's last chance, and when the
// broker gives the message up. A [Breach] is a promise of the contract that can
// not hold, in itself or in its [Surroundings]: the stream, which belongs to
// somebody else. A service's own test is one line:
//
//	if err := contract.Err(surroundings); err != nil { t.Fatal(err) }
//
// The package is arithmetic: it opens no connection, reads no clock and knows no
// NATS types. What it does not know is load: a delivery also waits for a free
// worker and, on a pull consumer, for a pull, so every time is a "not before".
// The broker's own slack, 1 ms for a time-out and 10 ms for a delayed nak
// (consumer.go:3464 and 3407, nats-server 2.15.3), is left out. Package
// timingcontract/prove measures what is worked out here.
package timingcontract

import "time"

// A Contract is the timing of one consumer.
type Contract struct {
	// Ladder is the consumer's backoff. Empty: every retry waits AckWait.
	Ladder []time.Duration
	// AckWait is the consumer's ack_wait. With a ladder the broker stores its
	// first rung, whatever is asked (consumer.go:687, nats-server 2.15.3), and so
	// does the contract. Zero without a ladder: 30 s, as the broker fills in.
	AckWait time.Duration
	// MaxDeliver is the consumer's max_deliver. Below one: unlimited.
	MaxDeliver int
	// MaxAckPending is the consumer's max_ack_pending. Zero: not stated.
	MaxAckPending int
	// InactiveThreshold is the consumer's inactive_threshold. Zero: none.
	InactiveThreshold time.Duration
	// Line is the broker's release line. Zero: the newest that is known.
	Line Line
	// Handler is what the process does. The zero Handler does nothing on failure
	// and keeps no reserve.
	Handler Handler
}

// A Line is a release line of nats-server 2: 15 is 2.15. Zero is the newest that
// is known. Lines differ in what a rung of zero does, and in when an idle
// consumer is deleted.
type Line int

// since says whether the line has what came with a release line.
func (l Line) since(first Line) bool { return l == 0 || l >= first }

// defaultAckWait is what the broker fills in (JsAckWaitDefault).
const defaultAckWait = 30 * time.Second

// Rung is how long the server waits for an acknowledgment of delivery n, as it
// stands in the contract.
func (c Contract) Rung(n int) time.Duration { return c.rung(n) }

func (c *Contract) rung(n int) time.Duration {
	switch {
	case len(c.Ladder) > 0:
		return at(c.Ladder, n)
	case c.AckWait == 0:
		return defaultAckWait
	default:
		return c.AckWait
	}
}

// Scheduler says who decides when a failing message comes again.
type Scheduler string

// Who schedules. With Mixed the delays of the client and the ladder of the
// server are added up; the other words are those of [OnFailure].
const (
	ByLadder   Scheduler = "ladder"
	ByNak      Scheduler = "nak"
	ByNakDelay Scheduler = "nak_delay"
	ByNobody   Scheduler = "discard"
	Mixed      Scheduler = "mixed"
)

// Scheduler says who decides when a failing message comes again.
func (c Contract) Scheduler() Scheduler {
	switch c.Handler.OnFailure {
	case Nak:
		return ByNak
	case Discard:
		return ByNobody
	case NakDelay:
		if c.mixed() {
			return Mixed
		}
		return ByNakDelay
	default:
		return ByLadder
	}
}

// mixed says whether the ladder moves any of the handler's delays. A ladder
// whose rungs are all alike moves none.
func (c *Contract) mixed() bool {
	for n := 1; n <= len(c.Ladder); n++ {
		if (c.MaxDeliver < 1 || n <= c.MaxDeliver) && c.correction(n) != 0 {
			return c.Handler.OnFailure == NakDelay
		}
	}
	return false
}

// correction is what the server adds to a delay asked for after delivery n. A
// nak with delay d moves the pending timestamp to now - ack_wait + d
// (processNak, consumer.go:3401, nats-server 2.15.3), and checkPending expires it
// against the rung of delivery n, so redelivery follows after
// d + rung - ack_wait, and ack_wait is the first rung.
func (c *Contract) correction(n int) time.Duration {
	if len(c.Ladder) == 0 {
		return 0
	}
	return c.rung(n) - c.Ladder[0]
}

func at(list []time.Duration, n int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	return list[min(n, len(list))-1]
}
