package prove

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

// These are what the breaches say about the broker, seen on one.

// queue makes a stream with a durable on it.
func queue(t *testing.T, s *natstest.Server, sc jetstream.StreamConfig, cc jetstream.ConsumerConfig) (jetstream.Stream, jetstream.Consumer) {
	t.Helper()
	sc.Name, sc.Subjects = "Q", []string{"q"}
	stream, err := s.JS.CreateStream(t.Context(), sc)
	if err != nil {
		t.Fatal(err)
	}
	cc.Durable, cc.AckPolicy = "d", jetstream.AckExplicitPolicy
	cons, err := stream.CreateConsumer(t.Context(), cc)
	if err != nil {
		t.Fatal(err)
	}
	return stream, cons
}

func publish(t *testing.T, s *natstest.Server, n int) {
	t.Helper()
	for i := range n {
		if _, err := s.JS.Publish(t.Context(), "q", fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
}

func fetch(t *testing.T, cons jetstream.Consumer) jetstream.Msg {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m, err := cons.Next(jetstream.FetchContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// advisory subscribes to the advisories of the durable.
func advisory(t *testing.T, s *natstest.Server, what string) *nats.Subscription {
	t.Helper()
	sub, err := s.NC.SubscribeSync(advisories + what + ".Q.d")
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func info(t *testing.T, cons jetstream.Consumer) *jetstream.ConsumerInfo {
	t.Helper()
	in, err := cons.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestGivingUpWaitsForAPull: burning-nak. The count is looked at when the message
// is taken for a pull, after a nak and after a time-out alike. Only the time-out of
// a consumer with one delivery needs nobody, from 2.10 on: deliveryCount
// (consumer.go:5003) does not count the first delivery once there is a second.
func TestGivingUpWaitsForAPull(t *testing.T) {
	t.Parallel()
	onEachBroker(t, func(t *testing.T, o Options) {
		s := natstest.Start(t, natstest.WithBinary(o.Binary))
		alone := line(s.Version()) > 9
		for _, tc := range []struct {
			name       string
			maxDeliver int
			nak        bool
			needsPull  bool
		}{
			{"nak of the only delivery", 1, true, true},
			{"time-out of the only delivery", 1, false, !alone},
			{"nak of the last delivery", 2, true, true},
			{"time-out of the last delivery", 2, false, true},
		} {
			t.Run(tc.name, func(t *testing.T) { givesUp(t, s, tc.maxDeliver, tc.nak, tc.needsPull) })
		}
	})
}

func givesUp(t *testing.T, s *natstest.Server, maxDeliver int, nak, needsPull bool) {
	t.Helper()
	stream, cons := queue(t, s, jetstream.StreamConfig{}, jetstream.ConsumerConfig{MaxDeliver: maxDeliver, AckWait: 300 * time.Millisecond})
	defer s.JS.DeleteStream(context.WithoutCancel(t.Context()), stream.CachedInfo().Config.Name) //nolint:errcheck // the broker ends with the test
	gone := advisory(t, s, maxDeliveries)
	publish(t, s, 1)
	for n := range maxDeliver {
		m := fetch(t, cons)
		if !nak && n == maxDeliver-1 {
			break
		}
		if err := m.Nak(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := gone.NextMsg(1500 * time.Millisecond) // five times ack_wait
	if alone := err == nil; alone == needsPull {
		t.Fatalf("given up without a pull: %t", alone)
	}
	if !needsPull {
		return
	}
	if n := info(t, cons).NumAckPending; n != 1 {
		t.Errorf("%d pending, want the message to stay", n)
	}
	if _, err := cons.Fetch(1, jetstream.FetchMaxWait(100*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := gone.NextMsg(10 * time.Second); err != nil {
		t.Errorf("no advisory after a pull: %v", err)
	}
}

// TestMaxAgeTerminates: outlives-max-age. What vanishes is told as terminated, and
// never as delivered too often.
func TestMaxAgeTerminates(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	_, cons := queue(t, s, jetstream.StreamConfig{MaxAge: time.Second}, jetstream.ConsumerConfig{MaxDeliver: 3, AckWait: 700 * time.Millisecond})
	gone, vanished := advisory(t, s, maxDeliveries), advisory(t, s, msgTerminated)
	publish(t, s, 1)
	fetch(t, cons)
	m, err := vanished.NextMsg(20 * time.Second)
	if err != nil {
		t.Fatalf("no MSG_TERMINATED: %v", err)
	}
	var a struct{ Reason string }
	if err := json.Unmarshal(m.Data, &a); err != nil || a.Reason != "Unacknowledged message was deleted" {
		t.Errorf("reason %q, %v", a.Reason, err)
	}
	if m, err := gone.NextMsg(1500 * time.Millisecond); err == nil {
		t.Errorf("MAX_DELIVERIES all the same: %s", m.Data)
	}
}

// TestStranded: stranded-messages. A work queue keeps what is given up, and no
// consumer gets it.
func TestStranded(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	stream, cons := queue(t, s, jetstream.StreamConfig{Retention: jetstream.WorkQueuePolicy}, jetstream.ConsumerConfig{MaxDeliver: 1, AckWait: 300 * time.Millisecond})
	gone := advisory(t, s, maxDeliveries)
	publish(t, s, 1)
	fetch(t, cons)
	if _, err := gone.NextMsg(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	in, err := stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := info(t, cons)
	if in.State.Msgs != 1 || c.NumPending != 0 || c.NumAckPending != 0 {
		t.Errorf("%d stored, %d pending, %d outstanding; want 1, 0, 0", in.State.Msgs, c.NumPending, c.NumAckPending)
	}
}

// TestDelayedNaksFillAckPending: full-ack-pending. With two places and two delayed
// naks the third message waits for the first of them.
func TestDelayedNaksFillAckPending(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	_, cons := queue(t, s, jetstream.StreamConfig{}, jetstream.ConsumerConfig{MaxAckPending: 2, AckWait: time.Minute})
	publish(t, s, 3)
	begin := time.Now()
	const wait = 2 * time.Second
	for range 2 {
		if err := fetch(t, cons).NakWithDelay(wait); err != nil {
			t.Fatal(err)
		}
	}
	next := fetch(t, cons)
	if took := time.Since(begin); took < wait {
		t.Errorf("%s came after %v, while both places were taken", next.Data(), took)
	}
}

// TestPrefetchTimesOut: deep-prefetch. Messages that wait in the client's buffer
// are delivered again before they are looked at.
func TestPrefetchTimesOut(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	_, cons := queue(t, s, jetstream.StreamConfig{}, jetstream.ConsumerConfig{AckWait: 500 * time.Millisecond})
	const messages = 5
	publish(t, s, messages)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	batch, err := cons.Fetch(messages, jetstream.FetchContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	var last jetstream.Msg
	for m := range batch.Messages() {
		last = m // and all of them wait in the process
	}
	again := fetch(t, cons) // for longer than ack_wait
	for _, m := range []jetstream.Msg{last, again} {
		meta, err := m.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]uint64{true: 2, false: 1}[m == again]; meta.NumDelivered != want {
			t.Errorf("delivery %d of message %d, want %d", meta.NumDelivered, meta.Sequence.Stream, want)
		}
	}
}

// TestLateAck: an acknowledgment of the first delivery settles the message while
// later deliveries of it are at work; a message is handled three times and not
// given up.
func TestLateAck(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	_, cons := queue(t, s, jetstream.StreamConfig{}, jetstream.ConsumerConfig{MaxDeliver: 5, AckWait: 500 * time.Millisecond})
	gone := advisory(t, s, maxDeliveries)
	publish(t, s, 1)
	first := fetch(t, cons)
	fetch(t, cons)
	fetch(t, cons)
	if err := first.DoubleAck(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := info(t, cons).NumAckPending; n != 0 {
		t.Errorf("%d outstanding after a late ack", n)
	}
	if m, err := gone.NextMsg(1500 * time.Millisecond); err == nil {
		t.Errorf("given up after a late ack: %s", m.Data)
	}
}

// TestLateNak: a nak of the first delivery brings the message again while the
// second is at work; once it is given up a nak does nothing.
func TestLateNak(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	_, cons := queue(t, s, jetstream.StreamConfig{}, jetstream.ConsumerConfig{MaxDeliver: 3, BackOff: []time.Duration{300 * time.Millisecond, 10 * time.Second, time.Second}})
	gone := advisory(t, s, maxDeliveries)
	publish(t, s, 1)
	first := fetch(t, cons)
	fetch(t, cons)
	begin := time.Now()
	if err := first.Nak(); err != nil {
		t.Fatal(err)
	}
	third := fetch(t, cons)
	if meta, err := third.Metadata(); err != nil || meta.NumDelivered != 3 || time.Since(begin) > 5*time.Second {
		t.Errorf("delivery %+v after %v, %v; want the third, long before its rung", meta, time.Since(begin), err)
	}
	if m, err := cons.Next(jetstream.FetchMaxWait(5 * time.Second)); err == nil {
		t.Fatalf("more than three deliveries: %v", m.Headers())
	}
	if _, err := gone.NextMsg(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	if err := third.Nak(); err != nil {
		t.Fatal(err)
	}
	if m, err := cons.Next(jetstream.FetchMaxWait(1500 * time.Millisecond)); err == nil {
		t.Errorf("a nak of a message that is given up brings it again: %v", m.Headers())
	}
}

// TestIdleConsumerWaitsForItsPending: deleted-when-idle. From 2.11 on a retry that
// is waited for keeps a durable that nobody pulls from.
func TestIdleConsumerWaitsForItsPending(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	_, cons := queue(t, s, jetstream.StreamConfig{}, jetstream.ConsumerConfig{AckWait: 30 * time.Second, InactiveThreshold: 500 * time.Millisecond})
	publish(t, s, 1)
	m := fetch(t, cons)
	deleted, err := s.NC.SubscribeSync(advisories + "DELETED.Q.d")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := deleted.NextMsg(2 * time.Second); err == nil { // four times the threshold
		t.Fatalf("deleted with a message pending: %s", m.Data)
	}
	if err := m.Ack(); err != nil {
		t.Fatal(err)
	}
	if _, err := deleted.NextMsg(20 * time.Second); err != nil {
		t.Errorf("not deleted though nothing is pending: %v", err)
	}
}
