package engine_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/engine"
	"github.com/natsmig/natsmig/natstest"
)

// TestReset goes back while a message of the first time is with a caller.
func TestReset(t *testing.T) {
	t.Parallel()
	g := &game{Client: natstest.Start(t).Client, t: t}
	g.stream()
	g.publish(10)
	var mu sync.Mutex
	var seqs []uint64
	release, looked := make(chan struct{}), make(chan struct{})
	g.hold = func(d engine.Delivery) string {
		mu.Lock()
		seqs = append(seqs, d.StreamSeq)
		first := !slices.Contains(seqs[:len(seqs)-1], d.StreamSeq)
		mu.Unlock()
		switch {
		case d.StreamSeq == 7 && first:
			<-release
		case d.StreamSeq == 7:
			<-looked
		}
		return engine.Ack
	}
	g.run(engine.Config{InFlight: 2, Expires: time.Second, Inspect: 50 * time.Millisecond, Exclusive: true})
	g.wait("all but one", func() bool { return g.seen.Load() == 10 && g.info().NumAckPending == 1 })
	g.look() // so that the floor, which goes back, is known
	from, err := g.e.Reset(t.Context(), 4)
	if err != nil || from != 4 {
		t.Fatalf("from %d, %v", from, err)
	}
	g.wait("7 again", func() bool { return g.seen.Load() > 13 })
	g.look()
	close(release)
	close(looked)
	g.wait("again", func() bool { return g.seen.Load() == 17 })
	g.wait("settled", func() bool { return g.info().NumAckPending == 0 })
	g.drain()
	mu.Lock()
	defer mu.Unlock()
	again := slices.Clone(seqs[10:])
	slices.Sort(again)
	if !slices.Equal(again, []uint64{4, 5, 6, 7, 8, 9, 10}) {
		t.Errorf("came again: %v", again)
	}
	if c := g.e.Counts(); c.Stale != 1 {
		t.Errorf("%+v: the delivery from before is stale", c)
	}
	if ks := g.events.kinds(); slices.Contains(ks, engine.RolledBack) || slices.Contains(ks, engine.Recreated) || slices.Contains(ks, engine.Gap) {
		t.Errorf("a reset is none of %v", ks)
	}
}

// TestGap: a delivery goes elsewhere, which nobody should be.
func TestGap(t *testing.T) {
	t.Parallel()
	for _, exclusive := range []bool{true, false} {
		g := &game{Client: natstest.Start(t).Client, t: t}
		g.stream()
		g.run(engine.Config{InFlight: 1, Expires: time.Second, Exclusive: exclusive, Inspect: 50 * time.Millisecond})
		g.publish(1)
		g.wait("the first", func() bool { return g.seen.Load() == 1 })
		g.steal()
		g.wait("the one behind", func() bool {
			g.publish(1)
			return g.seen.Load() >= 3
		})
		g.look()
		g.drain()
		if got := slices.Contains(g.events.kinds(), engine.Gap); got != exclusive {
			t.Errorf("exclusive %v: told of a gap: %v", exclusive, got)
		}
	}
}

// look waits until the engine has looked at its durable twice from now on.
func (g *game) look() {
	g.t.Helper()
	var looks atomic.Int64
	if _, err := g.NC.Subscribe("$JS.API.CONSUMER.INFO.S.d", func(*nats.Msg) { looks.Add(1) }); err != nil {
		g.t.Fatal(err)
	}
	g.wait("looked at", func() bool { return looks.Load() > 1 })
}

// steal takes one message with another client, which has to be faster.
func (g *game) steal() {
	g.t.Helper()
	c, err := g.JS.Consumer(g.t.Context(), "S", "d")
	if err != nil {
		g.t.Fatal(err)
	}
	before := g.seen.Load()
	stolen := make(chan jetstream.Msg, 1)
	go func() {
		if m, err := c.Next(jetstream.FetchMaxWait(10 * time.Second)); err == nil {
			stolen <- m
		}
	}()
	for {
		g.publish(1)
		select {
		case m := <-stolen:
			_ = m.Ack() // the test is about who had it
			return
		case <-time.After(50 * time.Millisecond):
		}
		if g.seen.Load() > before+100 {
			g.t.Fatal("nothing can be taken")
		}
	}
}
