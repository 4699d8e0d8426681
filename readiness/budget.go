package readiness

import "time"

// A Budget is the cadence of attempts to set up: fast for a while, then steady
// whatever happens. One success spends it for good, so that losing the consumer a
// minute later does not hammer a server that struggles.
type Budget struct {
	Attempts int           // fast ones; zero: 20
	Every    time.Duration // between fast ones; zero: 250 ms
	Steady   time.Duration // afterwards; zero: 5 s

	used  int
	spent bool
}

// Next is the wait before the next attempt, and uses one up.
func (b *Budget) Next() time.Duration {
	attempts, every, steady := b.Attempts, b.Every, b.Steady
	if attempts == 0 {
		attempts = 20
	}
	if every == 0 {
		every = 250 * time.Millisecond
	}
	if steady == 0 {
		steady = 5 * time.Second
	}
	b.used++
	if b.spent || b.used > attempts {
		b.spent = true
		return steady
	}
	return every
}

// Spend ends the fast attempts for good.
func (b *Budget) Spend() { b.spent = true }

// Spent says that there are no fast attempts any more.
func (b *Budget) Spent() bool { return b.spent }
