package natstest_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestBothHandles(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	_, err := s.Legacy.AddStream(&nats.StreamConfig{Name: "S"})
	must(t, err)
	_, err = s.JS.Publish(t.Context(), "S", []byte("hello"))
	must(t, err)
	info, err := s.Legacy.StreamInfo("S")
	must(t, err)
	if info.State.Msgs != 1 || s.JS.Conn() != s.NC {
		t.Errorf("messages %d, want 1; one connection: %t", info.State.Msgs, s.JS.Conn() == s.NC)
	}
	s.RequireNoAsyncErrors()
}

func TestRestartKeepsStoreAndClient(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	_, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S"})
	must(t, err)
	_, err = s.JS.Publish(t.Context(), "S", nil)
	must(t, err)
	for _, restart := range []func(){s.Restart, func() { s.Kill(); s.Restart() }, func() { s.Stop(); s.Restart() }} {
		before := s.NC.ConnectedServerId()
		restart()
		if now := s.NC.ConnectedServerId(); now == "" || now == before {
			t.Errorf("the client is %s, to server %q, before to %q", s.NC.Status(), now, before)
		}
		stream, err := s.JS.Stream(t.Context(), "S")
		must(t, err)
		if got := stream.CachedInfo().State.Msgs; got != 1 {
			t.Errorf("messages after restart: %d, want 1", got)
		}
	}
}

// A broker that never becomes ready is still stopped, and only then are its
// files removed.
func TestCleanupIsRegisteredBeforeTheWait(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	var storeDir string
	fake := &fakeTB{TB: t}
	failures := fake.run(func() {
		natstest.Start(fake, natstest.WithStartTimeout(500*time.Millisecond),
			natstest.WithConfigText(`cluster {name: LONELY, port: -1, routes: ["nats://127.0.0.1:1"]}`), // no quorum
			natstest.WithServerOptions(func(o *server.Options) { o.Port, storeDir = port, o.StoreDir }))
	})
	if len(failures) != 1 || !strings.Contains(failures[0], "is not ready: context deadline exceeded") {
		t.Fatalf("failures: %q", failures)
	}
	if !listens(t, port) || !exists(storeDir) {
		t.Fatalf("the wait ended, and before any clean-up: listens %t, store exists %t", listens(t, port), exists(storeDir))
	}
	fake.finish()
	if listens(t, port) || exists(filepath.Dir(storeDir)) || len(fake.failures) > 1 {
		t.Errorf("after the clean-ups: listens %t, files exist %t, failures %q", listens(t, port), exists(filepath.Dir(storeDir)), fake.failures)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func listens(t *testing.T, port int) bool {
	t.Helper()
	conn, err := net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return false
	}
	must(t, conn.Close())
	return true
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// The store goes away after the broker is down, also when the test succeeds,
// and the client is closed before its broker.
func TestStoreIsRemovedLast(t *testing.T) {
	t.Parallel()
	fake := &fakeTB{TB: t}
	var events eventLog
	var s *natstest.Server
	failures := fake.run(func() {
		s = natstest.Start(fake, natstest.WithLogger(slog.New(&events)))
		events.watch(func() string { return fmt.Sprintf("store %t, client %s", exists(s.StoreDir()), s.NC.Status()) })
	})
	fake.finish()
	if len(failures) > 0 || exists(s.StoreDir()) {
		t.Errorf("failures %q, store exists %t", failures, exists(s.StoreDir()))
	}
	events.wantInOrder(t, "Initiating Shutdown... (store true, client CLOSED)", "Server Exiting.. (store true, client CLOSED)")
}

func TestNilOptionIsSkipped(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, nil, natstest.WithNATSOptions(nil, nats.Name("me"), nil), nil)
	if got := s.NC.Opts.Name; got != "me" {
		t.Errorf("name of the connection %q, want me", got)
	}
}

func TestOptionIsAppliedOnceOnDefaults(t *testing.T) {
	t.Parallel()
	var timeouts []time.Duration
	s := natstest.Start(t, natstest.WithNATSOptions(func(o *nats.Options) error {
		timeouts = append(timeouts, o.Timeout)
		o.Timeout = time.Minute
		return nil
	}))
	s.Restart()
	if len(timeouts) != 1 || timeouts[0] != nats.DefaultTimeout {
		t.Errorf("the option saw the timeouts %v, want the default once", timeouts)
	}
	if s.NC.Opts.Timeout != time.Minute {
		t.Errorf("timeout %v, want what the option set", s.NC.Opts.Timeout)
	}
}

func TestFailingOptionFailsTheTest(t *testing.T) {
	t.Parallel()
	fake := &fakeTB{TB: t}
	failures := fake.run(func() {
		natstest.Start(fake, natstest.WithNATSOptions(func(*nats.Options) error { return errors.New("no such key") }))
	})
	fake.finish()
	if len(failures) != 1 || !strings.Contains(failures[0], "no such key") {
		t.Errorf("failures: %q", failures)
	}
}
