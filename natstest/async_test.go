package natstest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

// shop has a user who may do everything and two who lack one permission each.
func shop() natstest.Account {
	return natstest.Account{Name: "SHOP", Users: []natstest.User{
		{Name: "owner", Password: "pw"},
		{Name: "no-ack", Password: "pw", Publish: natstest.Permission{Deny: []string{"$JS.ACK.>"}}},
		{Name: "no-list", Password: "pw", Publish: natstest.Permission{Deny: []string{"$JS.API.CONSUMER.LIST.>"}}},
	}}
}

func isViolation(err error) bool { return errors.Is(err, nats.ErrPermissionViolation) }

// A user who cannot ack sees nothing but an asynchronous error: Ack succeeds.
func TestAsyncErrorsAreCollectedAndHandlerIsChained(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithAccounts(shop()), natstest.WithUser("owner", "pw"))
	stream, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S"})
	must(t, err)
	_, err = stream.CreateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy})
	must(t, err)
	_, err = s.JS.Publish(t.Context(), "S", nil)
	must(t, err)

	passedOn := make(chan error, 1)
	noAck := s.Connect(nats.UserInfo("no-ack", "pw"),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { passedOn <- err }))
	consumer, err := noAck.JS.Consumer(t.Context(), "S", "D")
	must(t, err)
	msg, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
	must(t, err)
	must(t, msg.Ack())

	got := noAck.WaitAsyncError(5*time.Second, isViolation)
	if !strings.Contains(got.Error(), "$JS.ACK.S.D.") {
		t.Errorf("collected: %v", got)
	}
	select {
	case err := <-passedOn:
		if !errors.Is(err, got.Err) {
			t.Errorf("the caller's handler got %v, collected is %v", err, got.Err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the caller's handler was not called")
	}
	if n := len(noAck.AsyncErrors()); n != 1 {
		t.Errorf("%d asynchronous errors, want 1: %v", n, noAck.AsyncErrors())
	}
	s.RequireNoAsyncErrors() // they belong to one client
}

func TestAsyncErrorNamesItsSubscription(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	sub, err := s.NC.SubscribeSync("full")
	must(t, err)
	must(t, sub.SetPendingLimits(1, -1))
	for range 3 {
		must(t, s.NC.Publish("full", nil))
	}
	got := s.WaitAsyncError(5*time.Second, func(err error) bool { return errors.Is(err, nats.ErrSlowConsumer) })
	if got.Subject != "full" || !strings.HasPrefix(got.Error(), `subscription on "full": `) {
		t.Errorf("got %q of subject %q", got.Error(), got.Subject)
	}
}

func TestRequireNoAsyncErrors(t *testing.T) {
	t.Parallel()
	fake := &fakeTB{TB: t}
	failures := fake.run(func() {
		s := natstest.Start(fake, natstest.WithAccounts(shop()), natstest.WithUser("no-list", "pw"))
		s.RequireNoAsyncErrors()
		fake.Errorf("marker")
		if err := s.NC.Publish("$JS.API.CONSUMER.LIST.S", nil); err != nil {
			fake.Errorf("publish: %v", err)
		}
		s.RequireNoAsyncErrors() // at once: the error is still on its way
	})
	fake.finish()
	if len(failures) != 2 || failures[0] != "marker" || !strings.Contains(failures[1], "CONSUMER.LIST") {
		t.Errorf("failures: %q", failures)
	}
}

func TestWaitAsyncErrorGivesUp(t *testing.T) {
	t.Parallel()
	fake := &fakeTB{TB: t}
	failures := fake.run(func() {
		s := natstest.Start(fake)
		_ = s.WaitAsyncError(50*time.Millisecond, isViolation)
		fake.Errorf("not reached")
	})
	fake.finish()
	if len(failures) != 1 || !strings.Contains(failures[0], "no matching asynchronous error after 50ms") {
		t.Errorf("failures: %q", failures)
	}
}
