package timingcontract

import (
	"fmt"
	"strings"
	"time"
)

// A Breach is a promise of a contract that can not hold: a relation that is so
// and should not be.
type Breach struct {
	Kind Kind
	// Field is the setting at fault, by its wire name, such as backoff, or
	// handler.budget for one of the handler section.
	Field string
	// Delivery is the first one that it is about, 0 for all of them.
	Delivery int
	// Left Relation Right is what is so. The Relation is one of > >= < <= == !=.
	Left     Term
	Relation string
	Right    Term
	// Message says what will happen.
	Message string
	// Source is where the broker makes it happen.
	Source string
	// Fix says what to do.
	Fix string
	// Risk: the promise can hold, but hangs by a thread. [Contract.Err] passes it
	// over.
	Risk bool
	// Delays tell, for [MixedOwnership], what becomes of each delay.
	Delays []Delay
}

// A Term is one side of a relation.
type Term struct {
	Name  string `json:"name"` // wire name, or what it is
	Value string `json:"value"`
	From  Half   `json:"from"` // who says so
}

// A Half is who says a value.
type Half string

// The halves, and what is worked out from both of the first two.
const (
	FromConsumer Half = "consumer" // the consumer's configuration
	FromHandler  Half = "handler"  // the handler section
	FromStream   Half = "stream"   // the stream, see [Surroundings]
	FromContract Half = "contract" // the envelope
)

// A Delay is what becomes of a delay that a handler asks for.
type Delay struct {
	Delivery    int
	Asked       time.Duration
	Given       time.Duration // what the broker makes of it
	Compensated time.Duration // what to ask for instead
}

// A Kind is what a breach is about.
type Kind string

// The kinds.
const (
	LadderTooLong     Kind = "ladder-too-long"
	AckWaitOverridden Kind = "ack-wait-overridden"
	MixedOwnership    Kind = "mixed-ownership"
	BurningNak        Kind = "burning-nak"
	ZeroRung          Kind = "zero-rung"
	DescendingRung    Kind = "descending-rung"
	BudgetOverRung    Kind = "budget-over-rung"
	SlowHeartbeat     Kind = "slow-heartbeat"
	ShortHeartbeat    Kind = "short-heartbeat"
	DeepPrefetch      Kind = "deep-prefetch"
	OutlivesMaxAge    Kind = "outlives-max-age"
	NoCapture         Kind = "reserve-without-capture"
	NoReserve         Kind = "capture-without-reserve"
	ThinReserve       Kind = "thin-reserve"
	PinnedFloor       Kind = "pinned-floor"
	FullAckPending    Kind = "full-ack-pending"
	StrandedMessages  Kind = "stranded-messages"
	DeletedWhenIdle   Kind = "deleted-when-idle"
	ShortDedupWindow  Kind = "short-dedup-window"
	LongDrain         Kind = "long-drain"
	SlowRecovery      Kind = "slow-recovery"
)

// Breaches lists what can not hold, in the order of the kinds. Nothing is
// checked that is not stated.
func (c Contract) Breaches(s Surroundings) []Breach {
	var all []Breach
	for _, b := range [...]*Breach{
		ladderTooLong(&c), ackWaitOverridden(&c), mixedOwnership(&c), burningNak(&c), zeroRung(&c), descendingRung(&c),
		budgetOverRung(&c), slowHeartbeat(&c), shortHeartbeat(&c), deepPrefetch(&c),
		outlivesMaxAge(&c, &s), noCapture(&c), noReserve(&c), thinReserve(&c), pinnedFloor(&c, &s), fullAckPending(&c),
		strandedMessages(&c, &s), deletedWhenIdle(&c), shortDedupWindow(&c, &s), longDrain(&c), slowRecovery(&c),
	} {
		if b != nil {
			all = append(all, *b)
		}
	}
	return all
}

// Err is an error that tells every breach which is no mere risk, or nil. It is
// for the test suite of a service. The error is a [BreachError].
func (c Contract) Err(s Surroundings) error {
	e := &BreachError{}
	for _, b := range c.Breaches(s) {
		if !b.Risk {
			e.Breaches = append(e.Breaches, b)
		}
	}
	if len(e.Breaches) == 0 {
		return nil
	}
	return e
}

// A BreachError says what of a contract can not hold.
type BreachError struct{ Breaches []Breach }

// Error implements error. Each breach has a line of its own.
func (e *BreachError) Error() string {
	lines := make([]string, len(e.Breaches))
	for i := range e.Breaches {
		lines[i] = e.Breaches[i].String()
	}
	return strings.Join(lines, "\n")
}

// String says what is wrong, and what to do, in one line.
func (b *Breach) String() string {
	return fmt.Sprintf("%s: %s (%s; fix: %s)", b.Kind, b.Message, b.Compared(), b.Fix)
}

// Compared writes the relation with its values.
func (b *Breach) Compared() string {
	return fmt.Sprintf("%s %s %s", b.Left, b.Relation, b.Right)
}

// String writes the name and the value.
func (t Term) String() string { return t.Name + " " + t.Value }

// Duration writes d as Go does, without the zero units at its end: 30s, 2m,
// 41h12m30s.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func term(name string, d time.Duration, from Half) Term { return Term{name, Duration(d), from} }

func count(name string, n int, from Half) Term { return Term{name, fmt.Sprint(n), from} }

// rungTerm is how long the server waits for an acknowledgment of delivery n.
func (c *Contract) rungTerm(n int) Term {
	if len(c.Ladder) == 0 {
		return term("ack_wait", c.timer(n), FromConsumer)
	}
	return term(fmt.Sprintf("backoff[%d]", min(n, len(c.Ladder))-1), c.timer(n), FromConsumer)
}

// attempts is how many deliveries there are to look at: those that the handler
// sees, as far as they differ from each other.
func (c *Contract) attempts() int {
	if c.MaxDeliver < 1 {
		return c.steady()
	}
	return min(c.lastAttempt(), c.steady())
}
