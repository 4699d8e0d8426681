package jsconsumer_test

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/timingcontract"
)

// The runners of this file do what the loops of legacy_loops_test.go do.
// docs/guide-from-legacy.md quotes them.

// ladder is that of the loops and the runners. It grows, so that no rung is taken
// for another one or for ack_wait.
func ladder() []time.Duration {
	return []time.Duration{500 * time.Millisecond, 1600 * time.Millisecond, 3400 * time.Millisecond}
}

const nakDelay = time.Second

// An errorHandler works on one message. An error is a retry.
type errorHandler func(ctx context.Context, d jsconsumer.Delivery) error

func runnerSerial(js jetstream.JetStream, durable string, handle errorHandler) (*jsconsumer.Runner, error) {
	return jsconsumer.New(js, jsconsumer.Config{
		Stream: "S",
		Consumer: jetstream.ConsumerConfig{
			Durable: durable, FilterSubject: "s.>",
			BackOff: ladder(), MaxDeliver: 4,
			MaxAckPending: 65536, // what the legacy client had asked for
		},
	}, jsconsumer.HandlerFunc(handle))
}

func runnerPooled(js jetstream.JetStream, durable string, handle errorHandler) (*jsconsumer.Runner, error) {
	return jsconsumer.New(js, jsconsumer.Config{
		Stream: "S",
		Consumer: jetstream.ConsumerConfig{
			Durable: durable, FilterSubject: "s.>",
			BackOff: ladder(), MaxDeliver: 4, MaxAckPending: 65536,
		},
		Workers: 8,
	}, jsconsumer.HandlerFunc(handle))
}

func runnerNakScheduled(js jetstream.JetStream, durable string, handle errorHandler) (*jsconsumer.Runner, error) {
	return jsconsumer.New(js, jsconsumer.Config{
		Stream: "S",
		Consumer: jetstream.ConsumerConfig{
			Durable: durable, FilterSubject: "s.>",
			AckWait: 2 * time.Second, MaxDeliver: 4, MaxAckPending: 65536,
		},
		Handling: timingcontract.Handler{
			OnFailure: timingcontract.NakDelay, Delays: []time.Duration{nakDelay},
		},
	}, func(ctx context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		if err := handle(ctx, d); err != nil {
			return jsconsumer.RetryAfter(nakDelay, err)
		}
		return jsconsumer.Ack()
	})
}

func runnerCaptured(js jetstream.JetStream, durable string, handle errorHandler) (*jsconsumer.Runner, error) {
	return jsconsumer.New(js, jsconsumer.Config{
		Stream: "S",
		Consumer: jetstream.ConsumerConfig{
			Durable: durable, FilterSubject: "s.>",
			BackOff: ladder(), MaxDeliver: 4, MaxAckPending: 65536,
		},
		Handling: timingcontract.Handler{Reserve: 1, Capture: "dlq." + durable},
	}, jsconsumer.HandlerFunc(handle))
}
