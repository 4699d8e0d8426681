package jsconsumer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
	"github.com/natsmig/natsmig/timingcontract"
)

// sweeping is a consumer of two deliveries that gives up to dlq.d.
func sweeping(hooks jsconsumer.Hooks) jsconsumer.Config {
	return jsconsumer.Config{
		Hooks: hooks, Expires: time.Second,
		Consumer: jetstream.ConsumerConfig{MaxDeliver: 2, AckWait: 500 * time.Millisecond},
		Handling: timingcontract.Handler{Capture: "dlq.d", Reserve: 1},
	}
}

// burn takes deliveries of n messages and does nothing with them, as a process that
// is killed would.
func (b *bench) burn(n, times int) {
	b.t.Helper()
	c, err := b.JS.CreateOrUpdateConsumer(b.t.Context(), "S", jetstream.ConsumerConfig{
		Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: 2, AckWait: 500 * time.Millisecond,
	})
	b.must(err)
	for range times {
		for range n {
			_, err := c.Next(jetstream.FetchMaxWait(10 * time.Second))
			b.must(err)
		}
	}
}

func (b *bench) exhausted() {
	b.t.Helper()
	b.until("exhausted", func() bool {
		_, _ = b.NC.Request("$JS.API.CONSUMER.MSG.NEXT.S.d", []byte(`{"batch":1,"no_wait":true}`), time.Second)
		i := b.info()
		return i.NumAckPending == 0
	})
}

func acks(f *fault) jsconsumer.Handler {
	return func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		f.saw(d.Data())
		return jsconsumer.Ack()
	}
}

func wantSwept(seqs ...int) map[string]int {
	want := map[string]int{}
	for _, s := range seqs {
		want[fmt.Sprintf("%d swept: s.%d %d ", s, s-1, s-1)] = 1
	}
	return want
}

// TestSweepsWhatIsExhaustedMeanwhile: the last delivery was another process's, and
// ends when this one listens.
func TestSweepsWhatIsExhaustedMeanwhile(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{}).dlq()}
	f.publish(0, 3)
	f.burn(3, 2)
	f.start(sweeping(f.hooks()), acks(f))
	f.until("swept", func() bool { return f.count("captured") == 3 })
	f.quietEnd()
	if d := cmp.Diff(wantSwept(1, 2, 3), f.dead()); d != "" {
		t.Error(d)
	}
	if len(f.seen) > 0 || f.count("exhausted") != 3 || !f.has("exhausted 1 captured true") {
		t.Errorf("seen %v, told %v", f.seen, f.all())
	}
}

// TestSweepsBehindTheFloor: nobody listened, and the floor still says it.
func TestSweepsBehindTheFloor(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{}).dlq()}
	f.publish(0, 1)
	f.burn(1, 2)
	f.exhausted()
	f.start(sweeping(f.hooks()), acks(f))
	f.waitFor("captured 1 swept")
	f.publish(1, 2)
	f.sees(1, 2)
	f.quietEnd()
	if d := cmp.Diff(wantSwept(1), f.dead()); d != "" {
		t.Error(d)
	}
}

// TestSweepsOnce: the floor goes on lagging behind what was captured, and nothing but
// the sweeper remembers that. The capture stream forgets it soon.
func TestSweepsOnce(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	f := &fault{bench: on(t, s.Client).stream(jetstream.StreamConfig{})}
	f.stream(jetstream.StreamConfig{Name: "DLQ", Subjects: []string{"dlq.>"}, Duplicates: 100 * time.Millisecond})
	f.publish(0, 1)
	f.burn(1, 2)
	f.exhausted()
	c := sweeping(f.hooks())
	c.Inspect = 50 * time.Millisecond
	f.start(c, acks(f))
	f.waitFor("captured 1 swept")
	captured := time.Now()
	f.until("forgotten there", func() bool { return time.Since(captured) > 500*time.Millisecond })
	s.Restart() // and so it is bound anew
	f.until("bound anew", func() bool { return f.count("bound") > 1 })
	since := time.Now()
	f.until("looked at for a second", func() bool { return f.r.Status().Floor.Time.Sub(since) > time.Second })
	f.quietEnd()
	if d := cmp.Diff(wantSwept(1), f.dead()); d != "" {
		t.Error(d)
	}
}

// TestSweepsAWorkQueue: what is left and not pending is given up, be it how much.
func TestSweepsAWorkQueue(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).dlq()}
	f.stream(jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Retention: jetstream.WorkQueuePolicy})
	f.publish(0, 3)
	f.burn(3, 2)
	f.exhausted()
	f.publish(3, 5)
	f.start(sweeping(f.hooks()), acks(f))
	f.sees(3, 5)
	f.until("swept", func() bool { return f.count("captured") == 3 })
	f.until("the queue is empty", func() bool {
		s, err := f.JS.Stream(t.Context(), "S")
		return err == nil && s.CachedInfo().State.Msgs == 0
	})
	f.quietEnd()
	if d := cmp.Diff(wantSwept(1, 2, 3), f.dead()); d != "" {
		t.Error(d)
	}
}

// TestSweepsStoredAdvisories: nobody was there, and the floor has passed it.
func TestSweepsStoredAdvisories(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{}).dlq()}
	f.stream(jetstream.StreamConfig{Name: "ADVISORIES", Subjects: []string{"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>"}})
	f.publish(0, 3)
	f.burn(3, 2)
	f.exhausted()
	f.publish(3, 4)
	f.burn(1, 1)
	c, err := f.JS.Consumer(t.Context(), "S", "d")
	f.must(err)
	m, err := c.Next(jetstream.FetchMaxWait(5 * time.Second))
	f.must(err)
	f.must(m.DoubleAck(t.Context()))
	if i := f.info(); i.AckFloor.Stream != 4 {
		t.Fatalf("the floor is at %d", i.AckFloor.Stream)
	}
	config := sweeping(f.hooks())
	config.Advisories = "ADVISORIES"
	f.start(config, acks(f))
	f.until("swept", func() bool { return f.count("captured") == 3 })
	f.quietEnd()
	if d := cmp.Diff(wantSwept(1, 2, 3), f.dead()); d != "" {
		t.Error(d)
	}
}

// TestSweepTellsWhatIsGone: the message was purged before it could be captured.
func TestSweepTellsWhatIsGone(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{}).dlq()}
	f.stream(jetstream.StreamConfig{Name: "ADVISORIES", Subjects: []string{"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>"}})
	f.publish(0, 1)
	f.burn(1, 2)
	f.exhausted()
	s, err := f.JS.Stream(t.Context(), "S")
	f.must(err)
	f.must(s.Purge(t.Context()))
	config := sweeping(f.hooks())
	config.Advisories = "ADVISORIES"
	f.start(config, acks(f))
	f.waitFor("exhausted 1 captured false: the stream has the message no more")
	f.quietEnd()
}

// TestSweepTellsThatItIsDenied: a sweeper that hears nothing must not look like one
// that has nothing to do.
func TestSweepTellsThatItIsDenied(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithAccounts(natstest.Account{Name: "A", Users: []natstest.User{
		{Name: "some", Password: "x", Subscribe: natstest.Permission{Deny: []string{"$JS.EVENT.>"}}},
	}}), natstest.WithNATSOptions(nats.UserInfo("some", "x")))
	f := &fault{bench: on(t, s.Client).stream(jetstream.StreamConfig{}).dlq()}
	f.start(sweeping(f.hooks()), acks(f))
	f.waitFor("sweep failing denied")
	f.ready(true)
	f.quietEnd()
}
