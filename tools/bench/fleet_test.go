package bench

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

// What the broker of the benchmarks holds.
const (
	streams            = 100
	consumersPerStream = 100
	consumers          = streams * consumersPerStream
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// startFleet starts a broker in this process and fills it.
func startFleet(tb testing.TB) *natstest.Server {
	tb.Helper()
	s := natstest.Start(tb)
	fill(tb, s.JS)
	return s
}

func fill(tb testing.TB, js jetstream.JetStream) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Minute)
	defer cancel()
	next := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range next {
				if err := addStream(ctx, js, i); err != nil {
					tb.Error(err)
				}
			}
		})
	}
	for i := range streams {
		next <- i
	}
	close(next)
	wg.Wait()
	if tb.Failed() {
		tb.FailNow()
	}
}

func addStream(ctx context.Context, js jetstream.JetStream, i int) error {
	name := fmt.Sprintf("orders_%03d_v1", i)
	_, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: name, Subjects: []string{name + ".>"}, Storage: jetstream.MemoryStorage,
		Description: "orders of a region", MaxAge: 96 * time.Hour, Metadata: map[string]string{"team": "orders"},
	})
	if err != nil {
		return err
	}
	for k := range consumersPerStream {
		if _, err := js.CreateConsumer(ctx, name, consumerConfig(name, k)); err != nil {
			return err
		}
	}
	return nil
}

func consumerConfig(stream string, k int) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable: fmt.Sprintf("worker-%03d", k), Description: "charges the card of an order",
		AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: 6, MaxAckPending: 1000,
		BackOff:       []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute},
		FilterSubject: fmt.Sprintf("%s.region-%03d.>", stream, k), InactiveThreshold: 72 * time.Hour,
		MemoryStorage: true, Metadata: map[string]string{"team": "orders", "oncall": "orders-primary"},
	}
}

func connect(tb testing.TB, s *natstest.Server) *nats.Conn {
	tb.Helper()
	nc, err := nats.Connect(s.URL())
	must(tb, err)
	tb.Cleanup(nc.Close)
	return nc
}
