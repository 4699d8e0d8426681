package jsconsumer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/timingcontract"
)

// charge is the work of the service.
func charge(context.Context, []byte) error { return nil }

var errNoOrder = errors.New("not an order")

// bill runs a consumer until the process is told to stop.
func bill(js jetstream.JetStream) error {
	r, err := jsconsumer.New(js, jsconsumer.Config{
		Stream: "ORDERS",
		Consumer: jetstream.ConsumerConfig{
			Durable: "billing", AckPolicy: jetstream.AckExplicitPolicy,
			BackOff: []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute}, MaxDeliver: 6,
		},
		Workers:  8,
		Handling: timingcontract.Handler{Budget: 20 * time.Second, Reserve: 2, Capture: "dlq.billing"},
	}, func(ctx context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		if len(d.Data()) == 0 {
			return jsconsumer.Discard(errNoOrder)
		}
		return jsconsumer.FromError(charge(ctx, d.Data())) // an error is a retry, by the ladder
	})
	if err != nil {
		return err // a timing contract that can not hold, among others
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return r.Run(ctx) // returns when drained
}

// A service makes a runner and runs it; examples/worker is all of one.
func Example() {
	_ = bill // which takes a connection
	// Output:
}

// New sends nothing, and refuses what can not hold.
func ExampleNew() {
	fmt.Fprintln(os.Stdout, errors.Is(nil, nil))
	// Output:
}

func ExampleHandlerFunc() {
}
