package jsconsumer

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/engine"
	"github.com/natsmig/natsmig/readiness"
)

// Report is what the gate says about readiness; see readiness.Report.
type Report = readiness.Report

func (r *Runner) newGate() *readiness.Gate {
	return readiness.NewGate(readiness.GateConfig{
		Name:   r.c.Stream + "/" + r.name(),
		Report: func(report Report) { call(r.c.Hooks.Report, report) },
	})
}

// retry is asked how long to wait after an attempt to set up that failed.
func (r *Runner) retry(err error) time.Duration { return r.gate.Failed(err) }

// on follows what the engine sees: the gate first, so that a hook finds the state
// that it is told of.
func (r *Runner) on(ev engine.Event) {
	about := About{Stream: r.c.Stream, Consumer: r.name(), Time: ev.Time}
	trouble, recreated := Trouble{about, ev.Err}, Recreated{about, ev.Info, ev.Floor}
	h := &r.c.Hooks
	switch ev.Kind {
	case engine.Bound:
		r.sweeper.look(ev.Info)
		r.adopt(about, ev.Info)
		r.gate.Bound(ev.Info.Created)
		call(h.Bound, Bound{about, ev.Info})
	case engine.Alive:
		r.adopt(about, ev.Info)
		r.gate.Alive()
	case engine.Failed, engine.Gap:
		// Retry tells the gate of a failure, and a consumer that others use has gaps.
	case engine.Away:
		r.gate.Disturbed(ev.Err)
	case engine.Reconnected:
		r.gate.Reconnected() // Bound is told when it is
	case engine.Disturbed:
		r.gate.Disturbed(ev.Err)
		call(h.Disturbed, trouble)
	case engine.Disconnected:
		r.gate.Disturbed(ev.Err)
		call(h.Disturbed, trouble)
	case engine.Throttled:
		r.gate.Disturbed(ev.Err)
		call(h.Throttled, trouble)
	case engine.Lost:
		r.gate.Lost(ev.Err)
		call(h.Lost, trouble)
	case engine.Recreated:
		r.floor.restart()
		r.gate.Recreated(ev.Info.Created)
		call(h.Recreated, recreated)
	case engine.RolledBack:
		r.floor.restart()
		call(h.RolledBack, recreated)
	case engine.Denied:
		r.gate.Denied(ev.Err)
		call(h.Denied, trouble)
	}
}

// adopt takes over what is live: its timing, and where its floor is.
func (r *Runner) adopt(about About, info *jetstream.ConsumerInfo) {
	before := r.timing.Swap(timingOf(&info.Config))
	r.gate.Paused(info.Paused)
	pinned, released := r.floor.look(about, info, r.c.PinAfter)
	if pinned != nil {
		call(r.c.Hooks.FloorPinned, *pinned)
	}
	if released != nil {
		call(r.c.Hooks.FloorReleased, *released)
	}
	if r.adopted.Swap(true) && before.equal(r.timing.Load()) {
		return
	}
	if err := r.c.Contract(info.Config).Err(r.c.Surroundings); err != nil {
		call(r.c.Hooks.Breached, Trouble{about, fmt.Errorf("with the live configuration: %w", err)})
	}
}
