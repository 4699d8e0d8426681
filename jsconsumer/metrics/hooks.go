package metrics

import (
	"strings"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/readiness"
)

// Hooks count what they are told. They can be those of several runners;
// [jsconsumer.Join] puts them beside others.
func (m *Metrics) Hooks() jsconsumer.Hooks {
	return jsconsumer.Hooks{
		Bound:          func(b jsconsumer.Bound) { m.event(b.About, "bound") },
		Report:         m.report,
		Lost:           m.trouble("lost"),
		Disturbed:      m.trouble("disturbed"),
		Recreated:      m.recreated("recreated"),
		RolledBack:     m.recreated("rolled_back"),
		Rejected:       m.trouble("rejected"),
		Denied:         m.trouble("denied"),
		Throttled:      m.trouble("throttled"),
		Breached:       m.trouble("breached"),
		FloorPinned:    m.floor("floor_pinned"),
		FloorReleased:  m.floor("floor_released"),
		Disposed:       m.disposed,
		Panicked:       func(p jsconsumer.Panicked) { m.event(p.About, "panicked") },
		LeaseLost:      m.message("lease_lost"),
		Stuck:          m.message("stuck"),
		Captured:       m.capture,
		CaptureFailing: m.captureFailing,
		Exhausted:      func(e jsconsumer.Exhausted) { m.event(e.About, "exhausted") },
		SweepFailing:   m.trouble("sweep_failing"),
		DrainStarted:   func(a jsconsumer.About) { m.event(a, "drain_started") },
		DrainEnded:     m.drainEnded,
	}
}

func (m *Metrics) event(about jsconsumer.About, event string) {
	m.events.WithLabelValues(about.Stream, about.Consumer, event).Inc()
}

// report counts what is loud. Quiet reports are attempts, which set_ups_total
// counts, and a recreation has a hook of its own.
func (m *Metrics) report(r jsconsumer.Report) {
	event := map[readiness.Kind]string{
		readiness.Loud: "failing", readiness.Escalated: "escalated", readiness.Recovered: "recovered",
	}[r.Kind]
	if event == "" {
		return
	}
	var about jsconsumer.About
	about.Stream, about.Consumer, _ = strings.Cut(r.Name, "/") // a stream's name has no slash
	m.event(about, event)
}

func (m *Metrics) trouble(event string) func(jsconsumer.Trouble) {
	return func(t jsconsumer.Trouble) { m.event(t.About, event) }
}

func (m *Metrics) recreated(event string) func(jsconsumer.Recreated) {
	return func(r jsconsumer.Recreated) { m.event(r.About, event) }
}

func (m *Metrics) floor(event string) func(jsconsumer.Floor) {
	return func(f jsconsumer.Floor) { m.event(f.About, event) }
}

func (m *Metrics) message(event string) func(jsconsumer.Message) {
	return func(msg jsconsumer.Message) { m.event(msg.About, event) }
}

func (m *Metrics) drainEnded(r jsconsumer.DrainReport) {
	m.event(r.About, "drain_ended")
	if !r.Clean() {
		m.event(r.About, "drain_left_behind")
	}
}

func (m *Metrics) disposed(d jsconsumer.Disposed) {
	decision := string(d.Disposition.Decision())
	m.messages.WithLabelValues(d.Stream, d.Consumer, decision).Inc()
	m.duration.WithLabelValues(d.Stream, d.Consumer, decision).Observe(d.Took.Seconds())
}

func (m *Metrics) capture(c jsconsumer.Captured) {
	m.captured.WithLabelValues(c.Stream, c.Consumer, c.Reason).Inc()
}

func (m *Metrics) captureFailing(c jsconsumer.CaptureFailing) {
	m.captureFailures.WithLabelValues(c.Stream, c.Consumer).Inc()
}
