package jsconsumer_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
)

// bench is a stream with a durable, and a runner on it.
type bench struct {
	*natstest.Client
	t        *testing.T
	replicas int // of streams, zero: 1
	r        *jsconsumer.Runner
	cancel   context.CancelFunc
	ended    chan error
}

func on(t *testing.T, c *natstest.Client) *bench { return &bench{Client: c, t: t} }

func (b *bench) stream(c jetstream.StreamConfig) *bench {
	b.t.Helper()
	if c.Name == "" {
		c.Name, c.Subjects = "S", []string{"s.>"}
	}
	if c.Replicas == 0 {
		c.Replicas = b.replicas
	}
	if _, err := b.JS.CreateStream(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
	return b
}

func (b *bench) publish(from, to int) {
	b.t.Helper()
	for i := from; i < to; i++ {
		if i%1000 == 999 {
			<-b.JS.PublishAsyncComplete()
		}
		if _, err := b.JS.PublishAsync(fmt.Sprintf("s.%d", i), fmt.Appendf(nil, "%d", i)); err != nil {
			b.t.Fatal(err)
		}
	}
	select {
	case <-b.JS.PublishAsyncComplete():
	case <-time.After(20 * time.Second):
		b.t.Fatal("publishing takes too long")
	}
}

// start makes a runner of stream S and durable d, and runs it. It is stopped with
// the test at the latest.
func (b *bench) start(c jsconsumer.Config, h jsconsumer.Handler) {
	b.t.Helper()
	if c.Stream == "" {
		c.Stream = "S"
	}
	if c.Consumer.Durable == "" {
		c.Consumer.Durable = "d"
	}
	c.Consumer.AckPolicy = jetstream.AckExplicitPolicy
	r, err := jsconsumer.New(b.JS, c, h)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.t.Cleanup(cancel)
	ended := make(chan error, 1)
	b.r, b.cancel, b.ended = r, cancel, ended
	go func() { ended <- r.Run(ctx) }()
}

func (b *bench) stop() error {
	b.t.Helper()
	b.cancel()
	return b.end()
}

func (b *bench) end() error {
	b.t.Helper()
	select {
	case err := <-b.ended:
		return err
	case <-time.After(40 * time.Second):
		b.t.Fatalf("the runner does not end: %+v", b.r.Status())
		return nil
	}
}

func (b *bench) info() *jetstream.ConsumerInfo {
	b.t.Helper()
	c, err := b.JS.Consumer(b.t.Context(), "S", "d")
	if err != nil {
		b.t.Fatal(err)
	}
	return c.CachedInfo()
}

func (b *bench) until(what string, cond func() bool) {
	b.t.Helper()
	natstest.Eventually(b.t, 30*time.Second, func() error {
		if cond() {
			return nil
		}
		return errors.New("not yet: " + what)
	})
}

func TestConsumes(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 8, 100} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			t.Parallel()
			b := on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})
			b.publish(0, 3000)
			var seen atomic.Int64
			b.start(jsconsumer.Config{Workers: workers}, func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition {
				seen.Add(1)
				return jsconsumer.Ack()
			})
			b.until("all", func() bool { return seen.Load() >= 3000 })
			if err := b.stop(); err != nil {
				t.Fatal(err)
			}
			if i := b.info(); i.NumAckPending != 0 || i.AckFloor.Stream != 3000 || i.Delivered.Consumer != 3000 {
				t.Errorf("pending %d, floor %d, delivered %d", i.NumAckPending, i.AckFloor.Stream, i.Delivered.Consumer)
			}
		})
	}
}
