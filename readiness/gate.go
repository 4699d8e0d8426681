package readiness

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A Kind says how loud a report is.
type Kind string

// The kinds of reports.
const (
	Quiet     Kind = "quiet"     // worth a debug line
	Loud      Kind = "loud"      // the first of a failure that a person should see
	Escalated Kind = "escalated" // it has lasted for GateConfig.Escalate
	Recovered Kind = "recovered" // after a loud one
	Recreate  Kind = "recreated" // the consumer is another one, and has lost its position
)

// A Report is what a gate has to say.
type Report struct {
	Name     string
	Kind     Kind
	Class    Class
	Err      error
	Since    time.Time // when the failure began
	Attempts int       // that failed since then
}

// A State is where a gate is.
type State string

// The states. Ready are Bound and, for GateConfig.Grace, Disturbed.
const (
	Starting  State = "starting"
	BoundNow  State = "bound"
	Shaken    State = "disturbed"
	Failing   State = "failing"
	Drained   State = "draining"
	StoppedAt State = "stopped"
)

// GateConfig says how a gate judges.
type GateConfig struct {
	Name   string
	Budget Budget
	// Grace is how long an interruption that is expected to pass leaves the gate
	// ready. Zero: 10 s.
	Grace time.Duration
	// Escalate is when a failure is told again. Zero: 5 minutes.
	Escalate time.Duration
	// Report is told what is worth telling, one thing after the other. It may ask for
	// the gate's Status, and change nothing of it. Nil: nobody is told.
	Report func(Report)
}

// A Gate is the readiness of one consumer. It starts not ready.
type Gate struct {
	c GateConfig

	// telling is held while something is entered and told of, so that reports come
	// in the order of what they are about.
	telling sync.Mutex

	mu        sync.Mutex
	state     State
	since     time.Time
	started   bool // bound once
	paused    bool
	denied    error
	err       error
	class     Class
	failing   time.Time // zero: it is not
	attempts  int       // of this failure
	failures  int       // of all
	recreated int
	loud      bool
	escalated bool
	created   time.Time
}

// NewGate makes a gate.
func NewGate(c GateConfig) *Gate {
	if c.Grace == 0 {
		c.Grace = 10 * time.Second
	}
	if c.Escalate == 0 {
		c.Escalate = 5 * time.Minute
	}
	if c.Report == nil {
		c.Report = func(Report) {}
	}
	return &Gate{c: c, state: Starting, since: time.Now()}
}

// enter changes the gate and tells what the change amounts to. An empty kind is
// not told.
func (g *Gate) enter(change func(now time.Time) Kind) {
	g.telling.Lock()
	defer g.telling.Unlock()
	g.mu.Lock()
	kind := change(time.Now())
	report := Report{Name: g.c.Name, Kind: kind, Class: g.class, Err: g.err, Since: g.failing, Attempts: g.attempts}
	if kind == Recovered {
		g.well()
	}
	g.mu.Unlock()
	if kind != "" {
		g.c.Report(report)
	}
}

// Bound says that the consumer was accepted and is bound. It spends the budget and
// ends a failure; a loud one is said to be over.
func (g *Gate) Bound(created time.Time) {
	g.enter(func(now time.Time) Kind {
		g.c.Budget.Spend()
		g.started, g.created = true, created
		return g.recover(now)
	})
}

// Alive says that the consumer is bound, was looked at, and is as it should be.
func (g *Gate) Alive() {
	g.enter(func(now time.Time) Kind {
		if g.state != Shaken && g.state != Failing {
			return ""
		}
		return g.recover(now)
	})
}

// Reconnected says that the connection is another one, with which a permission
// that was missing may be there.
func (g *Gate) Reconnected() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.denied = nil
}

// recover ends a failure, unless a permission is missing.
func (g *Gate) recover(now time.Time) Kind {
	if g.denied != nil {
		return ""
	}
	g.to(BoundNow, now)
	if g.loud {
		return Recovered
	}
	g.well()
	return ""
}

// well forgets a failure.
func (g *Gate) well() {
	g.err, g.class, g.failing, g.attempts = nil, None, time.Time{}, 0
	g.loud, g.escalated = false, false
}

// Failed says that an attempt to set up has failed, and that the consumer is not
// bound. It returns the wait before the next attempt. What passes by itself is
// left the grace if the consumer was bound before.
func (g *Gate) Failed(err error) (wait time.Duration) {
	g.enter(func(now time.Time) Kind {
		spent := g.c.Budget.Spent()
		wait = g.c.Budget.Next()
		g.attempts++
		g.failures++
		if c := Classify(err); (c == Transient || c == NoQuorum) && (g.state == BoundNow || g.state == Shaken) {
			return g.disturb(err, now)
		}
		return g.fail(err, spent, now)
	})
	return wait
}

// Lost says that the consumer that was bound is gone. That is loud.
func (g *Gate) Lost(err error) {
	g.enter(func(now time.Time) Kind {
		g.failures++
		return g.fail(err, true, now)
	})
}

// Denied says that a permission is missing without which messages are delivered
// for nothing, such as publishing to $JS.ACK. The gate is not ready until it is
// bound on another connection.
func (g *Gate) Denied(err error) {
	g.enter(func(now time.Time) Kind {
		g.denied = err
		g.failures++
		return g.fail(err, true, now)
	})
}

// Disturbed says that delivery was interrupted, or still is, in a way that should
// pass. The gate stays ready for the grace, unless it was not; afterwards it is a
// failure that began with the interruption, and is loud.
func (g *Gate) Disturbed(err error) {
	g.enter(func(now time.Time) Kind { return g.disturb(err, now) })
}

func (g *Gate) disturb(err error, now time.Time) Kind {
	switch {
	case g.state == BoundNow:
		g.to(Shaken, now)
	case g.state == Shaken && now.Sub(g.since) >= g.c.Grace:
		g.failing = g.since
		return g.fail(err, true, now)
	case g.state != Shaken:
		return g.fail(err, !g.failing.IsZero() && now.Sub(g.failing) >= g.c.Grace, now)
	}
	g.blame(err)
	return Quiet
}

// fail enters a failure, or that it lasts.
func (g *Gate) fail(err error, loud bool, now time.Time) Kind {
	g.blame(err)
	if g.failing.IsZero() {
		g.failing = now
	}
	g.to(Failing, now)
	switch {
	case g.loud && !g.escalated && now.Sub(g.failing) >= g.c.Escalate:
		g.escalated = true
		return Escalated
	case loud && !g.loud:
		g.loud = true
		return Loud
	}
	return Quiet
}

// blame enters a cause. A permission that is missing is one for all that follows
// from it, such as requests without an answer.
func (g *Gate) blame(err error) {
	g.err, g.class = err, Classify(err)
	if g.denied != nil {
		g.err, g.class = g.denied, Denied
	}
}

// Recreated says that the consumer is not the one that was bound before.
func (g *Gate) Recreated(created time.Time) {
	g.enter(func(time.Time) Kind {
		g.recreated++
		g.created = created
		return Recreate
	})
}

// Paused says whether the consumer is paused: ready, though nothing comes.
func (g *Gate) Paused(paused bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.paused = paused
}

// Draining says that the runner takes no more messages.
func (g *Gate) Draining() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.to(Drained, time.Now())
}

// Stopped says that the runner has ended, with an error or without. It is silent
// if the runner's own context is done and the error is a cancellation; the same
// error with a live context is told.
func (g *Gate) Stopped(runner context.Context, err error) {
	g.enter(func(now time.Time) Kind {
		g.to(StoppedAt, now)
		g.denied = nil
		g.blame(err)
		if err == nil || runner.Err() != nil && errors.Is(err, context.Canceled) {
			return ""
		}
		return Loud
	})
}

func (g *Gate) to(s State, now time.Time) {
	if g.state == StoppedAt || g.state == Drained && s != StoppedAt {
		return // there is no way back
	}
	if g.state != s {
		g.state, g.since = s, now
	}
}
