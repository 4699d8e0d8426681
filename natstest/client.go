package natstest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Client is a connection with both JetStream handles on it. It reconnects for
// ever, at short intervals, unless an option says otherwise.
type Client struct {
	NC     *nats.Conn
	JS     jetstream.JetStream   // the modern handle
	Legacy nats.JetStreamContext // the handle of nats.go's first JetStream API

	tb    testing.TB
	async *asyncErrors
}

func connect(tb testing.TB, urls string, c config) *Client {
	tb.Helper()
	client := &Client{tb: tb, async: newAsyncErrors()}
	opts, err := client.options(urls, c.client)
	if err != nil {
		tb.Fatalf("apply NATS option: %v", err)
	}
	if client.NC, err = opts.Connect(); err != nil {
		tb.Fatalf("connect to %s: %v", urls, err)
	}
	tb.Cleanup(client.NC.Close)
	if client.JS, err = jetstream.New(client.NC); err != nil {
		tb.Fatalf("make JetStream handle: %v", err)
	}
	if client.Legacy, err = client.NC.JetStream(); err != nil {
		tb.Fatalf("make legacy JetStream handle: %v", err)
	}
	return client
}

// options applies the caller's options as nats.Connect would, and only then
// puts the collector around the error handler they left: the last handler set
// on a connection wins, so that the collector could neither go first nor last
// in the list.
func (c *Client) options(urls string, given []nats.Option) (nats.Options, error) {
	opts := nats.GetDefaultOptions()
	opts.Servers = strings.Split(urls, ",")
	opts.MaxReconnect, opts.ReconnectWait, opts.ReconnectJitter = -1, 20*time.Millisecond, 10*time.Millisecond
	for i, opt := range given {
		if opt == nil {
			continue
		}
		if err := opt(&opts); err != nil {
			return opts, fmt.Errorf("option %d: %w", i, err)
		}
	}
	opts.AsyncErrorCB = c.async.around(opts.AsyncErrorCB)
	return opts, nil
}

// waitOtherServer waits until the client is connected to another run of the
// server than before. It is not enough to be connected: a client may still
// have to notice that its server went away.
func (c *Client) waitOtherServer(before string) {
	c.tb.Helper()
	Eventually(c.tb, reconnectTimeout, func() error {
		if id := c.NC.ConnectedServerId(); id == "" || id == before {
			return fmt.Errorf("client is %s, and its last server was %q", c.NC.Status(), before)
		}
		return nil
	})
}

// WaitConnected waits until the client is connected, as after a restart.
func (c *Client) WaitConnected(timeout time.Duration) {
	c.tb.Helper()
	Eventually(c.tb, timeout, func() error {
		if !c.NC.IsConnected() {
			return fmt.Errorf("client is %s; its last error is %v", c.NC.Status(), c.NC.LastError()) //nolint:errorlint // often there is none
		}
		return nil
	})
}
