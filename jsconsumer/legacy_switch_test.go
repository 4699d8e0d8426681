package jsconsumer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

// A shift is one process after the other on the same durable.
type shift struct {
	*observer
	stop func() error
}

func (o *observer) shift(t *testing.T, consume func(context.Context) error) shift {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- consume(ctx) }()
	return shift{o, func() error {
		cancel()
		return <-ended
	}}
}

// TestSwitchOver stops the loop, starts the runner on the same durable, and goes
// back. A message that fails is under way all the time: its deliveries are counted
// on, and its ladder goes on.
func TestSwitchOver(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	b := on(t, s.Client).stream(jetstream.StreamConfig{}).dlq()
	o := observe(t, s.Client, "d", script{0, 3, 0, 0, 0, 0}, 0)
	loop := func(ctx context.Context) error { return legacySerial(ctx, b.Legacy, "d", o.legacy) }
	runner := func(ctx context.Context) error {
		r, err := runnerSerial(b.JS, "d", o.migrated)
		if err != nil {
			return err
		}
		return r.Run(ctx)
	}

	b.publish(0, 3)
	before := o.shift(t, loop)
	b.until("the loop has handled 0 and 2, and failed 1", func() bool { return o.attempts(2) == 1 })
	b.must(before.stop())
	config := configured(b, "d")

	b.publish(3, 4)
	after := o.shift(t, runner)
	b.until("the runner has failed 1, and handled what came meanwhile", func() bool { return o.attempts(1) >= 2 && o.attempts(3) == 1 })
	b.must(after.stop())
	if d := cmp.Diff(config, configured(b, "d")); d != "" {
		t.Errorf("the runner has changed the durable:\n%s", d)
	}

	b.publish(4, 6)
	back := o.shift(t, loop)
	all := o.ended(t, s.Client, "d")
	b.must(back.stop())
	if d := cmp.Diff(config, configured(b, "d")); d != "" {
		t.Errorf("going back has changed the durable:\n%s", d)
	}
	if want := (broker{AckFloor: 6, Delivered: 6, Deliveries: 9}); all.Broker != want || len(all.Steps[1]) != 4 {
		t.Errorf("%+v, want %+v, and four deliveries of message 1: %+v", all.Broker, want, all.Steps[1])
	}
}

// attempts counts those of a message.
func (o *observer) attempts(message int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.steps[message])
}

// TestLegacyBindsToWhatItFinds is the way back after the runner has changed the
// durable: the client compares what the loop states, and refuses some of it.
func TestLegacyBindsToWhatItFinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reason string
		change func(*jetstream.ConsumerConfig)
		stated nats.SubOpt
		want   string // of the client's error; empty: it binds
	}{
		{"a ladder is not compared", func(c *jetstream.ConsumerConfig) { c.BackOff = ladder()[:2] }, nats.BackOff(ladder()), ""},
		{"what is not stated is not compared", func(c *jetstream.ConsumerConfig) { c.MaxAckPending = 1000 }, nats.Description(""), ""},
		{"max_deliver is", func(c *jetstream.ConsumerConfig) { c.MaxDeliver = 6 }, nats.MaxDeliver(4), "max deliver"},
		{"ack_wait is", func(c *jetstream.ConsumerConfig) { c.AckWait, c.BackOff = time.Minute, nil }, nats.AckWait(ladder()[0]), "ack wait"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			b := on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})
			orphan(b, "d")
			changed := b.info().Config
			tt.change(&changed)
			_, err := b.JS.UpdateConsumer(t.Context(), "S", changed)
			b.must(err)
			_, err = b.Legacy.PullSubscribe("s.>", "d", tt.stated)
			if tt.want == "" {
				b.must(err)
			} else if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the client says %v, want something of %q", err, tt.want)
			}
		})
	}
}
