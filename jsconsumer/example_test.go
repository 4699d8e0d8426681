package jsconsumer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/timingcontract"
)

// billing is a consumer that gives up to dlq.billing after four attempts.
func billing() jsconsumer.Config {
	return jsconsumer.Config{
		Stream: "ORDERS",
		Consumer: jetstream.ConsumerConfig{
			Durable: "billing", AckPolicy: jetstream.AckExplicitPolicy,
			BackOff: []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute}, MaxDeliver: 6,
		},
		Workers:  8,
		Handling: timingcontract.Handler{Budget: 20 * time.Second, Reserve: 2, Capture: "dlq.billing"},
	}
}

// charge stands for the work.
func charge(context.Context, []byte) error { return nil }

// A service makes a runner and runs it until it is told to stop. examples/worker in
// the module's repository has the probes and the records besides.
func Example() {
	nc, err := nats.Connect(nats.DefaultURL, nats.MaxReconnects(-1))
	if err != nil {
		slog.Error("no connection", "error", err)
		return
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		slog.Error("no JetStream", "error", err)
		return
	}
	r, err := jsconsumer.New(js, billing(), func(ctx context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		return jsconsumer.FromError(charge(ctx, d.Data())) // an error is a retry, by the ladder
	})
	if err != nil { // a timing contract that can not hold, among others
		slog.Error("no runner", "error", err)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := r.Run(ctx); err != nil { // returns when drained
		slog.Error("consumed", "error", err)
	}
}

// The contract of a runner says when it gives a message up. A test of the service
// can hold it against what the stream keeps.
func ExampleConfig_Contract() {
	c := billing()
	contract := c.Contract(c.Consumer)
	e := contract.Envelope()
	fmt.Printf("last attempt: delivery %d after %v\n", e.LastAttempt.Delivery, e.LastAttempt.At)
	fmt.Printf("capture: delivery %d after %v\n", e.Capture.Delivery, e.Capture.At)
	fmt.Println("on a stream of three days:", contract.Err(timingcontract.Surroundings{MaxAge: 72 * time.Hour}))
	// Output:
	// last attempt: delivery 4 after 7m30s
	// capture: delivery 5 after 12m30s
	// on a stream of three days: <nil>
}

// A handler that returns errors needs no other words.
func ExampleFromError() {
	declined := errors.New("the card was declined")
	for _, err := range []error{
		nil,
		declined,
		jsconsumer.Discard(declined).AsError(),
		fmt.Errorf("order 7: %w", jsconsumer.RetryAfter(time.Minute, declined).AsError()),
	} {
		fmt.Println(jsconsumer.FromError(err))
	}
	// Output:
	// ack
	// retry: the card was declined
	// discard: the card was declined
	// retry_after 1m0s: the card was declined
}
