package jsconsumer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
)

// pinning notes what is told of the floor.
func pinning(f *fault) jsconsumer.Config {
	return jsconsumer.Config{
		Workers: 2, Expires: time.Second, PinAfter: 400 * time.Millisecond, Inspect: 50 * time.Millisecond,
		Hooks: jsconsumer.Join(f.hooks(), jsconsumer.Hooks{
			FloorPinned:   func(p jsconsumer.Floor) { f.note("pinned at %d, %d pending", p.Sequence, p.AckPending) },
			FloorReleased: func(p jsconsumer.Floor) { f.note("released at %d", p.Sequence) },
		}),
	}
}

// TestFloorPinned: one message is held while others are done.
func TestFloorPinned(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})}
	release := make(chan struct{})
	f.publish(0, 10)
	f.start(pinning(f), func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		if d.Sequence() == 4 {
			<-release
		}
		return jsconsumer.Ack()
	})
	f.waitFor("pinned at 3, 1 pending")
	if s := f.r.Status(); !s.FloorPinned || s.Floor.Sequence != 3 || s.Floor.Delivered != 10 {
		t.Errorf("%+v", s)
	}
	close(release)
	f.waitFor("released at 10")
	if f.count("pinned") != 1 {
		t.Errorf("told more than once: %v", f.all())
	}
	f.quietEnd()
}

// TestIdleFloorIsNotPinned: something is pending, and nothing else was delivered
// since; and later nothing is pending, though the floor lags behind a message that
// is exhausted.
func TestIdleFloorIsNotPinned(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})}
	f.publish(0, 1)
	c := pinning(f)
	c.Consumer = jetstream.ConsumerConfig{MaxDeliver: 1, AckWait: 2 * time.Second}
	f.start(c, func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition {
		return jsconsumer.Retry(errBroken) // nobody tells the broker, which waits
	})
	since := time.Now()
	f.until("looked at for three times PinAfter, and for as long once exhausted", func() bool {
		s := f.r.Status()
		if s.FloorPinned {
			t.Errorf("pinned: %+v", s.Floor)
			return true
		}
		return s.Floor.AckPending == 0 && s.Floor.Delivered == 1 && s.Floor.Time.Sub(since) > 3500*time.Millisecond
	})
	f.quietEnd()
	if f.has("pinned") {
		t.Error(fmt.Sprint(f.all()))
	}
}
