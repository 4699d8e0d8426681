package jsconsumer_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

// TestLegacyFetchHoldsABatchBack is why the fleet's pool is eight loops and no batch
// of eight. Fetch of more than one asks with no_wait first, and is done when the
// broker says that there is no more (404). If it is told 408 Requests Pending, since
// the pull of an earlier Fetch is open and messages are there, it asks again without
// no_wait. That pull may outlast its Fetch, and what it brings to the next one comes
// with no 404: the next one waits for a full batch, or until the time is up.
// Under load it takes a race for that; here a pause makes it certain.
func TestLegacyFetchHoldsABatchBack(t *testing.T) {
	t.Parallel()
	b := on(t, natstest.Start(t).Client).stream(jetstream.StreamConfig{})
	sub, err := b.Legacy.PullSubscribe("s.>", "d")
	b.must(err)
	open := func(n int) func() bool { return func() bool { return b.info().NumWaiting == n } }

	early, cancel := context.WithTimeout(t.Context(), time.Minute)
	first := fetch(sub, nats.Context(early))
	b.until("a pull is open", open(1))
	cancel()
	if got := <-first; len(got.msgs) > 0 {
		t.Fatalf("%d messages", len(got.msgs))
	}

	_, err = b.JS.PauseConsumer(t.Context(), "S", "d", time.Now().Add(time.Hour))
	b.must(err)
	b.publish(0, 2)
	second := fetch(sub, nats.MaxWait(5*time.Second))
	b.until("the pulls of both are open", open(2))
	_, err = b.JS.ResumeConsumer(t.Context(), "S", "d")
	b.must(err)
	if got := <-second; len(got.msgs) != 2 {
		t.Fatalf("%d messages, %v", len(got.msgs), got.err)
	}

	third := fetch(sub, nats.MaxWait(5*time.Second))
	b.until("the second one's last pull is open, and the third one's", open(2))
	b.publish(2, 3)
	b.until("the message is sent", func() bool { return b.info().NumAckPending == 3 })
	sent := time.Now()
	if got := <-third; len(got.msgs) != 1 || got.at.Sub(sent) < time.Second {
		t.Errorf("%d messages %v after the message was sent, %v; want one, when the time is up", len(got.msgs), got.at.Sub(sent), got.err)
	}
}

type fetched struct {
	msgs []*nats.Msg
	err  error
	at   time.Time
}

func fetch(sub *nats.Subscription, wait nats.PullOpt) <-chan fetched {
	got := make(chan fetched, 1)
	go func() {
		msgs, err := sub.Fetch(8, wait)
		got <- fetched{msgs, err, time.Now()}
	}()
	return got
}
