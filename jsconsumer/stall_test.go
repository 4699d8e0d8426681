package jsconsumer_test

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
)

// TestOneWorkerNeverStalls takes messages one at a time, which makes Consume of
// nats.go wait for its missing heartbeat now and then, 30 s each. NATSMIG_SOAK does it
// with 200,000 messages, five times.
func TestOneWorkerNeverStalls(t *testing.T) {
	// A stall is half a minute; what a busy machine does to a process is less.
	messages, runs, limit := 20_000, 1, 15*time.Second
	if os.Getenv("NATSMIG_SOAK") != "" {
		messages, runs, limit = 200_000, 5, time.Second
	}
	b := on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})
	b.publish(0, messages)
	for range runs {
		var longest, last atomic.Int64
		began, done := time.Now(), make(chan struct{})
		b.start(jsconsumer.Config{}, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
			now := int64(time.Since(began))
			if pause := now - last.Swap(now); d.Sequence() > 1 && pause > longest.Load() {
				longest.Store(pause) // there is one worker
			}
			if d.Sequence() == uint64(messages) { //nolint:gosec // small
				close(done)
			}
			return jsconsumer.Ack()
		})
		select {
		case <-done:
		case <-time.After(3 * time.Minute):
			t.Fatalf("at %v: %+v", time.Since(began), b.r.Status())
		}
		if pause := time.Duration(longest.Load()); pause > limit {
			t.Errorf("a pause of %v", pause)
		} else {
			t.Logf("%d messages in %v, the longest pause was %v", messages, time.Since(began), pause)
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		b.must(b.JS.DeleteConsumer(t.Context(), "S", "d"))
	}
}
