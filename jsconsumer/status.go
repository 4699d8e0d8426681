package jsconsumer

import (
	"context"
	"sync/atomic"

	"github.com/natsmig/natsmig/readiness"
)

// Status is what a runner is right now.
type Status struct {
	Stream, Consumer string
	// Workers is how many messages are handled at a time at most.
	Workers int
	// Readiness is what the gate says: ready or not, since when, and why.
	Readiness readiness.Status
	// Working is how many messages are with a handler, Asked how many more were
	// asked for.
	Working, Asked int
	// Stuck is how often a handler was found not to return.
	Stuck uint64
	// Floor is the ack floor when the consumer was last looked at, and whether it is
	// pinned.
	Floor       Floor
	FloorPinned bool
	Counts      Counts
}

// Counts are figures since New. They survive interruptions.
type Counts struct {
	Delivered, Acked, Retried, Discarded, GivenUp, Captured uint64
	// Stale dispositions were not sent, because the consumer had been replaced.
	Stale uint64
	// Pulls are requests for messages, SetUps attempts to bind.
	Pulls, SetUps uint64
}

// figures are counted without a lock.
type figures struct {
	acked, retried, discarded, givenUp, captured, stuck atomic.Uint64
}

func (f *figures) count(d Decision) {
	switch d {
	case Acked:
		f.acked.Add(1)
	case Discarded:
		f.discarded.Add(1)
	case GivenUp:
		f.givenUp.Add(1)
	default:
		f.retried.Add(1)
	}
}

// Status tells what the runner is.
func (r *Runner) Status() Status {
	c := r.e.Counts()
	s := Status{
		Stream: r.c.Stream, Consumer: r.name(), Workers: r.c.Workers,
		Readiness: r.gate.Status(),
		Stuck:     r.figures.stuck.Load(),
		Counts: Counts{
			Delivered: c.Delivered, Acked: r.figures.acked.Load(), Retried: r.figures.retried.Load(),
			Discarded: r.figures.discarded.Load(), GivenUp: r.figures.givenUp.Load(), Captured: r.figures.captured.Load(),
			Stale: c.Stale, Pulls: c.Pulls, SetUps: c.SetUps,
		},
	}
	s.Working, s.Asked = r.e.InFlight()
	s.Floor, s.FloorPinned = r.floor.state()
	return s
}

// Health is the runner's gate, for a readiness.Group.
func (r *Runner) Health() *readiness.Gate { return r.gate }

// Drain ends Run in good order, and waits for its end. When ctx is done before,
// handlers' contexts end, and what they then do not settle is left behind; the
// report tells how much. Before Run there is nothing to drain.
func (r *Runner) Drain(ctx context.Context) (DrainReport, error) {
	if !r.started.Load() {
		return DrainReport{About: r.about()}, nil
	}
	r.stop(ctx)
	<-r.ended
	r.mu.Lock()
	report := r.report
	r.mu.Unlock()
	if !report.Clean() {
		return report, &DrainError{report}
	}
	return report, nil
}
