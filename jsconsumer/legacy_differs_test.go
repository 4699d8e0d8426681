package jsconsumer_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
	"github.com/natsmig/natsmig/timingcontract"
)

// legacyOrphaned knows of no ladder, and the durable has one: the client compares
// many fields of a durable that exists, and backoff is not one of them.
func legacyOrphaned(ctx context.Context, js nats.JetStreamContext, durable string, handle legacyHandler) error {
	sub, err := js.PullSubscribe("s.>", durable, nats.AckWait(ladder()[0]), nats.MaxDeliver(4))
	if err != nil {
		return err
	}
	return fetchEach(ctx, sub, func(m *nats.Msg) error {
		if handle(m) != nil {
			return m.NakWithDelay(nakDelay) // and what the ladder adds
		}
		return m.Ack()
	})
}

func orphan(b *bench, durable string) {
	_, err := b.Legacy.AddConsumer("S", &nats.ConsumerConfig{
		Durable: durable, FilterSubject: "s.>", AckPolicy: nats.AckExplicitPolicy,
		BackOff: ladder(), MaxDeliver: 4, MaxAckPending: 65536,
	})
	b.must(err)
}

// runnerExact asks for the delay that the loop asked for, and gets it.
func runnerExact(js jetstream.JetStream, durable string, handle errorHandler) (*jsconsumer.Runner, error) {
	return retrying(js, durable, handle, func(jsconsumer.Delivery) time.Duration { return nakDelay })
}

// runnerOrphaned waits as long as the loop really did.
func runnerOrphaned(js jetstream.JetStream, durable string, handle errorHandler) (*jsconsumer.Runner, error) {
	live := timingcontract.Contract{Ladder: ladder()}
	return retrying(js, durable, handle, func(d jsconsumer.Delivery) time.Duration {
		return nakDelay + live.Rung(int(d.Attempt())) - live.Rung(1)
	})
}

func retrying(js jetstream.JetStream, durable string, handle errorHandler, after func(jsconsumer.Delivery) time.Duration) (*jsconsumer.Runner, error) {
	return jsconsumer.New(js, jsconsumer.Config{
		Stream: "S",
		Consumer: jetstream.ConsumerConfig{
			Durable: durable, FilterSubject: "s.>",
			BackOff: ladder(), MaxDeliver: 4, MaxAckPending: 65536,
		},
	}, func(ctx context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		if err := handle(ctx, d); err != nil {
			return jsconsumer.RetryAfter(after(d), err)
		}
		return jsconsumer.Ack()
	})
}

func legacyCapturedAtOnce(ctx context.Context, js nats.JetStreamContext, durable string, handle legacyHandler) error {
	sub, err := js.PullSubscribe("s.>", durable, nats.BackOff(ladder()), nats.MaxDeliver(4))
	if err != nil {
		return err
	}
	return fetchEach(ctx, sub, func(m *nats.Msg) error {
		failed := handle(m)
		md, err := m.Metadata()
		if err != nil {
			return err
		}
		if failed != nil && md.NumDelivered == 4 {
			_, failed = js.Publish("dlq."+durable, m.Data)
		}
		if failed == nil {
			return m.Ack()
		}
		return nil
	})
}

func runnerCapturedAtOnce(js jetstream.JetStream, durable string, handle errorHandler) (*jsconsumer.Runner, error) {
	return jsconsumer.New(js, jsconsumer.Config{
		Stream: "S",
		Consumer: jetstream.ConsumerConfig{
			Durable: durable, FilterSubject: "s.>",
			BackOff: ladder(), MaxDeliver: 4 + 2, MaxAckPending: 65536,
		},
		Handling: timingcontract.Handler{Reserve: 2, Capture: "dlq." + durable},
	}, jsconsumer.HandlerFunc(handle))
}

func legacyPlainNak(ctx context.Context, js nats.JetStreamContext, durable string, handle legacyHandler) error {
	sub, err := js.PullSubscribe("s.>", durable, nats.BackOff(ladder()), nats.MaxDeliver(4))
	if err != nil {
		return err
	}
	return fetchEach(ctx, sub, func(m *nats.Msg) error {
		if handle(m) != nil {
			return m.Nak() // at once, whatever the ladder says
		}
		return m.Ack()
	})
}

// rivalsOfDelay are other explanations of what a delay came to, by delivery: a plain
// nak, the rung alone, the delay alone, and the ladder added in other ways.
func rivalsOfDelay(n int) []time.Duration {
	l := ladder()
	rung := l[min(n, len(l))-1]
	return []time.Duration{0, rung, nakDelay, nakDelay + rung, nakDelay + rung - l[0]}
}

// differences are migrations after which something is different, and what.
func differences() []migration {
	l := ladder()
	added := []time.Duration{nakDelay, nakDelay + l[1] - l[0], nakDelay + l[2] - l[0]}
	return []migration{
		{
			name: "an orphaned ladder adds to the delay, and to RetryAfter it does not",
			loop: legacyOrphaned, runner: runnerExact, prepare: orphan,
			script:    script{0, 1, never, 0, 2, 0},
			loopWaits: added, waits: []time.Duration{nakDelay, nakDelay, nakDelay}, rivals: rivalsOfDelay,
			onPurpose: func(o *observation) {
				resettle(o, "-NAK 1s", map[uint64]string{1: "-NAK 1s", 2: "-NAK -100ms", 3: "-NAK -1.9s", 4: ""})
			},
		},
		{
			name: "an orphaned ladder's waits, asked for",
			loop: legacyOrphaned, runner: runnerOrphaned, prepare: orphan,
			script: script{0, 1, never, 0, 2, 0},
			waits:  added, rivals: rivalsOfDelay,
			onPurpose: noLastNak,
		},
		{
			name: "a capture at once has a reserve now",
			loop: legacyCapturedAtOnce, runner: runnerCapturedAtOnce,
			script: script{0, 1, never, 0, 2, never},
			waits:  ladder(), rivals: rungs,
			onPurpose: func(o *observation) {
				withHeaders(o)
				for _, message := range []int{2, 5} {
					o.Steps[message][3].Settled = ""
					o.Steps[message] = append(o.Steps[message], step{Delivery: 5, Settled: "+ACK"})
					o.Broker.Deliveries++
				}
			},
			reconfigured: func(c *jetstream.ConsumerConfig) { c.MaxDeliver += 2 },
		},
		{
			name: "a plain nak is not to be had",
			loop: legacyPlainNak, runner: runnerSerial,
			script:    script{0, 1, never, 0, 2, 0},
			loopWaits: []time.Duration{0, 0, 0}, waits: ladder(), rivals: rungs,
			onPurpose: func(o *observation) {
				resettle(o, "-NAK", nil)
				o.Broker.AckFloor = 2 // it passes an exhausted message with the next ack, and none comes
			},
		},
	}
}

// resettle replaces what was sent, by delivery.
func resettle(o *observation, was string, is map[uint64]string) {
	for _, steps := range o.Steps {
		for i := range steps {
			if steps[i].Settled == was {
				steps[i].Settled = is[steps[i].Delivery]
			}
		}
	}
}

// withHeaders makes of captured payloads what the runner publishes.
func withHeaders(o *observation) {
	headers := nats.Header{}
	for _, name := range []string{
		jsconsumer.HeaderStream, jsconsumer.HeaderConsumer, jsconsumer.HeaderSubject, jsconsumer.HeaderSequence,
		jsconsumer.HeaderDeliveries, jsconsumer.HeaderStored, jsconsumer.HeaderTime, jsconsumer.HeaderReason, jsconsumer.HeaderError,
		jetstream.MsgIDHeader,
	} {
		headers.Set(name, "")
	}
	was := o.Captured
	o.Captured = map[string]int{}
	for payload, n := range was {
		o.Captured[told(headers, payload)] = n
	}
}

// TestRunnerDiffersOnPurpose is what a migration changes, all of it: apart from what
// is told the two do the same.
func TestRunnerDiffersOnPurpose(t *testing.T) {
	t.Parallel()
	play(t, differences())
}

// legacyBatched is the other kind of pool.
func legacyBatched(ctx context.Context, js nats.JetStreamContext, durable string, handle legacyHandler) error {
	sub, err := js.PullSubscribe("s.>", durable, nats.BackOff(ladder()), nats.MaxDeliver(4))
	if err != nil {
		return err
	}
	return fetchBatches(ctx, sub, 8, func(batch []*nats.Msg) error {
		var handlers sync.WaitGroup
		for _, m := range batch {
			handlers.Go(func() {
				if handle(m) == nil {
					_ = m.Ack()
				}
			})
		}
		handlers.Wait() // for the slowest
		return nil
	})
}

// TestPoolDoesNotWaitForItsSlowest has a handler that works until it is released.
// Before the loop asks for more messages it waits for all of a batch.
func TestPoolDoesNotWaitForItsSlowest(t *testing.T) {
	t.Parallel()
	b := on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})
	b.publish(0, 20)
	slow := make(chan struct{})
	var others [2]atomic.Int64
	handle := func(data []byte, others *atomic.Int64) {
		if string(data) == "0" {
			<-slow
		} else {
			others.Add(1)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() {
		ended <- legacyBatched(ctx, b.Legacy, "d", func(m *nats.Msg) error {
			handle(m.Data, &others[0])
			return nil
		})
	}()
	r, err := runnerPooled(b.JS, "runner", func(_ context.Context, d jsconsumer.Delivery) error {
		handle(d.Data(), &others[1])
		return nil
	})
	b.must(err)
	go func() { ended <- r.Run(ctx) }()
	b.until("the runner has handled the others", func() bool { return others[1].Load() == 19 })
	b.until("the loop has acknowledged the others of its batch", func() bool { return others[0].Load() == 7 && b.info().NumAckPending == 1 })
	if i := b.info(); i.NumWaiting != 0 || i.NumPending != 12 {
		t.Errorf("%d pulls wait, %d messages are to come: the loop asks for more", i.NumWaiting, i.NumPending)
	}
	close(slow)
	cancel()
	b.must(errors.Join(<-ended, <-ended))
}
