package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/jsconsumer/slogging"
	"github.com/natsmig/natsmig/timingcontract"
)

// newRunner refuses a timing contract that can not hold, and sends nothing.
func newRunner(js jetstream.JetStream, log *slog.Logger) (*jsconsumer.Runner, error) {
	return jsconsumer.New(js, config(log), jsconsumer.HandlerFunc(biller{log}.bill))
}

func config(log *slog.Logger) jsconsumer.Config {
	return jsconsumer.Config{
		Stream: "ORDERS",
		Consumer: jetstream.ConsumerConfig{
			Durable:    "billing",
			AckPolicy:  jetstream.AckExplicitPolicy,
			BackOff:    []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute},
			MaxDeliver: 6, // four attempts, and two deliveries for the capture
		},
		Workers: 8,
		Handling: timingcontract.Handler{
			Budget:  15 * time.Second,
			Reserve: 2,
			Capture: "dlq.billing",
			Grace:   drainTimeout,
		},
		CaptureDiscarded: true,
		DrainTimeout:     drainTimeout,
		Hooks:            slogging.Hooks(log),
	}
}

// drainTimeout is the budget, and the 5 s that the last pull may still be open.
// terminationGracePeriodSeconds has to be longer.
const drainTimeout = 20 * time.Second

// A biller is where the work of the service would be.
type biller struct{ log *slog.Logger }

// An order is a message of the stream.
type order struct {
	ID string `json:"id"`
	// Milliseconds is how long it takes to bill it.
	Milliseconds int `json:"milliseconds"`
}

// bill handles one message. An error is a retry, by the ladder.
func (b biller) bill(ctx context.Context, d jsconsumer.Delivery) error {
	var o order
	if err := d.JSON(&o); err != nil {
		return jsconsumer.Discard(err).AsError() // the next attempt would read the same
	}
	select {
	case <-time.After(time.Duration(o.Milliseconds) * time.Millisecond):
	case <-ctx.Done(): // somebody else may have the message now
		return ctx.Err()
	}
	b.log.InfoContext(ctx, "order billed", "order", o.ID, "attempt", d.Attempt())
	return nil
}
