package natsconn

import (
	"context"
	"net"
	"net/url"
	"sync"
	"time"
)

// dialer connects within a context, which the client's own way of dialing does not
// know, and cuts a handshake off when the context ends. After release it dials for
// reconnects, with the timeout alone.
type dialer struct {
	timeout time.Duration
	proxy   *url.URL

	mu sync.Mutex
	// ctx is kept because nats.CustomDialer passes none.
	ctx  context.Context
	stop []func() bool
	err  error
}

// Dial is called by the client, which loses the cause of a refused connection: it
// is kept for lastErr.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx, cancel := context.WithTimeout(d.ctx, d.timeout)
	defer cancel()
	conn, err := d.dial(ctx, network, address)
	d.err = err
	if err != nil {
		return nil, err
	}
	d.stop = append(d.stop, context.AfterFunc(d.ctx, func() { _ = conn.Close() }))
	return conn, nil
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.proxy != nil {
		return dialSocks(ctx, d.proxy, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// release parts the connections from the context. False means that it ended
// before and has closed them.
func (d *dialer) release() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	alive := true
	for _, stop := range d.stop {
		alive = stop() && alive
	}
	d.stop, d.ctx = nil, context.Background()
	return alive
}

func (d *dialer) lastErr() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
