package natstest

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/internal/embedded"
)

// Broker is one broker. Its methods fail the test when they cannot do what
// they say.
type Broker struct {
	tb  testing.TB
	srv *embedded.Server
}

// URL returns where clients connect. It stays the same across restarts.
func (b *Broker) URL() string { return b.srv.ClientURL() }

// Name returns the server's name.
func (b *Broker) Name() string { return b.srv.Name() }

// Version returns the version of the server, such as "2.15.3".
func (b *Broker) Version() string { return b.srv.Version() }

// StoreDir returns the directory of the JetStream store.
func (b *Broker) StoreDir() string { return b.srv.StoreDir() }

// Running tells whether the broker was neither stopped nor killed.
func (b *Broker) Running() bool { return b.srv.Running() }

// Stop shuts the broker down in good order and waits for its end.
func (b *Broker) Stop() {
	b.tb.Helper()
	if err := b.srv.Stop(lasting(b.tb)); err != nil {
		b.tb.Fatalf("%v", err)
	}
}

// Kill ends the broker at once: with SIGKILL if it is external. In process it
// is the same as Stop, because a server cannot crash without its process.
func (b *Broker) Kill() {
	b.tb.Helper()
	if err := b.srv.Kill(lasting(b.tb)); err != nil {
		b.tb.Fatalf("%v", err)
	}
}

// Restart starts the broker again on the same store and port, stopping it
// first if it runs. A standalone broker is ready afterwards; for a member of a
// cluster see [Cluster.WaitReady].
func (b *Broker) Restart() {
	b.tb.Helper()
	if err := b.srv.Restart(lasting(b.tb)); err != nil {
		b.tb.Fatalf("%v", err)
	}
}

// Connect opens one more connection to the broker, which closes with the test.
// The options are treated as WithNATSOptions says.
func (b *Broker) Connect(opts ...nats.Option) *Client {
	b.tb.Helper()
	return connect(b.tb, b.URL(), config{client: opts})
}

// ConnectSystem opens a connection into the broker's system account, which
// closes with the test.
func (b *Broker) ConnectSystem() *nats.Conn {
	b.tb.Helper()
	nc, err := b.srv.ConnectSystem()
	if err != nil {
		b.tb.Fatalf("%v", err)
	}
	b.tb.Cleanup(nc.Close)
	return nc
}

// lasting is the test's context without its end: the methods may be called in
// a clean-up, where the test's own context is done.
func lasting(tb testing.TB) context.Context {
	return context.WithoutCancel(tb.Context())
}
