// Package natstest starts JetStream brokers for the length of a test: one
// broker with [Start], a cluster with [StartCluster], a super-cluster with
// [StartSuperCluster], a leaf node with [StartLeaf].
//
// A [Client] has both JetStream handles, the legacy and the modern one, on one
// connection, so that a test can put an old consumer loop and its successor to
// the same stream. It collects the connection's asynchronous errors, beside the
// error handler that the caller passes and not instead of it.
//
// Brokers listen on ports that were free, never on fixed ones. The clean-up is
// registered before a broker is waited for, so that a test which fails on the
// wait leaves no broker behind, and a store is removed after its broker is down.
//
// The package links nats-server and testing: nothing that ships may import it.
// It injects no network faults, and it fails no test because of an asynchronous
// error unless [Client.RequireNoAsyncErrors] is called.
package natstest

import (
	"context"
	"testing"
	"time"

	"github.com/natsmig/natsmig/internal/embedded"
)

// Server is one broker with a client on it.
type Server struct {
	*Broker
	*Client
}

// Start starts a broker and connects to it. Without options it is an in-process
// broker with JetStream, one open account and a store of its own. The test
// fails if the broker is not ready in time.
func Start(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	c := collect(opts)
	b := newBroker(tb, c)
	ctx, cancel := c.context(tb)
	defer cancel()
	if err := b.srv.Start(ctx); err != nil {
		tb.Fatalf("%v", err)
	}
	return &Server{Broker: b, Client: connect(tb, b.URL(), c)}
}

// newBroker makes a broker that does not run yet, and sees to its end.
func newBroker(tb testing.TB, c config) *Broker {
	tb.Helper()
	srv, err := embedded.New(c.server)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	closeLater(tb, srv)
	return &Broker{tb: tb, srv: srv}
}

// closeLater registers a clean-up that fails the test if it cannot be done.
func closeLater(tb testing.TB, c interface{ Close() error }) {
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Errorf("close broker: %v", err)
		}
	})
}

// Restart restarts the broker on the same store and port, as [Broker.Restart]
// does, and waits until the client has reconnected.
func (s *Server) Restart() {
	s.Broker.tb.Helper()
	s.Broker.Restart()
	s.WaitConnected(reconnectTimeout)
}

const (
	startTimeout     = 30 * time.Second
	reconnectTimeout = 15 * time.Second
)

// context bounds the wait for a broker, and ends with the test.
func (c config) context(tb testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(tb.Context(), c.timeout)
}
