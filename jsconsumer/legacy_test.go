package jsconsumer_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
)

// A migration is a legacy loop and the runner that takes its place. Both are put
// to the same script on the same broker, each on a durable of its own.
type migration struct {
	name   string
	loop   func(context.Context, nats.JetStreamContext, string, legacyHandler) error
	runner func(jetstream.JetStream, string, errorHandler) (*jsconsumer.Runner, error)
	script script
	meet   int // handlers that wait for each other in the beginning

	// waits are those after attempts that fail, and rivals what other explanations of
	// the wait after delivery n would come to.
	waits     []time.Duration
	loopWaits []time.Duration // if they are others
	rivals    func(n int) []time.Duration

	// prepare comes before the loop. onPurpose and reconfigured make of what the loop
	// does, and of its durable, what the runner does, where they differ.
	prepare      func(b *bench, durable string)
	onPurpose    func(*observation)
	reconfigured func(*jetstream.ConsumerConfig)
}

// rungs are the rivals of a ladder: a plain nak, ack_wait alone, another rung.
func rungs(int) []time.Duration { return append(ladder(), 0) }

func migrations() []migration {
	flat := []time.Duration{nakDelay, nakDelay, nakDelay}
	return []migration{
		{
			name: "serial", loop: legacySerial, runner: runnerSerial,
			script: script{0, 1, never, 0, 2, 0},
			waits:  ladder(), rivals: rungs,
		},
		{
			name: "pooled", loop: legacyPooled, runner: runnerPooled, meet: 8,
			script: script{0, 1, never, 0, 2, 0, 0, 3, 0, 0, 1, never, 0, 0, 0, 2, 0, 0, 0, 1},
			waits:  ladder(), rivals: rungs,
		},
		{
			name: "nak_scheduled", loop: legacyNakScheduled, runner: runnerNakScheduled,
			script: script{0, 1, never, 0, 2, 0},
			waits:  flat, rivals: func(int) []time.Duration { return []time.Duration{0, 2 * time.Second} },
			onPurpose: noLastNak,
		},
		{
			name: "captured", loop: legacyCaptured, runner: runnerCaptured,
			script: script{0, 1, never, 0, 2, never},
			waits:  ladder(), rivals: rungs,
			onPurpose: withHeaders,
		},
	}
}

// noLastNak leaves out a nak after which nothing comes: the runner sends none.
func noLastNak(o *observation) {
	for _, steps := range o.Steps {
		if last := &steps[len(steps)-1]; last.Delivery == 4 && last.Settled == "-NAK 1s" {
			last.Settled = ""
		}
	}
}

// TestRunnerDoesWhatTheLoopDid is the reference fleet's legacy loop, characterized,
// and the runner beside it.
func TestRunnerDoesWhatTheLoopDid(t *testing.T) {
	t.Parallel()
	play(t, migrations())
}

// play has all of them under way at a time: they take seconds, most of which they
// wait. The brokers are started before, so that none of it is a wait for them.
func play(t *testing.T, all []migration) {
	t.Helper()
	brokers, checks := make([]*natstest.Server, len(all)), make([]func(*testing.T), len(all))
	for i := range all {
		brokers[i] = all[i].broker(t)
	}
	for i := range all {
		checks[i] = all[i].start(t, brokers[i])
	}
	for i := range all {
		t.Run(all[i].name, checks[i])
	}
}

// broker has the messages of the script.
func (m *migration) broker(t *testing.T) *natstest.Server {
	t.Helper()
	s := natstest.Start(t)
	b := on(t, s.Client).stream(jetstream.StreamConfig{}).dlq()
	b.publish(0, len(m.script))
	if m.prepare != nil {
		m.prepare(b, "loop")
	}
	return s
}

func (m *migration) start(t *testing.T, s *natstest.Server) (check func(*testing.T)) {
	t.Helper()
	loop := m.observe(t, s, "loop", func(ctx context.Context, c *natstest.Client, o *observer) error {
		return m.loop(ctx, c.Legacy, "loop", o.legacy)
	})
	runner := m.observe(t, s, "runner", func(ctx context.Context, c *natstest.Client, o *observer) error {
		r, err := m.runner(c.JS, "runner", o.migrated)
		if err != nil {
			return err
		}
		return r.Run(ctx)
	})
	return func(t *testing.T) {
		m.compare(t, loop.ended(t, s.Client, "loop"), runner.ended(t, s.Client, "runner"))
		b := on(t, s.Client)
		m.compareConfigured(t, configured(b, "loop"), configured(b, "runner"))
	}
}

// observe starts a consumer on a connection of its own. It ends with the test.
func (m *migration) observe(t *testing.T, s *natstest.Server, durable string, consume func(context.Context, *natstest.Client, *observer) error) *observer {
	t.Helper()
	o := observe(t, s.Client, durable, m.script, m.meet)
	ended, c := make(chan error, 1), s.Connect()
	go func() { ended <- consume(t.Context(), c, o) }()
	t.Cleanup(func() { // the context is done before
		if err := <-ended; err != nil {
			t.Errorf("%s: the %s ended with %v", m.name, durable, err)
		}
	})
	return o
}

// compare holds what the runner did against what the loop did, and both against
// what they should have done.
func (m *migration) compare(t *testing.T, loop, runner observation) {
	t.Helper()
	if m.loopWaits == nil {
		m.loopWaits = m.waits
	}
	m.inTime(t, "loop", &loop, m.loopWaits)
	m.inTime(t, "runner", &runner, m.waits)
	if !m.complete(t, &loop) {
		return
	}
	if m.onPurpose != nil {
		m.onPurpose(&loop)
	}
	if d := cmp.Diff(m.ordered(loop), m.ordered(runner), cmpopts.IgnoreUnexported(step{})); d != "" {
		t.Errorf("the runner does not do what the loop did (-loop +runner):\n%s", d)
	}
}

// ordered leaves out of the order of first attempts what chance decides: which of
// the messages that are handled at a time is looked at first.
func (m *migration) ordered(o observation) observation {
	o.First = slices.Clone(o.First)
	if m.meet > 0 {
		slices.Sort(o.First[:m.meet])
		o.First = o.First[:m.meet]
	}
	return o
}

// inTime holds the waits of a consumer against what they should be.
func (m *migration) inTime(t *testing.T, who string, o *observation, waits []time.Duration) {
	t.Helper()
	for message := range m.script {
		for i, got := range o.waits(message) {
			want := waits[i]
			if tolerance := m.tolerance(i+1, want); (got - want).Abs() > tolerance {
				t.Errorf("%s: message %d was retried %v after delivery %d, want %v ± %v", who, message, got, i+1, want, tolerance)
			}
		}
	}
}

// tolerance is half the way to the nearest rival.
func (m *migration) tolerance(n int, want time.Duration) time.Duration {
	nearest := time.Hour
	for _, rival := range m.rivals(n) {
		if rival != want {
			nearest = min(nearest, (rival - want).Abs())
		}
	}
	return nearest / 2
}

// complete holds the loop against the script, so that two consumers which do
// nothing are not alike.
func (m *migration) complete(t *testing.T, o *observation) bool {
	t.Helper()
	for message, fails := range m.script {
		want := uint64(fails + 1)
		if fails == never {
			want = 4
		}
		steps := o.Steps[message]
		if len(steps) == 0 || steps[len(steps)-1].Delivery != want || len(steps) != int(want) {
			t.Errorf("message %d fails %d times, and its deliveries were %+v", message, fails, steps)
		}
	}
	if want := max(m.meet, 1); o.AtOnce != want {
		t.Errorf("%d messages were handled at a time, want %d", o.AtOnce, want)
	}
	return !t.Failed()
}

func (m *migration) compareConfigured(t *testing.T, loop, runner jetstream.ConsumerConfig) {
	t.Helper()
	if m.reconfigured != nil {
		m.reconfigured(&loop)
	}
	if d := cmp.Diff(loop, runner); d != "" {
		t.Errorf("the runner's durable is not configured as the loop's (-loop +runner):\n%s", d)
	}
}

// configured is what the broker holds of a durable, but for its name.
func configured(b *bench, durable string) jetstream.ConsumerConfig {
	b.t.Helper()
	c, err := b.JS.Consumer(b.t.Context(), "S", durable)
	b.must(err)
	config := c.CachedInfo().Config
	config.Durable, config.Name = "", ""
	return config
}
