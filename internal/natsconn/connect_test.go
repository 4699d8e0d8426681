package natsconn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// shortly is a timeout for what is waited out.
const shortly = 200 * time.Millisecond

func TestUnreachable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := closedPort(t), closedPort(t)
	w.context("prod", `{"url": "nats://bob:secret@`+a+`, nats://`+b+`"}`)
	_, err := w.connect(Config{Contexts: []string{"prod"}})
	if !errors.Is(err, ErrUnreachable) {
		t.Fatalf("a closed port gave %v, want ErrUnreachable", err)
	}
	want := `connect to cell "prod": no servers available at nats://` + a +
		`: connect: connection refused; nats://` + b + `: connect: connection refused`
	if err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
}

func TestMostTellingKind(t *testing.T) {
	t.Parallel()
	broker := startBroker(t, server.Options{Username: "u", Password: "p"})
	w := newWorld(t)
	away := closedPort(t)
	for _, servers := range []string{away + "," + broker.ClientURL(), broker.ClientURL() + "," + away} {
		_, err := w.connect(Config{Servers: servers})
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), away) {
			t.Errorf("%s gave %v, want ErrRefused and both servers", servers, err)
		}
	}
	conn := w.mustConnect(Config{Servers: away + "," + broker.ClientURL(), User: "u", Password: "p"})
	if got := len(conn.NATS().Servers()); got != 2 {
		t.Errorf("the connection knows %d servers, want both", got)
	}
	if conn.Cell != away {
		t.Errorf("the cell is %q, want the first server's", conn.Cell)
	}
}

func TestTimedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	silent, _ := silentPort(t)
	start := time.Now()
	_, err := w.connect(Config{Servers: silent + "," + silent, Timeout: shortly})
	if !errors.Is(err, ErrTimeout) || strings.Count(err.Error(), "no answer within ") != 2 {
		t.Errorf("a silent server gave %v, want ErrTimeout", err)
	}
	if took := time.Since(start); took > 10*shortly {
		t.Errorf("it took %v, want about %v", took, shortly)
	}
	broker := startBroker(t, server.Options{})
	w.mustConnect(Config{Servers: silent + "," + broker.ClientURL(), Timeout: 4 * shortly})
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stuck, reached := stuckPort(t)
	target := w.one(Config{Servers: stuck, Timeout: time.Minute})

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reached
		cancel()
	}()
	if _, err := target.Connect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context gave %v, want context.Canceled", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), shortly)
	defer cancel()
	if _, err := target.Connect(ctx); !errors.Is(err, ErrTimeout) {
		t.Errorf("a context's deadline gave %v, want ErrTimeout", err)
	}
}

func TestConnectionOutlivesTheContext(t *testing.T) {
	t.Parallel()
	broker := startBroker(t, server.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := newWorld(t).one(Config{Servers: broker.ClientURL()}).Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cancel()
	reconnected := make(chan struct{}, 1)
	conn.NATS().SetReconnectHandler(func(*nats.Conn) { reconnected <- struct{}{} })
	if err := conn.NATS().ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	<-reconnected
	if err := conn.NATS().FlushTimeout(10 * time.Second); err != nil {
		t.Errorf("flush after the context's end: %v", err)
	}
}

func TestOneShot(t *testing.T) {
	t.Parallel()
	broker := startBroker(t, server.Options{})
	target := newWorld(t).one(Config{Servers: broker.ClientURL()})
	conn, err := target.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	opts := conn.NATS().Opts
	if opts.ReconnectWait != reconnectWait || !opts.SkipHostLookup || opts.Timeout < DefaultTimeout/2 || opts.Timeout > DefaultTimeout {
		t.Errorf("the client waits %v, skips the lookup %v, times out after %v", opts.ReconnectWait, opts.SkipHostLookup, opts.Timeout)
	}
	if conn, err = target.Connect(t.Context(), nats.ReconnectWait(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if got := conn.NATS().Opts.ReconnectWait; got != time.Millisecond {
		t.Errorf("the client waits %v, want what the caller's option says", got)
	}
	if opts.Name != "natsmig" || opts.MaxReconnect != maxReconnects || opts.RetryOnFailedConnect {
		t.Errorf("the client has name %q, %d reconnects, retry %v", opts.Name, opts.MaxReconnect, opts.RetryOnFailedConnect)
	}
	closed := make(chan struct{})
	conn.NATS().SetClosedHandler(func(*nats.Conn) { close(closed) })
	broker.Shutdown()
	<-closed
	if _, err := (Target{Name: "x"}).Connect(t.Context()); err == nil {
		t.Error("a target that is not from Resolve connected")
	}
}

func TestDomain(t *testing.T) {
	t.Parallel()
	broker := startBroker(t, server.Options{JetStream: true, JetStreamDomain: "hub"})
	w := newWorld(t)
	conn := w.mustConnect(Config{Servers: broker.ClientURL(), JSDomain: "hub"})
	reply, err := conn.NATS().Request(conn.APIPrefix+".INFO", nil, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var info struct{ Domain string }
	if err := json.Unmarshal(reply.Data, &info); err != nil || info.Domain != "hub" {
		t.Errorf("the account is in domain %q, %v, want hub", info.Domain, err)
	}
	other := w.mustConnect(Config{Servers: broker.ClientURL(), JSDomain: "leaf"})
	if _, err := other.NATS().Request(other.APIPrefix+".INFO", nil, 10*time.Second); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("another domain gave %v, want no responders", err)
	}
}

// restricted is a broker with a user who may read replies only below _INBOX_svc.
func restricted(t *testing.T) *server.Server {
	t.Helper()
	return startBroker(t, server.Options{JetStream: true, Users: []*server.User{{
		Username: "u", Password: "p",
		Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{"$JS.API.>"}},
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX_svc.>"}},
		},
	}}})
}

func TestInboxPrefix(t *testing.T) {
	t.Parallel()
	broker := restricted(t)
	w := newWorld(t)
	good := w.mustConnect(Config{Servers: broker.ClientURL(), User: "u", Password: "p", InboxPrefix: "_INBOX_svc"})
	if _, err := good.NATS().Request(good.APIPrefix+".INFO", nil, 10*time.Second); err != nil {
		t.Errorf("a request with the inbox prefix: %v", err)
	}
	if got := good.AsyncErrors(); len(got) != 0 {
		t.Errorf("errors with the inbox prefix: %v", got)
	}
	bad := w.mustConnect(Config{Servers: broker.ClientURL(), User: "u", Password: "p"})
	if _, err := bad.NATS().Request(bad.APIPrefix+".INFO", nil, shortly); err == nil {
		t.Error("a request without the inbox prefix was answered")
	}
	violation(t, bad, "_INBOX.")
}

func TestAsyncErrors(t *testing.T) {
	t.Parallel()
	broker := restricted(t)
	conn := newWorld(t).mustConnect(Config{Servers: broker.ClientURL(), User: "u", Password: "p"})
	if err := conn.NATS().Publish("orders", nil); err != nil {
		t.Fatal(err)
	}
	if err := conn.NATS().Flush(); err != nil {
		t.Fatal(err)
	}
	violation(t, conn, "orders")
	conn = newWorld(t).mustConnect(Config{Servers: broker.ClientURL(), User: "u", Password: "p"})
	one, two := fmt.Errorf("%w: one", nats.ErrPermissionViolation), errors.New("two")
	conn.NATS().Opts.AsyncErrorCB(nil, nil, one)
	conn.NATS().Opts.DisconnectedErrCB(nil, two)
	if got := conn.AsyncErrors(); !slices.Equal(got, []error{one, two}) {
		t.Errorf("the connection keeps %v, want what the client hands on", got)
	}
	for range 2 * maxAsyncErrors {
		conn.async().add(errors.New("more"))
	}
	if got := len(conn.async().list()); got != maxAsyncErrors {
		t.Errorf("the connection keeps %d errors, want %d", got, maxAsyncErrors)
	}
	if got := len(conn.PermissionViolations()); got != 1 {
		t.Errorf("%d of them are violations, want 1", got)
	}
}

func violation(t *testing.T, conn *Conn, subject string) {
	t.Helper()
	for _, err := range conn.PermissionViolations() {
		if strings.Contains(err.Error(), subject) {
			return
		}
	}
	t.Errorf("the errors are %v, want a permission violation of %q", conn.AsyncErrors(), subject)
}
