package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/engine"
	"github.com/natsmig/natsmig/natstest"
)

// game is a stream with a durable, and an engine on it with its workers.
type game struct {
	*natstest.Client
	t      *testing.T
	e      *engine.Engine
	events events
	seen   atomic.Int64
	hold   func(engine.Delivery) string

	cancel context.CancelFunc
	ended  chan error
	left   engine.Left
}

type events struct {
	sync.Mutex
	all []engine.Event
}

func (es *events) on(ev engine.Event) {
	es.Lock()
	defer es.Unlock()
	es.all = append(es.all, ev)
}

func (es *events) kinds() []engine.Kind {
	es.Lock()
	defer es.Unlock()
	var ks []engine.Kind
	for _, ev := range es.all {
		ks = append(ks, ev.Kind)
	}
	return ks
}

func (g *game) stream() {
	g.t.Helper()
	_, err := g.JS.CreateStream(g.t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}})
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *game) publish(n int) {
	g.t.Helper()
	for i := range n {
		if i%1000 == 999 {
			<-g.JS.PublishAsyncComplete()
		}
		if _, err := g.JS.PublishAsync(fmt.Sprintf("s.%d", i), []byte("x")); err != nil {
			g.t.Fatal(err)
		}
	}
	select {
	case <-g.JS.PublishAsyncComplete():
	case <-time.After(20 * time.Second):
		g.t.Fatal("publishing takes too long")
	}
}

func (g *game) run(c engine.Config) {
	g.t.Helper()
	c.Stream, c.On = "S", g.events.on
	if c.Consumer.Durable == "" {
		c.Consumer.Durable = "d"
	}
	c.Consumer.AckPolicy = jetstream.AckExplicitPolicy
	if c.Provision == "" {
		c.Provision = engine.CreateOrUpdate
	}
	if c.Retry == nil {
		c.Retry = func(error) time.Duration { return 50 * time.Millisecond }
	}
	e, err := engine.New(g.JS, c)
	if err != nil {
		g.t.Fatal(err)
	}
	g.e = e
	ctx, cancel := context.WithCancel(context.Background())
	g.cancel = cancel
	g.ended = make(chan error, 1)
	g.t.Cleanup(cancel)
	if g.hold == nil {
		g.hold = func(engine.Delivery) string { return engine.Ack }
	}
	for range max(1, c.InFlight) {
		go func() {
			for {
				d, ok := e.Next()
				if !ok {
					return
				}
				g.seen.Add(1)
				e.Settle(&d, g.hold(d))
			}
		}()
	}
	go func() {
		left, err := e.Run(ctx)
		g.left = left
		g.ended <- err
	}()
}

func (g *game) drain() {
	g.t.Helper()
	g.e.Drain()
	select {
	case err := <-g.ended:
		if err != nil {
			g.t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		held, asked := g.e.InFlight()
		g.t.Fatalf("no end of the drain: held %d, asked %d", held, asked)
	}
}

func (g *game) info() *jetstream.ConsumerInfo {
	g.t.Helper()
	c, err := g.JS.Consumer(g.t.Context(), "S", "d")
	if err != nil {
		g.t.Fatal(err)
	}
	return c.CachedInfo()
}

func (g *game) wait(what string, cond func() bool) {
	g.t.Helper()
	natstest.Eventually(g.t, 20*time.Second, func() error {
		if cond() {
			return nil
		}
		return fmt.Errorf("not yet: %s; events %v, seen %d", what, g.events.kinds(), g.seen.Load())
	})
}

func TestDelivers(t *testing.T) {
	t.Parallel()
	for _, inFlight := range []int{1, 2, 8, 256} {
		t.Run(fmt.Sprint(inFlight), func(t *testing.T) {
			t.Parallel()
			g := &game{Client: natstest.Start(t).Client, t: t}
			g.stream()
			g.publish(5000)
			var looks atomic.Int64
			if _, err := g.NC.Subscribe("$JS.API.CONSUMER.INFO.S.d", func(*nats.Msg) { looks.Add(1) }); err != nil {
				t.Fatal(err)
			}
			g.run(engine.Config{InFlight: inFlight, Expires: time.Second})
			g.wait("all", func() bool { return g.seen.Load() >= 5000 })
			g.drain()
			// Deliveries that are entered out of order look like another consumer's.
			if n := looks.Load(); n > 0 {
				t.Errorf("looked at the consumer %d times", n)
			}
			if i := g.info(); i.NumAckPending != 0 || i.AckFloor.Stream != 5000 || i.Delivered.Consumer != 5000 {
				t.Errorf("pending %d, floor %d, delivered %d", i.NumAckPending, i.AckFloor.Stream, i.Delivered.Consumer)
			}
			t.Logf("%+v", g.e.Counts())
		})
	}
}

// TestASlowCallerLosesItsPlace: callers that do not come back leave the channel to
// those that are free, one message after the other.
func TestASlowCallerLosesItsPlace(t *testing.T) {
	t.Parallel()
	const callers = 8
	g := &game{Client: natstest.Start(t).Client, t: t}
	g.stream()
	release := make(chan struct{})
	g.hold = func(engine.Delivery) string {
		<-release
		return engine.Ack
	}
	g.run(engine.Config{InFlight: callers, Expires: time.Second})
	for i := range int64(callers) {
		g.publish(1)
		g.wait(fmt.Sprintf("message %d", i+1), func() bool { return g.seen.Load() == i+1 })
	}
	close(release)
	g.drain()
	if i := g.info(); i.NumAckPending != 0 || i.Delivered.Consumer != callers {
		t.Errorf("pending %d, delivered %d", i.NumAckPending, i.Delivered.Consumer)
	}
}
