package natstest

import (
	"testing"

	"github.com/natsmig/natsmig/internal/embedded"
)

// StartLeaf starts a broker that is a leaf node of the hub, which was started
// with WithLeafListener, and waits until the two are connected. Give each a
// WithDomain of its own, or both answer for JetStream in the joined account.
func StartLeaf(tb testing.TB, hub *Broker, opts ...Option) *Server {
	tb.Helper()
	c := collect(opts)
	ctx, cancel := c.context(tb)
	defer cancel()
	srv, err := embedded.StartLeaf(ctx, c.server, hub.srv)
	if err != nil {
		tb.Fatalf("%v", err) // StartLeaf has closed what it had started
	}
	closeLater(tb, srv)
	b := &Broker{tb: tb, srv: srv}
	return &Server{Broker: b, Client: connect(tb, b.URL(), c)}
}
