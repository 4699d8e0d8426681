package jsconsumer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
	"github.com/natsmig/natsmig/readiness"
)

// diary writes down what a runner's hooks are told, and what its handler saw.
type diary struct {
	mu    sync.Mutex
	lines []string
	seen  map[string]int // payload -> times
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

func (d *diary) has(line string) bool {
	return slices.ContainsFunc(d.all(), func(l string) bool { return strings.HasPrefix(l, line) })
}

func (d *diary) count(line string) (n int) {
	for _, l := range d.all() {
		if strings.HasPrefix(l, line) {
			n++
		}
	}
	return n
}

func (d *diary) saw(data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[string]int{}
	}
	d.seen[string(data)]++
}

func (d *diary) sawAll(from, to int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := from; i < to; i++ {
		if d.seen[fmt.Sprint(i)] == 0 {
			return false
		}
	}
	return true
}

func (d *diary) hooks() jsconsumer.Hooks {
	trouble := func(name string) func(jsconsumer.Trouble) {
		return func(t jsconsumer.Trouble) { d.note("%s %s: %v", name, readiness.Classify(t.Err), t.Err) }
	}
	return jsconsumer.Hooks{
		Bound:        func(jsconsumer.Bound) { d.note("bound") },
		Report:       func(r jsconsumer.Report) { d.note("report %s %s: %v", r.Kind, r.Class, r.Err) },
		Lost:         trouble("lost"),
		Disturbed:    trouble("disturbed"),
		Rejected:     trouble("rejected"),
		Denied:       trouble("denied"),
		Throttled:    trouble("throttled"),
		Breached:     trouble("breached"),
		Recreated:    func(r jsconsumer.Recreated) { d.note("recreated floor %d", r.Floor) },
		RolledBack:   func(r jsconsumer.Recreated) { d.note("rolled back floor %d", r.Floor) },
		Exhausted:    func(e jsconsumer.Exhausted) { d.note("exhausted %d captured %v: %v", e.Sequence, e.Captured, e.Err) },
		SweepFailing: trouble("sweep failing"),
		Captured:     func(c jsconsumer.Captured) { d.note("captured %d %s", c.Delivery.Sequence(), c.Reason) },
		CaptureFailing: func(c jsconsumer.CaptureFailing) {
			d.note("capture failing %d: %v", c.Delivery.Sequence(), c.Err)
		},
		LeaseLost:    func(m jsconsumer.Message) { d.note("lease lost %d", m.Delivery.Sequence()) },
		Stuck:        func(m jsconsumer.Message) { d.note("stuck %d", m.Delivery.Sequence()) },
		Panicked:     func(p jsconsumer.Panicked) { d.note("panicked %v", p.Value) },
		DrainStarted: func(jsconsumer.About) { d.note("drain started") },
		DrainEnded:   func(r jsconsumer.DrainReport) { d.note("drain ended held %d asked %d", r.Held, r.Asked) },
	}
}

// fault is a runner with a diary, on a stream of 100 messages of which the first
// ones were handled.
type fault struct {
	*bench
	diary
	gate chan struct{} // if set, handlers wait for it
}

func faulty(t *testing.T, p place, config jsconsumer.Config, gate chan struct{}) *fault {
	t.Helper()
	f := &fault{bench: p.bench(t), gate: gate}
	f.stream(jetstream.StreamConfig{})
	f.publish(0, 100)
	config.Hooks = f.hooks()
	if config.Expires == 0 {
		config.Expires = time.Second
	}
	f.start(config, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		f.saw(d.Data())
		if f.gate != nil {
			<-f.gate
		}
		return jsconsumer.Ack()
	})
	f.until("bound", func() bool { return f.has("bound") })
	return f
}

func (f *fault) waitFor(line string) {
	f.t.Helper()
	natstest.Eventually(f.t, 40*time.Second, func() error {
		if f.has(line) {
			return nil
		}
		return fmt.Errorf("no %q in\n%s\n%+v", line, strings.Join(f.all(), "\n"), f.r.Status())
	})
}

func (f *fault) ready(want bool) {
	f.t.Helper()
	natstest.Eventually(f.t, 40*time.Second, func() error {
		if s := f.r.Status().Readiness; s.Ready != want {
			return fmt.Errorf("ready %v: %+v\n%s", s.Ready, s, strings.Join(f.all(), "\n"))
		}
		return nil
	})
}

func (f *fault) sees(from, to int) {
	f.t.Helper()
	natstest.Eventually(f.t, 40*time.Second, func() error {
		if f.sawAll(from, to) {
			return nil
		}
		return fmt.Errorf("messages %d to %d were not all seen\n%s\n%+v", from, to, strings.Join(f.all(), "\n"), f.r.Status())
	})
}

// quietEnd stops the runner, which must be no error and tell of none.
func (f *fault) quietEnd() {
	f.t.Helper()
	loud := f.count("report loud")
	if err := f.stop(); err != nil {
		f.t.Error(err)
	}
	if f.count("report loud") != loud {
		f.t.Errorf("a false error on shutdown:\n%s", strings.Join(f.all(), "\n"))
	}
	if !f.has("drain ended held 0 asked 0") {
		f.t.Errorf("no clean end of the drain:\n%s", strings.Join(f.all(), "\n"))
	}
}

// place is an account of a broker: one server, or a cluster with replicas.
type place struct {
	all      *natstest.Client
	some     *natstest.Client // may not publish to $JS.ACK
	replicas int
}

func (p place) bench(t *testing.T) *bench {
	b := on(t, p.all)
	b.replicas = p.replicas
	return b
}

// faults are what can happen, beside what only a server of one's own can suffer.
var faults = []struct {
	name string
	run  func(t *testing.T, p place)
}{
	{"consumer deleted", consumerDeleted},
	{"consumer deleted, recreate from floor", consumerDeletedRecreateFromFloor},
	{"consumer deleted while busy", consumerDeletedWhileBusy},
	{"consumer replaced while busy", consumerReplacedWhileBusy(jsconsumer.Never)},
	{"consumer replaced while busy, recreate afresh", consumerReplacedWhileBusy(jsconsumer.Afresh)},
	{"ack for a consumer that was replaced", staleAck},
	{"stream deleted", streamDeleted},
	{"connection closed", connectionClosed},
	{"immutable conflict", immutableConflict},
	{"durable appears late", durableAppearsLate},
	{"max_batch is kept", maxBatchIsKept},
	{"max_waiting is told", maxWaitingIsTold},
	{"ack denied", ackDenied},
}

// accounts has one account for each fault.
func accounts() (all []natstest.Account) {
	for i := range faults {
		all = append(all, natstest.Account{Name: fmt.Sprintf("F%d", i), Users: []natstest.User{
			{Name: fmt.Sprintf("all%d", i), Password: "x"},
			{Name: fmt.Sprintf("some%d", i), Password: "x", Publish: natstest.Permission{Allow: []string{"$JS.API.>", "s.>"}}},
		}})
	}
	return all
}

// suffer runs every fault in an account of its own.
func suffer(t *testing.T, b *natstest.Broker, replicas int) {
	t.Helper()
	for i, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			user := func(name string) *natstest.Client { return b.Connect(nats.UserInfo(fmt.Sprintf("%s%d", name, i), "x")) }
			fault.run(t, place{all: user("all"), some: user("some"), replicas: replicas})
		})
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithAccounts(accounts()...), natstest.WithUser("all0", "x"))
	suffer(t, s.Broker, 1)
}

func TestFaultsOnACluster(t *testing.T) {
	c := natstest.StartCluster(t, 3, natstest.WithAccounts(accounts()...), natstest.WithUser("all0", "x"))
	suffer(t, c.Brokers[0], 3)
}

func consumerDeleted(t *testing.T, p place) {
	t.Helper()
	f := faulty(t, p, jsconsumer.Config{}, nil)
	f.sees(0, 100)
	f.ready(true)
	f.must(f.JS.DeleteConsumer(t.Context(), "S", "d"))
	f.waitFor("lost missing-consumer")
	f.waitFor("report loud missing-consumer")
	f.ready(false)
	// Somebody creates it again: that is another consumer, and nobody said that its
	// position may be taken for that of the first.
	f.create(jetstream.DeliverAllPolicy)
	f.publish(100, 101)
	f.waitFor("report quiet transient: consumer was deleted and created again")
	if f.sawAll(100, 101) || f.r.Status().Readiness.Ready {
		t.Error("consumed from a consumer that is another one")
	}
	f.quietEnd()
}

func consumerDeletedRecreateFromFloor(t *testing.T, p place) {
	t.Helper()
	f := faulty(t, p, jsconsumer.Config{Recreate: jsconsumer.FromFloor, Inspect: 50 * time.Millisecond}, nil)
	f.sees(0, 100)
	f.until("the floor is known", func() bool { return f.r.Status().Floor.Sequence == 100 })
	f.must(f.JS.DeleteConsumer(t.Context(), "S", "d"))
	f.waitFor("recreated floor 100")
	f.publish(100, 110)
	f.sees(100, 110)
	f.ready(true)
	if c := f.info().Config; c.OptStartSeq != 101 {
		t.Errorf("starts at %d, want 101", c.OptStartSeq)
	}
	if f.seen["5"] != 1 {
		t.Error("message 5 came again")
	}
	f.quietEnd()
	// The next process declares deliver_policy all, which the broker refuses to set.
	again := &fault{bench: f.bench}
	again.start(jsconsumer.Config{Hooks: again.hooks(), Expires: time.Second}, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		again.saw(d.Data())
		return jsconsumer.Ack()
	})
	f.publish(110, 111)
	again.sees(110, 111)
	again.quietEnd()
}

func consumerDeletedWhileBusy(t *testing.T, p place) {
	t.Helper()
	gate := make(chan struct{})
	f := faulty(t, p, jsconsumer.Config{Recreate: jsconsumer.Afresh}, gate)
	f.sees(0, 1)
	f.must(f.JS.DeleteConsumer(t.Context(), "S", "d"))
	close(gate)
	f.waitFor("recreated")
	f.sees(0, 100)
	f.ready(true)
	f.quietEnd()
}

func consumerReplacedWhileBusy(policy jsconsumer.Recreate) func(*testing.T, place) {
	return func(t *testing.T, p place) {
		t.Helper()
		gate := make(chan struct{})
		f := faulty(t, p, jsconsumer.Config{Recreate: policy}, gate)
		f.sees(0, 1)
		f.must(f.JS.DeleteConsumer(t.Context(), "S", "d"))
		f.create(jetstream.DeliverAllPolicy)
		close(gate)
		if policy == jsconsumer.Never {
			f.waitFor("lost transient: consumer was deleted and created again")
			f.ready(false)
		} else {
			f.waitFor("recreated")
			f.sees(0, 100)
			f.ready(true)
		}
		f.quietEnd()
	}
}

// staleAck: a handler is done with a message of the first consumer while the second
// has it in work, too.
func staleAck(t *testing.T, p place) {
	t.Helper()
	f := &fault{bench: p.bench(t).stream(jetstream.StreamConfig{})}
	f.publish(0, 1)
	var deliveries atomic.Int64
	gates := []chan struct{}{make(chan struct{}), make(chan struct{})}
	f.start(jsconsumer.Config{Hooks: f.hooks(), Workers: 2, Recreate: jsconsumer.Afresh, Expires: time.Second, Inspect: 50 * time.Millisecond},
		func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition {
			<-gates[deliveries.Add(1)-1]
			return jsconsumer.Ack()
		})
	f.until("with the first", func() bool { return deliveries.Load() == 1 })
	f.must(f.JS.DeleteConsumer(t.Context(), "S", "d"))
	f.until("with the second", func() bool { return deliveries.Load() == 2 })
	close(gates[0])
	f.until("decided", func() bool { return f.r.Status().Counts.Acked == 1 })
	f.must(f.NC.Flush())
	if i := f.info(); i.NumAckPending != 1 || f.r.Status().Counts.Stale != 1 {
		t.Errorf("%d pending, %d stale: the first consumer's ack was sent to the second", i.NumAckPending, f.r.Status().Counts.Stale)
	}
	close(gates[1])
	f.until("acknowledged", func() bool { return f.info().NumAckPending == 0 })
	f.quietEnd()
}

func streamDeleted(t *testing.T, p place) {
	t.Helper()
	f := faulty(t, p, jsconsumer.Config{Recreate: jsconsumer.FromFloor, Inspect: 50 * time.Millisecond}, nil)
	f.sees(0, 100)
	f.until("the floor is known", func() bool { return f.r.Status().Floor.Sequence == 100 })
	f.must(f.JS.DeleteStream(t.Context(), "S"))
	f.waitFor("lost missing-stream")
	f.ready(false)
	// Another stream of the name has its own numbers: the floor says nothing there.
	f.stream(jetstream.StreamConfig{})
	f.publish(200, 210)
	f.waitFor("recreated")
	f.sees(200, 210)
	f.ready(true)
	f.quietEnd()
}

func connectionClosed(t *testing.T, p place) {
	t.Helper()
	f := faulty(t, p, jsconsumer.Config{}, nil)
	f.sees(0, 100)
	f.NC.Close()
	if err := f.end(); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("Run returned %v", err)
	}
	f.ready(false)
}

func immutableConflict(t *testing.T, p place) {
	t.Helper()
	f := &fault{bench: p.bench(t).stream(jetstream.StreamConfig{})}
	f.create(jetstream.DeliverNewPolicy)
	f.start(jsconsumer.Config{Hooks: f.hooks()}, func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition { return jsconsumer.Ack() })
	err := f.end()
	var a *jetstream.APIError
	if !errors.As(err, &a) || a.ErrorCode != 10012 || !f.has("rejected rejected") || f.r.Status().Counts.SetUps != 1 {
		t.Errorf("Run returned %v\n%s", err, strings.Join(f.all(), "\n"))
	}
}

func durableAppearsLate(t *testing.T, p place) {
	t.Helper()
	f := &fault{bench: p.bench(t)}
	f.start(jsconsumer.Config{Hooks: f.hooks(), Provision: jsconsumer.BindOnly}, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		f.saw(d.Data())
		return jsconsumer.Ack()
	})
	f.waitFor("report quiet missing-stream")
	f.stream(jetstream.StreamConfig{})
	f.waitFor("report quiet missing-consumer")
	f.create(jetstream.DeliverAllPolicy)
	f.publish(0, 1)
	f.sees(0, 1)
	if f.has("report loud") {
		t.Errorf("loud within the start-up budget:\n%s", strings.Join(f.all(), "\n"))
	}
	f.ready(true)
	f.quietEnd()
}

func maxBatchIsKept(t *testing.T, p place) {
	t.Helper()
	f := faulty(t, p, jsconsumer.Config{
		Workers:  20,
		Consumer: jetstream.ConsumerConfig{MaxRequestBatch: 3, MaxRequestExpires: 500 * time.Millisecond},
	}, nil)
	f.sees(0, 100)
	// Narrowed while it runs: the pull that is refused is followed by a look.
	_, err := f.JS.UpdateConsumer(t.Context(), "S", jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, MaxRequestBatch: 2})
	f.must(err)
	f.publish(100, 200)
	f.sees(100, 200)
	f.ready(true)
	f.quietEnd()
}

func maxWaitingIsTold(t *testing.T, p place) {
	t.Helper()
	b := p.bench(t).stream(jetstream.StreamConfig{})
	_, err := b.JS.CreateConsumer(t.Context(), "S", jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, MaxWaiting: 1})
	b.must(err)
	inbox := b.NC.NewInbox()
	blocked, err := b.NC.SubscribeSync(inbox)
	b.must(err)
	// More than once, for on a cluster the durable may not listen yet.
	b.until("the place is taken", func() bool {
		b.must(b.NC.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.S.d", inbox, []byte(`{"batch":1,"expires":3600000000000}`)))
		return b.info().NumWaiting == 1
	})
	f := &fault{bench: b}
	f.start(jsconsumer.Config{Hooks: f.hooks(), Provision: jsconsumer.BindOnly, Expires: time.Second}, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		f.saw(d.Data())
		return jsconsumer.Ack()
	})
	f.waitFor("throttled")
	f.ready(false)
	b.must(blocked.Unsubscribe())
	f.publish(0, 10)
	f.sees(0, 10)
	f.ready(true)
	f.quietEnd()
}

func ackDenied(t *testing.T, p place) {
	t.Helper()
	b := p.bench(t).stream(jetstream.StreamConfig{})
	b.publish(0, 5)
	f := &fault{bench: on(t, p.some)}
	f.start(jsconsumer.Config{
		Hooks: f.hooks(), Expires: time.Second, Workers: 4, Consumer: jetstream.ConsumerConfig{AckWait: 300 * time.Millisecond},
	}, func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition { return jsconsumer.Ack() })
	f.waitFor("denied denied")
	f.waitFor("report loud denied")
	f.ready(false)
	// Deliveries would go on for nothing, four with every pull that has ended, until
	// there are none left.
	time.Sleep(5 * time.Second)
	if n := b.info().Delivered.Consumer; n > 5 {
		t.Errorf("%d deliveries were spent", n)
	}
	f.cancel()
	_ = f.end()
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) create(policy jetstream.DeliverPolicy) {
	b.t.Helper()
	_, err := b.JS.CreateConsumer(b.t.Context(), "S", jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: policy})
	b.must(err)
}
