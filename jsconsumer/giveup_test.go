package jsconsumer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
	"github.com/natsmig/natsmig/timingcontract"
)

var errBroken = errors.New("the handler is broken")

// capturing is a consumer that gives up to dlq.d.
func capturing(hooks jsconsumer.Hooks) jsconsumer.Config {
	return jsconsumer.Config{
		Hooks:   hooks,
		Expires: time.Second,
		Workers: 4,
		Consumer: jetstream.ConsumerConfig{
			MaxDeliver: 4, BackOff: []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond},
		},
		Handling: timingcontract.Handler{Reserve: 2, Capture: "dlq.d"},
	}
}

func (b *bench) dlq() *bench {
	return b.stream(jetstream.StreamConfig{Name: "DLQ", Subjects: []string{"dlq.>"}})
}

// captured reads the dead-letter stream: subject and sequence, and how often.
func (b *bench) dead() map[string]int {
	b.t.Helper()
	s, err := b.JS.Stream(b.t.Context(), "DLQ")
	b.must(err)
	got := map[string]int{}
	for seq := uint64(1); seq <= s.CachedInfo().State.LastSeq; seq++ {
		m, err := s.GetMsg(b.t.Context(), seq)
		b.must(err)
		got[m.Header.Get(jsconsumer.HeaderSequence)+" "+m.Header.Get(jsconsumer.HeaderReason)+": "+m.Header.Get(jsconsumer.HeaderSubject)+" "+string(m.Data)+" "+m.Header.Get(jsconsumer.HeaderError)]++
	}
	return got
}

func wantCaptured(n int) map[string]int {
	want := map[string]int{}
	for i := range n {
		want[fmt.Sprintf("%d exhausted: s.%d %d the handler is broken", i+1, i, i)] = 1
	}
	return want
}

func TestCapturesAfterTheLastAttempt(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{}).dlq()}
	f.publish(0, 5)
	var attempts atomic.Int64
	f.start(capturing(f.hooks()), func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition {
		attempts.Add(1)
		return jsconsumer.Retry(errBroken)
	})
	f.until("captured", func() bool { return f.count("captured") == 5 })
	f.quietEnd()
	if d := cmp.Diff(wantCaptured(5), f.dead()); d != "" {
		t.Error(d)
	}
	if n := attempts.Load(); n != 10 {
		t.Errorf("%d attempts, want two a message: the reserve is two of four", n)
	}
	if i := f.info(); i.NumAckPending != 0 || i.AckFloor.Stream != 5 {
		t.Errorf("pending %d, floor %d", i.NumAckPending, i.AckFloor.Stream)
	}
}

// TestReserveIsNotSpentUnseen delivers twice to a client that looks at nothing.
func TestReserveIsNotSpentUnseen(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{}).dlq()}
	f.publish(0, 1)
	c := capturing(f.hooks())
	cc := c.Consumer
	cc.Durable, cc.AckPolicy = "d", jetstream.AckExplicitPolicy
	cons, err := f.JS.CreateConsumer(t.Context(), "S", cc)
	f.must(err)
	for range 2 {
		_, err := cons.Next(jetstream.FetchMaxWait(5 * time.Second))
		f.must(err)
	}
	f.start(c, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		f.saw(d.Data())
		return jsconsumer.Ack()
	})
	f.sees(0, 1)
	f.quietEnd()
	if len(f.dead()) != 0 {
		t.Error("captured a message that a handler could do")
	}
}

func TestCaptureWaitsForItsStream(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})}
	f.publish(0, 5)
	f.start(capturing(f.hooks()), func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition { return jsconsumer.Retry(errBroken) })
	// Longer than all rungs together, so that only holding keeps the messages.
	f.until("failing for a while", func() bool { return f.count("capture failing") >= 16 })
	if i := f.info(); i.NumAckPending == 0 {
		t.Error("nothing is held")
	}
	f.dlq()
	f.until("captured", func() bool { return f.count("captured") == 5 })
	f.quietEnd()
	if d := cmp.Diff(wantCaptured(5), f.dead()); d != "" {
		t.Error(d)
	}
	if n := f.info().Delivered.Consumer; n != 15 {
		t.Errorf("%d deliveries, want two attempts and one that was held, of each", n)
	}
}

// TestStopsBurnNothing restarts three times a consumer of max_deliver 3.
func TestStopsBurnNothing(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})}
	f.publish(0, 50)
	for range 3 {
		var n atomic.Int64
		f.start(jsconsumer.Config{
			Expires: time.Second, Hooks: f.hooks(), Workers: 1,
			Consumer: jetstream.ConsumerConfig{MaxDeliver: 3, AckWait: 2 * time.Second},
		}, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
			f.saw(d.Data())
			n.Add(1)
			return jsconsumer.Retry(errBroken)
		})
		f.until("a few", func() bool { return n.Load() >= 3 })
		f.must(f.stop())
	}
	delivered := f.info().Delivered
	f.mu.Lock()
	defer f.mu.Unlock()
	if total := sum(f.seen); uint64(total) != delivered.Consumer {
		t.Errorf("%d deliveries were sent, and handlers saw %d", delivered.Consumer, total)
	}
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

func TestRetryAfterIsExact(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})}
	f.publish(0, 1)
	var mu sync.Mutex
	var at []time.Time
	const delay = 300 * time.Millisecond
	f.start(jsconsumer.Config{
		Expires: time.Second, Hooks: f.hooks(),
		Consumer: jetstream.ConsumerConfig{MaxDeliver: 4, BackOff: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
	}, func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition {
		mu.Lock()
		defer mu.Unlock()
		if at = append(at, time.Now()); len(at) == 4 {
			return jsconsumer.Ack()
		}
		return jsconsumer.RetryAfter(delay, errBroken)
	})
	f.until("four attempts", func() bool { mu.Lock(); defer mu.Unlock(); return len(at) == 4 })
	f.quietEnd()
	for i := 1; i < len(at); i++ {
		// The nearest rival is a nak whose ladder was not made up for: a second more.
		if got := at[i].Sub(at[i-1]); got < delay || got > delay+500*time.Millisecond {
			t.Errorf("attempt %d came %v after the one before, want %v", i+1, got, delay)
		}
	}
}

func TestLease(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})}
	f.publish(0, 1)
	first, again := make(chan error, 1), make(chan struct{}, 1)
	release, disposed := make(chan struct{}), make(chan bool, 1)
	hooks := jsconsumer.Join(f.hooks(), jsconsumer.Hooks{Disposed: func(d jsconsumer.Disposed) {
		if d.Delivery.Attempt() == 1 {
			disposed <- d.Sent
		}
	}})
	f.start(jsconsumer.Config{
		Expires: time.Second, Hooks: hooks, Workers: 2, StuckAfter: 200 * time.Millisecond,
		Consumer: jetstream.ConsumerConfig{AckWait: 500 * time.Millisecond},
	}, func(ctx context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		switch d.Attempt() {
		case 1:
		case 2:
			close(release)
			if <-disposed {
				t.Error("a late nak was sent")
			}
			select { // it would count while this delivery is pending
			case <-again:
			case <-time.After(300 * time.Millisecond):
			}
			return jsconsumer.Ack()
		default:
			again <- struct{}{}
			return jsconsumer.Ack()
		}
		<-ctx.Done()
		first <- ctx.Err()
		<-release
		return jsconsumer.RetryAfter(time.Millisecond, errBroken) // a nak, too late
	})
	if err := <-first; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the context ended with %v", err)
	}
	f.waitFor("lease lost 1")
	<-release
	f.quietEnd()
	if i := f.info(); i.NumAckPending != 0 || i.Delivered.Consumer != 2 {
		t.Errorf("pending %d after %d deliveries: a late nak was sent", i.NumAckPending, i.Delivered.Consumer)
	}
}

func TestHeartbeatKeepsTheLease(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})}
	f.publish(0, 1)
	f.start(jsconsumer.Config{
		Expires: time.Second, Hooks: f.hooks(), Workers: 2,
		Consumer: jetstream.ConsumerConfig{AckWait: 400 * time.Millisecond},
		Handling: timingcontract.Handler{Heartbeat: timingcontract.Heartbeat{Every: 150 * time.Millisecond}},
	}, func(ctx context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		select {
		case <-ctx.Done():
			f.note("ended")
		case <-time.After(1500 * time.Millisecond): // the work
		}
		f.saw(d.Data())
		return jsconsumer.Ack()
	})
	f.sees(0, 1)
	f.quietEnd()
	if f.has("ended") || f.info().Delivered.Consumer != 1 {
		t.Errorf("delivered %d times\n%s", f.info().Delivered.Consumer, strings.Join(f.all(), "\n"))
	}
}

func TestPanicIsARetry(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})}
	f.publish(0, 1)
	f.start(jsconsumer.Config{Expires: time.Second, Hooks: f.hooks(), Consumer: jetstream.ConsumerConfig{AckWait: 300 * time.Millisecond}},
		func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
			if d.Attempt() == 1 {
				panic("oh")
			}
			f.saw(d.Data())
			return jsconsumer.Ack()
		})
	f.sees(0, 1)
	f.waitFor("panicked oh")
	f.quietEnd()
}

func TestKeysAreInOrder(t *testing.T) {
	t.Parallel()
	f := &fault{bench: on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})}
	f.publish(0, 300)
	var mu sync.Mutex
	busy, last := map[string]bool{}, map[string]uint64{}
	var parallel, most atomic.Int64
	key := func(d jsconsumer.Delivery) string { return string(d.Data()[len(d.Data())-1:]) }
	f.start(jsconsumer.Config{Expires: time.Second, Hooks: f.hooks(), Workers: 8, Key: key}, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		k := key(d)
		mu.Lock()
		if busy[k] || d.Sequence() < last[k] {
			f.note("out of order: %d", d.Sequence())
		}
		busy[k], last[k] = true, d.Sequence()
		mu.Unlock()
		most.Store(max(most.Load(), parallel.Add(1)))
		time.Sleep(time.Millisecond) // the work
		parallel.Add(-1)
		mu.Lock()
		busy[k] = false
		mu.Unlock()
		f.saw(d.Data())
		return jsconsumer.Ack()
	})
	f.sees(0, 300)
	f.quietEnd()
	if f.has("out of order") || most.Load() < 2 {
		t.Errorf("at most %d at a time\n%s", most.Load(), strings.Join(f.all(), "\n"))
	}
}

func TestRefusesABreachedContract(t *testing.T) {
	t.Parallel()
	c := natstest.Start(t).Client
	_, err := jsconsumer.New(c.JS, jsconsumer.Config{
		Stream: "S", DrainTimeout: -1,
		Consumer: jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: 2, BackOff: []time.Duration{1, 2, 3}},
	}, nil)
	if _, ok := errors.AsType[*timingcontract.BreachError](err); !ok {
		t.Fatalf("no breach in %v", err)
	}
	for _, want := range []string{"no handler", "a negative duration", "ladder-too-long"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing of %q in %v", want, err)
		}
	}
}
