package metrics_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/jsconsumer/metrics"
	"github.com/natsmig/natsmig/natstest"
	"github.com/natsmig/natsmig/readiness"
	"github.com/natsmig/natsmig/timingcontract"
)

func registered(t *testing.T) (*metrics.Metrics, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	m, err := metrics.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	return m, reg
}

func TestRegisteredOnce(t *testing.T) {
	t.Parallel()
	_, reg := registered(t)
	if _, err := metrics.New(reg); !errors.As(err, &prometheus.AlreadyRegisteredError{}) {
		t.Errorf("%v", err)
	}
}

// TestEveryHookCounts finds a hook that was added and is not counted.
func TestEveryHookCounts(t *testing.T) {
	t.Parallel()
	m, _ := registered(t)
	hooks := reflect.ValueOf(m.Hooks())
	for i := range hooks.NumField() {
		if hooks.Field(i).IsNil() {
			t.Errorf("%s is not set", hooks.Type().Field(i).Name)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	m, reg := registered(t)
	h, about := m.Hooks(), jsconsumer.About{Stream: "S", Consumer: "d"}
	trouble := jsconsumer.Trouble{About: about}
	h.Bound(jsconsumer.Bound{About: about})
	for _, k := range []readiness.Kind{readiness.Quiet, readiness.Loud, readiness.Escalated, readiness.Recovered, readiness.Recreate} {
		h.Report(jsconsumer.Report{Name: "S/d", Kind: k})
	}
	for _, tell := range []func(jsconsumer.Trouble){h.Lost, h.Disturbed, h.Rejected, h.Denied, h.Throttled, h.Breached, h.SweepFailing} {
		tell(trouble)
	}
	h.Recreated(jsconsumer.Recreated{About: about})
	h.RolledBack(jsconsumer.Recreated{About: about})
	h.FloorPinned(jsconsumer.Floor{About: about})
	h.FloorReleased(jsconsumer.Floor{About: about})
	h.Panicked(jsconsumer.Panicked{About: about})
	h.LeaseLost(jsconsumer.Message{About: about})
	h.Stuck(jsconsumer.Message{About: about})
	h.Exhausted(jsconsumer.Exhausted{About: about})
	h.DrainStarted(about)
	h.DrainEnded(jsconsumer.DrainReport{About: about})
	h.DrainEnded(jsconsumer.DrainReport{About: about, Held: 1})
	var want strings.Builder
	want.WriteString("# HELP natsmig_consumer_events_total What happened to the consumer, by hook.\n# TYPE natsmig_consumer_events_total counter\n")
	for _, event := range []string{
		"bound 1", "breached 1", "denied 1", "disturbed 1", "drain_ended 2", "drain_left_behind 1", "drain_started 1",
		"escalated 1", "exhausted 1", "failing 1", "floor_pinned 1", "floor_released 1", "lease_lost 1", "lost 1",
		"panicked 1", "recovered 1", "recreated 1", "rejected 1", "rolled_back 1", "stuck 1", "sweep_failing 1", "throttled 1",
	} {
		name, n, _ := strings.Cut(event, " ")
		want.WriteString(`natsmig_consumer_events_total{consumer="d",event="` + name + `",stream="S"} ` + n + "\n")
	}
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want.String()), "natsmig_consumer_events_total"); err != nil {
		t.Error(err)
	}
}

// decide does what the payload says.
func decide(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
	switch string(d.Data()) {
	case "fail":
		return jsconsumer.RetryAfter(time.Millisecond, errors.New("no luck"))
	case "discard":
		return jsconsumer.Discard(errors.New("nonsense"))
	}
	return jsconsumer.Ack()
}

const afterAll = `
# HELP natsmig_consumer_ack_floor Stream sequence of the ack floor when the consumer was last looked at.
# TYPE natsmig_consumer_ack_floor gauge
natsmig_consumer_ack_floor{consumer="d",stream="S"} 4
# HELP natsmig_consumer_ack_pending num_ack_pending when the consumer was last looked at.
# TYPE natsmig_consumer_ack_pending gauge
natsmig_consumer_ack_pending{consumer="d",stream="S"} 0
# HELP natsmig_consumer_capture_failures_total Tries to capture a message that failed.
# TYPE natsmig_consumer_capture_failures_total counter
natsmig_consumer_capture_failures_total{consumer="d",stream="S"} 1
# HELP natsmig_consumer_captured_total Messages that were published to the capture subject, and acknowledged there.
# TYPE natsmig_consumer_captured_total counter
natsmig_consumer_captured_total{consumer="d",reason="exhausted",stream="S"} 1
# HELP natsmig_consumer_delivered_total Messages that arrived, redeliveries included.
# TYPE natsmig_consumer_delivered_total counter
natsmig_consumer_delivered_total{consumer="d",stream="S"} 6
# HELP natsmig_consumer_failing_since_timestamp_seconds When the failure that lasts began, 0 if there is none.
# TYPE natsmig_consumer_failing_since_timestamp_seconds gauge
natsmig_consumer_failing_since_timestamp_seconds{consumer="d",stream="S"} 0
# HELP natsmig_consumer_floor_pinned 1 if few messages hold the ack floor while others are delivered.
# TYPE natsmig_consumer_floor_pinned gauge
natsmig_consumer_floor_pinned{consumer="d",stream="S"} 0
# HELP natsmig_consumer_free Workers that hold no message.
# TYPE natsmig_consumer_free gauge
natsmig_consumer_free{consumer="d",stream="S"} 3
# HELP natsmig_consumer_given_up_total Messages whose last attempt failed.
# TYPE natsmig_consumer_given_up_total counter
natsmig_consumer_given_up_total{consumer="d",stream="S"} 1
# HELP natsmig_consumer_messages_total Attempts that ended, by what the handler decided.
# TYPE natsmig_consumer_messages_total counter
natsmig_consumer_messages_total{consumer="d",decision="ack",stream="S"} 2
natsmig_consumer_messages_total{consumer="d",decision="discard",stream="S"} 1
natsmig_consumer_messages_total{consumer="d",decision="retry_after",stream="S"} 2
# HELP natsmig_consumer_ready 1 if the consumer is bound and can be counted on.
# TYPE natsmig_consumer_ready gauge
natsmig_consumer_ready{consumer="d",stream="S"} 1
# HELP natsmig_consumer_stale_total Decisions that were not sent, because the consumer had been replaced.
# TYPE natsmig_consumer_stale_total counter
natsmig_consumer_stale_total{consumer="d",stream="S"} 0
# HELP natsmig_consumer_workers Messages that are handled at a time at most.
# TYPE natsmig_consumer_workers gauge
natsmig_consumer_workers{consumer="d",stream="S"} 3
# HELP natsmig_consumer_working Messages that are held: with a handler, waiting for their key, or being captured.
# TYPE natsmig_consumer_working gauge
natsmig_consumer_working{consumer="d",stream="S"} 0
`

// TestOnABroker runs until every message has ended, one of them captured when its
// stream came to be, and compares what a scrape sees.
func TestOnABroker(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	stream := func(name, subject string) {
		t.Helper()
		if _, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}}); err != nil {
			t.Error(err)
		}
	}
	stream("S", "s.>")
	for _, what := range []string{"ack", "fail", "discard", "ack"} {
		if _, err := s.JS.Publish(t.Context(), "s.x", []byte(what)); err != nil {
			t.Fatal(err)
		}
	}
	m, reg := registered(t)
	hooks := m.Hooks()
	// The capture stream comes to be after one failure.
	hooks = jsconsumer.Join(hooks, jsconsumer.Hooks{CaptureFailing: func(jsconsumer.CaptureFailing) { stream("DLQ", "dlq") }})
	r, err := jsconsumer.New(s.JS, jsconsumer.Config{
		Stream: "S", Workers: 3, Expires: time.Second, Inspect: 50 * time.Millisecond,
		Consumer: jetstream.ConsumerConfig{Durable: "d", MaxDeliver: 3},
		Handling: timingcontract.Handler{Reserve: 1, Capture: "dlq"},
		Hooks:    hooks,
	}, decide)
	if err != nil {
		t.Fatal(err)
	}
	m.Watch(r)
	if got := value(t, reg, "natsmig_consumer_ready"); got != 0 {
		t.Errorf("ready %v before Run", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	families := metricNames(afterAll)
	natstest.Eventually(t, 20*time.Second, func() error {
		return testutil.GatherAndCompare(reg, strings.NewReader(afterAll), families...)
	})
	if n, err := testutil.GatherAndCount(reg, "natsmig_consumer_process_duration_seconds"); n != 3 || err != nil {
		t.Errorf("%d histograms, one for each decision: %v", n, err)
	}
	problems, err := testutil.GatherAndLint(reg)
	if len(problems) != 0 || err != nil {
		t.Errorf("lint: %v, %v", problems, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := value(t, reg, "natsmig_consumer_ready"); got != 0 {
		t.Errorf("ready %v after Run", got)
	}
}

func metricNames(exposition string) []string {
	var names []string
	for line := range strings.Lines(exposition) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ := strings.Cut(rest, " ")
			names = append(names, name)
		}
	}
	return names
}

// value is that of a gauge with one series.
func value(t *testing.T, reg prometheus.Gatherer, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name && len(f.GetMetric()) == 1 {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no single %s", name)
	return 0
}

// TestWatchTheSuccessor watches two runners of one durable, as a service does that
// starts its consumer again.
func TestWatchTheSuccessor(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	m, reg := registered(t)
	for workers := 1; workers <= 2; workers++ {
		r, err := jsconsumer.New(s.JS, jsconsumer.Config{
			Stream: "S", Consumer: jetstream.ConsumerConfig{Durable: "d"}, Workers: workers,
		}, decide)
		if err != nil {
			t.Fatal(err)
		}
		m.Watch(r)
	}
	if got := value(t, reg, "natsmig_consumer_workers"); got != 2 {
		t.Errorf("%v workers: not those of the successor", got)
	}
}
