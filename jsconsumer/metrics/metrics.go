// Package metrics shows runners to Prometheus: what their hooks are told as
// counters and a histogram, and what their Status says as gauges.
//
//	m, err := metrics.New(prometheus.DefaultRegisterer)
//	…
//	r, err := jsconsumer.New(js, jsconsumer.Config{Hooks: m.Hooks()}, handler)
//	…
//	m.Watch(r)
//
// One [Metrics] serves all runners of a process. Every series has the labels stream
// and consumer; no label comes from a message.
//
// Alert on natsmig_consumer_ready == 0, on natsmig_consumer_floor_pinned == 1, and on
// increases of natsmig_consumer_capture_failures_total and of the events stuck,
// denied, rejected and rolled_back. A volume of pending messages says none of it.
package metrics

import (
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/natsmig/natsmig/jsconsumer"
)

const prefix = "natsmig_consumer_"

// Metrics are the metrics of a process's runners.
type Metrics struct {
	messages        *prometheus.CounterVec
	duration        *prometheus.HistogramVec
	captured        *prometheus.CounterVec
	captureFailures *prometheus.CounterVec
	events          *prometheus.CounterVec
	figures         []figure

	mu      sync.Mutex
	watched map[durable]*jsconsumer.Runner
}

type durable struct{ stream, consumer string }

// New makes the metrics and registers them with reg. The error is reg's, such as
// that they were registered before.
func New(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		messages:        counter("messages_total", "Attempts that ended, by what the handler decided.", "decision"),
		captured:        counter("captured_total", "Messages that were published to the capture subject, and acknowledged there.", "reason"),
		captureFailures: counter("capture_failures_total", "Tries to capture a message that failed."),
		events:          counter("events_total", "What happened to the consumer, by hook.", "event"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: prefix + "process_duration_seconds",
			Help: "How long the handler worked on an attempt.",
			// Those that OpenTelemetry advises, and longer ones: a handler may take
			// as long as ack_wait and heartbeats let it.
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}, labels("decision")),
		figures: figures(),
		watched: map[durable]*jsconsumer.Runner{},
	}
	if err := reg.Register(m); err != nil {
		return nil, fmt.Errorf("register the metrics of consumers: %w", err)
	}
	return m, nil
}

func counter(name, help string, more ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels(more...))
}

func labels(more ...string) []string { return append([]string{"stream", "consumer"}, more...) }

// Watch shows what r.Status says, from now on. A runner of the same durable that was
// watched before, such as one that has ended, is not shown any more; its counts
// start again then, as after a restart of the process.
func (m *Metrics) Watch(r *jsconsumer.Runner) {
	s := r.Status()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched[durable{s.Stream, s.Consumer}] = r
}

// Describe is that of a prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.collectors() {
		c.Describe(ch)
	}
	for _, f := range m.figures {
		ch <- f.desc
	}
}

// Collect is that of a prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.collectors() {
		c.Collect(ch)
	}
	for _, s := range m.statuses() {
		for _, f := range m.figures {
			ch <- prometheus.MustNewConstMetric(f.desc, f.kind, f.value(s), s.Stream, s.Consumer)
		}
	}
}

func (m *Metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.messages, m.duration, m.captured, m.captureFailures, m.events}
}

func (m *Metrics) statuses() []jsconsumer.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []jsconsumer.Status
	for _, r := range m.watched {
		all = append(all, r.Status())
	}
	return all
}
