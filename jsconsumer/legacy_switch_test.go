package jsconsumer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
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

// TestSwitchOverInTheReserve stops the loop before the last delivery, which it keeps
// for the capture. The runner does not know that three attempts were made, so its
// handler has the message once.
func TestSwitchOverInTheReserve(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	b := on(t, s.Client).stream(jetstream.StreamConfig{}).dlq()
	o := observe(t, s.Client, "d", script{never, 3}, 0)
	b.publish(0, 2)
	before := o.shift(t, func(ctx context.Context) error { return legacyCaptured(ctx, b.Legacy, "d", o.legacy) })
	b.until("the loop has failed three times", func() bool { return o.attempts(0) == 3 && o.attempts(1) == 3 })
	b.must(before.stop())
	after := o.shift(t, func(ctx context.Context) error {
		r, err := runnerCaptured(b.JS, "d", o.migrated)
		if err != nil {
			return err
		}
		return r.Run(ctx)
	})
	all := o.ended(t, s.Client, "d")
	b.must(after.stop())
	for message := range 2 {
		if last := all.Steps[message][3]; !last.Handled || last.Settled != "+ACK" {
			t.Errorf("message %d: the last delivery was %+v, want it handled and acknowledged", message, last)
		}
	}
	if len(all.Captured) != 1 || len(all.Exhausted) != 0 {
		t.Errorf("captured %v, exhausted %v: want message 0 captured, and 1 handled", all.Captured, all.Exhausted)
	}
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

// TestGrants is what a runner asks for that the loop did not.
func TestGrants(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithAccounts(natstest.Account{Name: "A", Users: []natstest.User{
		{Name: "all", Password: "x"},
		{Name: "worker", Password: "x", Publish: natstest.Permission{Allow: []string{
			"$JS.API.CONSUMER.INFO.S.d", "$JS.API.CONSUMER.MSG.NEXT.S.d", "$JS.ACK.S.d.>",
		}}},
	}}), natstest.WithUser("all", "x"))
	b := on(t, s.Client).stream(jetstream.StreamConfig{})
	orphan(b, "d")
	worker := s.Connect(nats.UserInfo("worker", "x"))
	ack := func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition { return jsconsumer.Ack() }
	acked := func(n int) func() bool { return func() bool { return b.info().AckFloor.Stream == uint64(n) } }

	b.publish(0, 1)
	sub, err := worker.Legacy.PullSubscribe("s.>", "d", nats.BindStream("S"))
	b.must(err)
	msgs, err := sub.Fetch(1, nats.MaxWait(10*time.Second))
	b.must(err)
	b.must(msgs[0].Ack())
	b.until("the loop has acknowledged", acked(1))

	f := &fault{bench: on(t, worker)}
	f.start(jsconsumer.Config{Hooks: f.hooks(), Expires: time.Second, Provision: jsconsumer.BindOnly}, ack)
	b.publish(1, 2)
	b.until("the runner has acknowledged", acked(2))
	f.quietEnd()

	f = &fault{bench: on(t, worker)}
	f.start(jsconsumer.Config{Hooks: f.hooks(), Expires: time.Second, Timeout: time.Second}, ack)
	f.waitFor(`report loud denied: nats: permissions violation: Permissions Violation for Publish to "$JS.API.CONSUMER.CREATE.S.d"`)
	f.ready(false)
	b.must(f.stop())
}
