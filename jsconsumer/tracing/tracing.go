// Package tracing shows what handlers do to OpenTelemetry: [Handler] makes a span of
// each attempt, [Hooks] measure them. It links the API alone; the program that
// chooses an SDK chooses where all of it goes.
//
//	h = tracing.Handler(otel.GetTracerProvider(), otel.GetTextMapPropagator(), h)
//	hooks, err := tracing.Hooks(otel.GetMeterProvider())
//
// Names follow the semantic conventions for messaging, which are in development. What
// they have no name for starts with nats. A producer puts its context into a message
// by
//
//	propagator.Inject(ctx, tracing.Carrier(msg.Header))
//
// A span ends when the handler has decided, before the broker is told. Payloads and
// headers are not recorded; the subject and the text of a handler's error are.
package tracing

import (
	"context"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/natsmig/natsmig/jsconsumer"
)

const scope = "github.com/natsmig/natsmig/jsconsumer/tracing"

// Handler makes a span of each attempt of h, and gives it to h with the context. The
// parent is the context that p finds in the message's headers, and there is a link
// to it as well; without one, the span begins a trace.
//
// The status is an error for a retry, a discard and a panic, and unset for an ack
// and a hold.
func Handler(tp trace.TracerProvider, p propagation.TextMapPropagator, h jsconsumer.Handler) jsconsumer.Handler {
	tracer := tp.Tracer(scope)
	return func(ctx context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		ctx = p.Extract(ctx, Carrier(d.Header()))
		ctx, span := tracer.Start(ctx, "process "+d.Stream(), options(ctx, d)...)
		// Not by recover: whoever does that should see where the panic began.
		returned := false
		defer func() {
			if !returned {
				failed(span, "panic", "the handler panicked")
			}
			span.End()
		}()
		disposition := h(ctx, d)
		returned = true
		decided(span, disposition)
		return disposition
	}
}

// options are those of a span. Its name has the stream and not the subject, which
// often names a single thing.
func options(ctx context.Context, d jsconsumer.Delivery) []trace.SpanStartOption {
	opts := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(about(d.Stream(), d.Consumer())...),
		trace.WithAttributes(
			attribute.String("messaging.operation.type", "process"),
			attribute.String("messaging.destination.name", d.Subject()),
			attribute.String("messaging.message.id", strconv.FormatUint(d.Sequence(), 10)),
			attribute.Int("messaging.message.body.size", len(d.Data())),
			attribute.Int64("nats.attempt", int64(d.Attempt())), //nolint:gosec // a broker counts deliveries in an int
		),
	}
	if creation := trace.SpanContextFromContext(ctx); creation.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: creation}))
	}
	return opts
}

// about are the attributes that spans and metrics share.
func about(stream, consumer string) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("messaging.system", "nats"),
		attribute.String("messaging.operation.name", "process"),
		attribute.String("messaging.consumer.group.name", consumer),
		attribute.String("nats.stream", stream),
	}
}

// decided tells the span what became of the message.
func decided(span trace.Span, d jsconsumer.Disposition) {
	decision := d.Decision()
	span.SetAttributes(attribute.String("nats.decision", string(decision)))
	if !failure(decision) {
		return
	}
	text := string(decision)
	if err := d.Err(); err != nil {
		span.RecordError(err)
		text = err.Error()
	}
	failed(span, string(decision), text)
}

func failed(span trace.Span, kind, text string) {
	span.SetAttributes(attribute.String("error.type", kind))
	span.SetStatus(codes.Error, text)
}

// failure says whether an attempt did not do what it was to do.
func failure(d jsconsumer.Decision) bool { return d != jsconsumer.Acked && d != jsconsumer.Held }
