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
	// Report is told what is worth telling. Nil: nobody is.
	Report func(Report)
}

// A Gate is the readiness of one consumer. It starts not ready.
type Gate struct {
	c GateConfig

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

// Bound says that the consumer was accepted and is bound. It spends the budget and
// ends a failure; a loud one is said to be over.
func (g *Gate) Bound(created time.Time) {
	g.mu.Lock()
	g.c.Budget.Spend()
	g.started, g.created, g.denied = true, created, nil
	report, tell := g.recover()
	g.to(BoundNow)
	g.mu.Unlock()
	if tell {
		g.c.Report(report)
	}
}

// recover ends a failure.
func (g *Gate) recover() (Report, bool) {
	r, tell := g.report(Recovered), g.loud
	g.err, g.class, g.failing, g.attempts = nil, None, time.Time{}, 0
	g.loud, g.escalated = false, false
	return r, tell
}

// Failed says that an attempt to set up has failed, and that the consumer is not
// bound. It returns the wait before the next attempt.
func (g *Gate) Failed(err error) time.Duration {
	g.mu.Lock()
	before := g.c.Budget.Spent()
	wait := g.c.Budget.Next()
	report := g.fail(err, before)
	g.mu.Unlock()
	g.c.Report(report)
	return wait
}

// Lost says that the consumer that was bound is gone. That is loud.
func (g *Gate) Lost(err error) {
	g.mu.Lock()
	report := g.fail(err, true)
	g.mu.Unlock()
	g.c.Report(report)
}

func (g *Gate) fail(err error, loud bool) Report {
	now := time.Now()
	g.err, g.class = err, Classify(err)
	g.attempts++
	g.failures++
	if g.failing.IsZero() {
		g.failing = now
	}
	g.to(Failing)
	switch {
	case g.loud && !g.escalated && now.Sub(g.failing) >= g.c.Escalate:
		g.escalated = true
		return g.report(Escalated)
	case loud && !g.loud:
		g.loud = true
		return g.report(Loud)
	}
	return g.report(Quiet)
}

// Disturbed says that delivery was interrupted in a way that should pass. The gate
// stays ready for the grace, unless it was not.
func (g *Gate) Disturbed(err error) {
	g.mu.Lock()
	g.err, g.class = err, Classify(err)
	if g.state == BoundNow {
		g.to(Shaken)
	}
	report := g.report(Quiet)
	g.mu.Unlock()
	g.c.Report(report)
}

// Alive says that the consumer was looked at, and is as it should be.
func (g *Gate) Alive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == Shaken {
		g.err, g.class = nil, None
		g.to(BoundNow)
	}
}

// Denied says that a permission is missing without which messages are delivered
// for nothing, such as publishing to $JS.ACK. The gate is not ready until it is
// bound anew, which is after a reconnect.
func (g *Gate) Denied(err error) {
	g.mu.Lock()
	g.denied = err
	report := g.fail(err, true)
	g.class = Denied
	report.Class = Denied
	g.mu.Unlock()
	g.c.Report(report)
}

// Recreated says that the consumer is not the one that was bound before.
func (g *Gate) Recreated(created time.Time) {
	g.mu.Lock()
	g.recreated++
	g.created = created
	report := g.report(Recreate)
	g.mu.Unlock()
	g.c.Report(report)
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
	g.to(Drained)
}

// Stopped says that the runner has ended, with an error or without. It is silent
// if the runner's own context is done and the error is a cancellation; the same
// error with a live context is told.
func (g *Gate) Stopped(runner context.Context, err error) {
	g.mu.Lock()
	g.to(StoppedAt)
	g.err, g.class = err, Classify(err)
	silent := err == nil || runner.Err() != nil && errors.Is(err, context.Canceled)
	report := g.report(Loud)
	g.mu.Unlock()
	if !silent {
		g.c.Report(report)
	}
}

func (g *Gate) to(s State) {
	if g.state == StoppedAt || g.state == Drained && s != StoppedAt {
		return // there is no way back
	}
	if g.state != s {
		g.state, g.since = s, time.Now()
	}
}

func (g *Gate) report(k Kind) Report {
	return Report{Name: g.c.Name, Kind: k, Class: g.class, Err: g.err, Since: g.failing, Attempts: g.attempts}
}
