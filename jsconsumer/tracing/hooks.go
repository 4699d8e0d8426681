package tracing

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/natsmig/natsmig/jsconsumer"
)

// Hooks measure attempts: messaging.process.duration, and their number as
// messaging.client.consumed.messages. The subject is no attribute of either, since
// it may name a single thing. [jsconsumer.Join] puts them beside others.
func Hooks(mp metric.MeterProvider) (jsconsumer.Hooks, error) {
	meter := mp.Meter(scope)
	duration, err := meter.Float64Histogram("messaging.process.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of processing operation."),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10))
	consumed, err2 := meter.Int64Counter("messaging.client.consumed.messages", metric.WithUnit("{message}"),
		metric.WithDescription("Number of messages that were delivered to the application."))
	if err = errors.Join(err, err2); err != nil {
		return jsconsumer.Hooks{}, fmt.Errorf("make the instruments of consumers: %w", err)
	}
	return jsconsumer.Hooks{Disposed: func(d jsconsumer.Disposed) {
		ctx := context.Background() // a hook has none
		attrs := metric.WithAttributeSet(measured(d))
		duration.Record(ctx, d.Took.Seconds(), attrs)
		consumed.Add(ctx, 1, attrs)
	}}, nil
}

func measured(d jsconsumer.Disposed) attribute.Set {
	attrs := about(d.Stream, d.Consumer)
	if decision := d.Disposition.Decision(); failure(decision) {
		attrs = append(attrs, attribute.String("error.type", string(decision)))
	}
	return attribute.NewSet(attrs...)
}
