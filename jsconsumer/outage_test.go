package jsconsumer_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
)

func TestServerRestarted(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	f := faulty(t, place{all: s.Client}, jsconsumer.Config{Workers: 4}, nil)
	f.sees(0, 100)
	for i := range 3 {
		s.Restart()
		s.WaitConnected(10 * time.Second)
		f.publish(100+i*10, 110+i*10)
		f.sees(100+i*10, 110+i*10)
		if held, asked := f.r.Status().Working, f.r.Status().Asked; held+asked > 4 {
			t.Errorf("after reconnect %d: %d held and %d asked for, with 4 workers", i+1, held, asked)
		}
	}
	f.ready(true)
	if f.has("report loud") {
		t.Errorf("a restart is no failure:\n%s", strings.Join(f.all(), "\n"))
	}
	f.until("acknowledged", func() bool { return f.info().NumAckPending == 0 })
	f.quietEnd()
}

func TestMemoryStreamGone(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	f := &fault{bench: on(t, s.Client)}
	f.stream(jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Storage: jetstream.MemoryStorage})
	f.start(jsconsumer.Config{Hooks: f.hooks(), Expires: time.Second}, func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition { return jsconsumer.Ack() })
	f.waitFor("bound")
	s.Restart()
	f.waitFor("report loud missing-stream")
	f.ready(false)
	f.quietEnd()
}

// TestServerKilled kills a server that is a process of its own.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithBinary(self(t)))
	f := faulty(t, place{all: s.Client}, jsconsumer.Config{
		Workers: 4, Consumer: jetstream.ConsumerConfig{AckWait: 2 * time.Second}, // some acks die with the server
	}, nil)
	for i := range 3 {
		f.sees(0, 100+i*10)
		s.Kill()
		s.Restart()
		s.WaitConnected(10 * time.Second)
		f.publish(100+i*10, 110+i*10)
	}
	f.sees(0, 130)
	f.ready(true)
	if f.has("report loud") || f.has("lost") {
		t.Errorf("a server that is back soon is no failure:\n%s", strings.Join(f.all(), "\n"))
	}
	f.until("acknowledged", func() bool { return f.info().NumAckPending == 0 })
	f.quietEnd()
}

// TestServerAwayForLong: it is killed, and comes back after the gate has given up
// hope.
func TestServerAwayForLong(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithBinary(self(t)))
	f := faulty(t, place{all: s.Client}, jsconsumer.Config{}, nil)
	f.sees(0, 100)
	s.Kill()
	f.waitFor("report loud transient: nats: server is disconnected")
	f.ready(false)
	if st := f.r.Status().Readiness; st.FailingSince == nil || time.Since(*st.FailingSince) < 10*time.Second {
		t.Errorf("failing since its beginning: %+v", st)
	}
	s.Restart()
	f.waitFor("report recovered")
	f.publish(100, 110)
	f.sees(100, 110)
	f.ready(true)
	f.quietEnd()
}

// TestJetStreamOff: a server comes back without JetStream, and then with it.
func TestJetStreamOff(t *testing.T) {
	t.Parallel()
	var off atomic.Bool
	s := natstest.Start(t, natstest.WithServerOptions(func(o *server.Options) { o.JetStream = !off.Load() }))
	f := faulty(t, place{all: s.Client}, jsconsumer.Config{}, nil)
	f.sees(0, 100)
	off.Store(true)
	s.Restart()
	f.waitFor("report loud transient: nats: no responders")
	f.ready(false)
	off.Store(false)
	s.Restart()
	f.waitFor("report recovered")
	f.publish(100, 110)
	f.sees(100, 110)
	f.ready(true)
	if f.has("lost") {
		t.Errorf("the durable was there all the time:\n%s", strings.Join(f.all(), "\n"))
	}
	f.quietEnd()
}
