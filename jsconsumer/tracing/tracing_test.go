package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/jsconsumer/tracing"
	"github.com/natsmig/natsmig/natstest"
)

// world is a broker with stream S, a recorder of spans, and a reader of metrics.
type world struct {
	*natstest.Server
	t        *testing.T
	spans    *tracetest.InMemoryExporter
	tp       *sdktrace.TracerProvider
	reader   *sdkmetric.ManualReader
	panicked chan string // stacks
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{Server: natstest.Start(t), t: t, spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader(), panicked: make(chan string, 1)}
	w.tp = sdktrace.NewTracerProvider(sdktrace.WithSyncer(w.spans))
	if _, err := w.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) publish(subject, data string, h nats.Header) {
	w.t.Helper()
	if _, err := w.JS.PublishMsg(w.t.Context(), &nats.Msg{Subject: subject, Data: []byte(data), Header: h}); err != nil {
		w.t.Fatal(err)
	}
}

// run consumes until there are n spans, and returns them.
func (w *world) run(n int, h jsconsumer.Handler) tracetest.SpanStubs {
	w.t.Helper()
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.reader))
	hooks, err := tracing.Hooks(mp)
	if err != nil {
		w.t.Fatal(err)
	}
	hooks.Panicked = func(p jsconsumer.Panicked) { w.panicked <- string(p.Stack) }
	r, err := jsconsumer.New(w.JS, jsconsumer.Config{
		Stream: "S", Expires: time.Second, Hooks: hooks,
		Consumer: jetstream.ConsumerConfig{Durable: "d", AckWait: time.Second, MaxDeliver: 2},
	}, tracing.Handler(w.tp, propagation.TraceContext{}, h))
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	natstest.Eventually(w.t, 20*time.Second, func() error {
		if got := len(w.spans.GetSpans()); got < n {
			return fmt.Errorf("%d spans of %d", got, n)
		}
		return nil
	})
	cancel()
	if err := <-ended; err != nil {
		w.t.Fatal(err)
	}
	return w.spans.GetSpans()
}

func attributes(kvs []attribute.KeyValue) map[string]any {
	m := map[string]any{}
	for _, kv := range kvs {
		m[string(kv.Key)] = kv.Value.AsInterface()
	}
	return m
}

func TestTheProducerIsTheParent(t *testing.T) {
	t.Parallel()
	w := begin(t)
	ctx, producer := w.tp.Tracer("producer").Start(t.Context(), "publish")
	lower, http := nats.Header{}, nats.Header{}
	propagation.TraceContext{}.Inject(ctx, tracing.Carrier(lower))
	http.Set("Traceparent", lower.Get("traceparent")) // as propagation.HeaderCarrier writes it
	w.publish("s.1", "four", lower)
	w.publish("s.2", "", http)
	w.publish("s.3", "", nil)
	seen := map[string]trace.SpanContext{}
	spans := w.run(3, func(ctx context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		if _, ok := ctx.Deadline(); !ok || ctx.Done() == nil {
			t.Error("the handler's context is not its lease")
		}
		seen[d.Subject()] = trace.SpanContextFromContext(ctx)
		return jsconsumer.Ack()
	})
	creation := producer.SpanContext()
	for i, parented := range []bool{true, true, false} {
		s := spans[i]
		if got := seen[fmt.Sprintf("s.%d", i+1)]; !got.Equal(s.SpanContext) {
			t.Errorf("span %d is not in the handler's context: %v", i, got)
		}
		if !parented {
			if s.Parent.IsValid() || len(s.Links) != 0 {
				t.Errorf("span %d: parent %v, links %v", i, s.Parent, s.Links)
			}
			continue
		}
		if s.Parent.SpanID() != creation.SpanID() || s.SpanContext.TraceID() != creation.TraceID() {
			t.Errorf("span %d: parent %v, want %v", i, s.Parent, creation)
		}
		if len(s.Links) != 1 || s.Links[0].SpanContext.SpanID() != creation.SpanID() {
			t.Errorf("span %d: links %v", i, s.Links)
		}
	}
	s := spans[0]
	if s.Name != "process S" || s.SpanKind != trace.SpanKindConsumer || s.Status.Code != codes.Unset || s.EndTime.IsZero() {
		t.Errorf("%+v", s)
	}
	want := map[string]any{
		"messaging.system": "nats", "messaging.operation.name": "process", "messaging.operation.type": "process",
		"messaging.destination.name": "s.1", "messaging.consumer.group.name": "d", "messaging.message.id": "1",
		"messaging.message.body.size": int64(4), "nats.stream": "S", "nats.attempt": int64(1), "nats.decision": "ack",
	}
	if d := cmp.Diff(want, attributes(s.Attributes)); d != "" {
		t.Errorf("attributes (-want +got):\n%s", d)
	}
}

// fate is what a span says of how an attempt ended.
type fate struct {
	Attempt               int64
	Decision, Type, Error string
	Code                  codes.Code
	Recorded              int // errors
}

func TestStatusByDisposition(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for _, what := range []string{"ack", "hold", "later", "discard", "bare", "panic"} {
		w.publish("s.x", what, nil)
	}
	held := false
	spans := w.run(10, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		switch what := string(d.Data()); {
		case what == "hold" && !held:
			held = true
			return jsconsumer.Hold(time.Millisecond, errors.New("closed"))
		case what == "discard":
			return jsconsumer.Discard(errors.New("nonsense"))
		case d.Attempt() > 1:
			return jsconsumer.Ack()
		case what == "later":
			return jsconsumer.RetryAfter(time.Millisecond, errors.New("no luck"))
		case what == "bare":
			return jsconsumer.Disposition{}
		case what == "panic":
			panicHere()
		}
		return jsconsumer.Ack()
	})
	got := map[string][]fate{}
	for _, s := range spans {
		a := attributes(s.Attributes)
		f := fate{Attempt: a["nats.attempt"].(int64), Code: s.Status.Code, Error: s.Status.Description, Recorded: len(s.Events)}
		f.Decision, _ = a["nats.decision"].(string)
		f.Type, _ = a["error.type"].(string)
		id := a["messaging.message.id"].(string)
		got[id] = append(got[id], f)
	}
	acked := fate{Attempt: 1, Decision: "ack"}
	again := fate{Attempt: 2, Decision: "ack"}
	want := map[string][]fate{
		"1": {acked},
		"2": {{Attempt: 1, Decision: "hold"}, acked},
		"3": {{1, "retry_after", "retry_after", "no luck", codes.Error, 1}, again},
		"4": {{1, "discard", "discard", "nonsense", codes.Error, 1}},
		"5": {{1, "retry", "retry", "retry", codes.Error, 0}, again},
		"6": {{1, "", "panic", "the handler panicked", codes.Error, 0}, again},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if stack := <-w.panicked; !strings.Contains(stack, "panicHere") {
		t.Errorf("the runner does not see where the panic began:\n%s", stack)
	}
	// A hold is no end of an attempt.
	w.checkMetrics(map[string]int64{"": 5, "retry_after": 1, "discard": 1, "retry": 2})
}

func panicHere() { panic("oh") }

// checkMetrics compares both instruments, by error.type.
func (w *world) checkMetrics(want map[string]int64) {
	w.t.Helper()
	var all metricdata.ResourceMetrics
	if err := w.reader.Collect(w.t.Context(), &all); err != nil {
		w.t.Fatal(err)
	}
	consumed, timed := map[string]int64{}, map[string]int64{}
	for _, m := range all.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				consumed[w.errorType(m.Name, "messaging.client.consumed.messages {message}", m.Unit, p.Attributes)] = p.Value
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				timed[w.errorType(m.Name, "messaging.process.duration s", m.Unit, p.Attributes)] = int64(p.Count) //nolint:gosec // a handful
			}
		default:
			w.t.Errorf("%s is a %T", m.Name, m.Data)
		}
	}
	if d := cmp.Diff(want, consumed); d != "" {
		w.t.Errorf("consumed (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, timed); d != "" {
		w.t.Errorf("timed (-want +got):\n%s", d)
	}
}

func (w *world) errorType(name, wantName, unit string, set attribute.Set) string {
	w.t.Helper()
	if name+" "+unit != wantName {
		w.t.Errorf("instrument %s %s, want %s", name, unit, wantName)
	}
	got := attributes(set.ToSlice())
	kind, _ := got["error.type"].(string)
	delete(got, "error.type")
	want := map[string]any{
		"messaging.system": "nats", "messaging.operation.name": "process", "messaging.consumer.group.name": "d", "nats.stream": "S",
	}
	if d := cmp.Diff(want, got); d != "" {
		w.t.Errorf("attributes of %s (-want +got):\n%s", name, d)
	}
	return kind
}
