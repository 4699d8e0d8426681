package jsconsumer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
)

// A drainer consumes until it is told to stop, drained as well as it can.
type drainer func(t *testing.T, c *natstest.Client, durable string, handled func()) (stop func())

func ours(workers int) drainer {
	return func(t *testing.T, c *natstest.Client, durable string, handled func()) func() {
		r, err := jsconsumer.New(c.JS, jsconsumer.Config{
			Stream: "S", Consumer: jetstream.ConsumerConfig{Durable: durable, AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute, DeliverPolicy: jetstream.DeliverNewPolicy},
			Workers: workers,
		}, func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition {
			handled()
			return jsconsumer.Ack()
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
}

func consumeDrain(t *testing.T, c *natstest.Client, durable string, handled func()) func() {
	cons, err := c.JS.CreateOrUpdateConsumer(t.Context(), "S", jetstream.ConsumerConfig{Durable: durable, AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute, DeliverPolicy: jetstream.DeliverNewPolicy})
	if err != nil {
		t.Fatal(err)
	}
	cc, err := cons.Consume(func(m jetstream.Msg) {
		handled()
		_ = m.Ack()
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		cc.Drain()
		<-cc.Closed()
	}
}

// load publishes until the test ends.
func load(t *testing.T, c *natstest.Client) {
	t.Helper()
	// A publish whose answer is lost would otherwise be waited for for ever.
	js, err := jetstream.New(c.NC, jetstream.WithPublishAsyncTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !stop.Load() {
				for range 500 {
					_, _ = js.PublishAsync("s.x", []byte("load"))
				}
				<-js.PublishAsyncComplete()
			}
		})
	}
	t.Cleanup(func() { stop.Store(true); wg.Wait() })
}

// strands drains n times under load, and counts the drains that left a message
// delivered and unsettled.
func strands(t *testing.T, c *natstest.Client, n int, d drainer, made func(durable string) bool) (drains, messages int) {
	for range n {
		durable := fmt.Sprintf("d%d", rand.Uint32())
		for made != nil && !made(durable) {
			durable = fmt.Sprintf("d%d", rand.Uint32())
		}
		var handled atomic.Int64
		stop := d(t, c, durable, func() { handled.Add(1) })
		natstest.Eventually(t, time.Minute, func() error {
			if handled.Load() < 300 {
				return fmt.Errorf("handled %d", handled.Load())
			}
			return nil
		})
		stop()
		if err := c.NC.Flush(); err != nil {
			t.Fatal(err)
		}
		if left := unsettled(t, c, durable); left > 0 {
			drains++
			messages += left
		}
		if err := c.JS.DeleteConsumer(t.Context(), "S", durable); err != nil {
			t.Fatal(err)
		}
	}
	return drains, messages
}

// unsettled waits until the acknowledgments on their way have arrived, and counts
// what is pending then: everything that was delivered and is known to be settled
// is at the floor, so a count that stays the same is the answer.
func unsettled(t *testing.T, c *natstest.Client, durable string) int {
	t.Helper()
	last, same := -1, 0
	natstest.Eventually(t, 20*time.Second, func() error {
		cons, err := c.JS.Consumer(t.Context(), "S", durable)
		if err != nil {
			return err
		}
		n := cons.CachedInfo().NumAckPending
		if n == 0 {
			last = 0
			return nil
		}
		if n != last {
			last, same = n, 0
		}
		if same++; same < 20 {
			return fmt.Errorf("%d pending", n)
		}
		return nil
	})
	return last
}

func TestDrainStrandsNothing(t *testing.T) {
	s := natstest.Start(t)
	on(t, s.Client).stream(jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, MaxMsgs: 100_000})
	load(t, s.Connect())
	for _, workers := range []int{1, 8, 100} {
		if drains, messages := strands(t, s.Client, 14, ours(workers), nil); drains > 0 {
			t.Errorf("%d workers: %d of 14 drains left %d messages", workers, drains, messages)
		}
	}
	// The peer's figure is told, and may be none on a machine that is busy.
	drains, messages := strands(t, s.Client, 40, consumeDrain, nil)
	t.Logf("Consume.Drain of nats.go: %d of 40 drains left %d messages", drains, messages)
}

func TestDrainStrandsNothingOnACluster(t *testing.T) {
	c := natstest.StartCluster(t, 3)
	on(t, c.Client).stream(jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, MaxMsgs: 100_000, Replicas: 3})
	leader := c.StreamLeader("", "S")
	var other *natstest.Broker
	for _, b := range c.Brokers {
		if b != leader {
			other = b
		}
	}
	client := other.Connect()
	load(t, c.Brokers[0].Connect())
	// away makes a durable whose leader is not the client's broker.
	away := func(durable string) bool {
		_, err := client.JS.CreateConsumer(t.Context(), "S", jetstream.ConsumerConfig{Durable: durable, AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute, DeliverPolicy: jetstream.DeliverNewPolicy})
		if err != nil {
			t.Fatal(err)
		}
		if c.ConsumerLeader("", "S", durable) != other {
			return true
		}
		if err := client.JS.DeleteConsumer(t.Context(), "S", durable); err != nil {
			t.Fatal(err)
		}
		return false
	}
	drains, messages := strands(t, client, 20, consumeDrain, away)
	t.Logf("Consume.Drain of nats.go: %d of 20 drains left %d messages", drains, messages)
	if drains, messages := strands(t, client, 20, ours(8), away); drains > 0 {
		t.Errorf("%d of 20 drains left %d messages", drains, messages)
	}
}
