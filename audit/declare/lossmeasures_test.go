package declare_test

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

// gone applies the change and counts what the stream holds less.
func gone(l *losing) uint64 {
	l.t.Helper()
	l.apply()
	return l.before - l.messages()
}

// goneWithNext is gone, after another message on the two subjects that are over
// their limit: it pushes out one more each.
func goneWithNext(l *losing) uint64 {
	l.t.Helper()
	if n := gone(l); n > 0 {
		l.t.Errorf("%d are gone at once", n)
	}
	l.publish("s.a", 1)
	l.publish("s.b", 1)
	return l.before + 2 - l.messages() - 2
}

// goneInTime is gone, where a timer of the broker does it.
func goneInTime(l *losing) uint64 {
	l.t.Helper()
	l.apply()
	natstest.Eventually(l.t, 10*time.Second, func() error {
		if n := l.messages(); n > 0 {
			return fmt.Errorf("%d are left", n)
		}
		return nil
	})
	return l.before
}

// roomAfter deletes one message after the other until one can be published, and
// tells how many there were before the last that had to go.
func roomAfter(l *losing) uint64 {
	l.t.Helper()
	l.apply()
	s, err := l.s.JS.Stream(l.t.Context(), "S")
	if err != nil {
		l.t.Fatal(err)
	}
	for n := uint64(0); n <= l.before; n++ {
		if _, err := l.s.JS.Publish(l.t.Context(), "s.a", nil); err == nil {
			return l.before - n + 1
		}
		if err := s.DeleteMsg(l.t.Context(), n+1); err != nil {
			l.t.Fatal(err)
		}
	}
	return l.before
}

// gotByBoth applies the change and counts what both consumers are handed.
func gotByBoth(l *losing) (n uint64) {
	l.t.Helper()
	l.apply()
	seen := map[uint64]bool{}
	for _, consumer := range []string{"c", "d"} {
		for _, m := range l.fetch(consumer, 100, 300*time.Millisecond) {
			meta, err := m.Metadata()
			if err != nil {
				l.t.Fatal(err)
			}
			if seen[meta.Sequence.Stream] {
				n++
			}
			seen[meta.Sequence.Stream] = true
		}
	}
	return n
}

// notDelivered applies the change and counts the messages on s.b that the
// consumer does not get.
func notDelivered(l *losing) uint64 {
	l.t.Helper()
	l.apply()
	var all, got uint64
	for _, subject := range l.stored {
		if subject == "s.b" {
			all++
		}
	}
	for _, m := range l.fetch("c", 100, 300*time.Millisecond) {
		if m.Subject() == "s.b" {
			got++
		}
	}
	return all - got
}

// pendingOf counts what a new consumer would get.
func pendingOf(text string) func(*losing) uint64 {
	return func(l *losing) uint64 {
		l.t.Helper()
		d := plainConsumer.with(doc{"filter_subject": []byte(`"s.a"`)}).with(lossDoc(l.t, text))
		l.must(l.t, proof{}, create(d), sent(d, ""))
		c, err := l.s.JS.Consumer(l.t.Context(), "S", "new")
		if err != nil {
			l.t.Fatal(err)
		}
		return c.CachedInfo().NumPending
	}
}

// comesAgain counts what a new consumer with deliver_policy all would get that
// the live one has had.
func comesAgain(l *losing) uint64 {
	l.t.Helper()
	fresh := pendingOf(`{"durable_name":"new"}`)(l)
	c, err := l.s.JS.Consumer(l.t.Context(), "S", "c")
	if err != nil {
		l.t.Fatal(err)
	}
	return fresh - c.CachedInfo().NumPending
}

// anewOnWorkQueue makes the durable anew under another name, and counts what it
// would get.
func anewOnWorkQueue(l *losing) uint64 {
	l.t.Helper()
	if err := l.s.JS.DeleteConsumer(l.t.Context(), "S", "c"); err != nil {
		l.t.Fatal(err)
	}
	return pendingOf(`{"durable_name":"new"}`)(l)
}

// skippedByNew counts what the live consumer has to come, and a new one with
// deliver_policy new has not.
func skippedByNew(l *losing) uint64 {
	l.t.Helper()
	fresh := pendingOf(`{"durable_name":"new","deliver_policy":"new"}`)(l)
	c, err := l.s.JS.Consumer(l.t.Context(), "S", "c")
	if err != nil {
		l.t.Fatal(err)
	}
	info := c.CachedInfo()
	return info.NumPending + uint64(info.NumAckPending) - fresh
}

// goneWithConsumer deletes the durable and counts what the stream holds less.
func goneWithConsumer(l *losing) uint64 {
	l.t.Helper()
	if err := l.s.JS.DeleteConsumer(l.t.Context(), "S", "c"); err != nil {
		l.t.Fatal(err)
	}
	var left uint64
	natstest.Eventually(l.t, 10*time.Second, func() error {
		if left = l.messages(); left == l.before {
			return fmt.Errorf("all %d are there", left)
		}
		return nil
	})
	return l.before - left
}

// givenUp applies the change and counts the messages that the broker gives up
// without another attempt. It says so for each message at its deadline.
func givenUp(l *losing) (n uint64) {
	l.t.Helper()
	sub, err := l.nc.SubscribeSync("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.S.c")
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	l.apply()
	attempted := l.attempts()
	for {
		msg, err := sub.NextMsg(100 * time.Millisecond)
		if err != nil {
			return n
		}
		var advisory struct {
			Seq uint64 `json:"stream_seq"`
		}
		decode(l.t, msg.Data, &advisory)
		if !attempted[advisory.Seq] {
			n++
		}
	}
}

// attempts takes what is delivered, until nothing is outstanding any more, and
// settles none of it.
func (l *losing) attempts() map[uint64]bool {
	l.t.Helper()
	c, err := l.s.JS.Consumer(l.t.Context(), "S", "c")
	if err != nil {
		l.t.Fatal(err)
	}
	seen := make(chan uint64, 100)
	taking, err := c.Consume(func(m jetstream.Msg) {
		if meta, err := m.Metadata(); err == nil {
			seen <- meta.Sequence.Stream
		}
	})
	if err != nil {
		l.t.Fatal(err)
	}
	natstest.Eventually(l.t, 20*time.Second, func() error {
		info, err := c.Info(l.t.Context())
		if err != nil {
			return err
		}
		if info.NumAckPending > 0 || info.NumPending > 0 {
			return fmt.Errorf("%d outstanding, %d pending", info.NumAckPending, info.NumPending)
		}
		return nil
	})
	taking.Stop()
	<-taking.Closed()
	close(seen)
	all := map[uint64]bool{}
	for seq := range seen {
		all[seq] = true
	}
	return all
}
