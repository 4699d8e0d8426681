package delivery

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/timingcontract"
)

// runner is jsconsumer with as many workers as messages in flight.
func runner(_ context.Context, w work) (func(), error) {
	return run(w, timingcontract.Handler{})
}

// runnerCapture has a dead-letter subject besides, and so a sweeper.
func runnerCapture(_ context.Context, w work) (func(), error) {
	return run(w, timingcontract.Handler{Reserve: 1, Capture: "dlq"})
}

func run(w work, h timingcontract.Handler) (func(), error) {
	r, err := jsconsumer.New(w.js, jsconsumer.Config{
		Stream: w.stream, Consumer: jetstream.ConsumerConfig{Durable: w.durable}, Provision: jsconsumer.BindOnly,
		Handling: h,
		Workers:  w.inFlight, Expires: time.Second, // a pull that nothing comes to ends soon
	}, func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition {
		w.handled()
		return jsconsumer.Ack()
	})
	if err != nil {
		return nil, fmt.Errorf("make a runner: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return func() {
		cancel()
		<-ended
	}, nil
}
