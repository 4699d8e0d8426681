package natsconn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// A command that lost its server is told soon: a few attempts, and no more.
const (
	connectionName = "natsmig"
	maxReconnects  = 5
	reconnectWait  = 250 * time.Millisecond
)

// Connect connects to the first of the cell's servers that lets it in, in the
// order in which they are given; the timeout is shared out among them. It reads
// the files of credentials and certificates, and runs the programs that were
// allowed. Options of the caller come last and win.
//
// Where no server lets it in the error is a [ConnectError].
func (t Target) Connect(ctx context.Context, opts ...nats.Option) (*Conn, error) {
	if t.dial == nil {
		return nil, fmt.Errorf("connect to cell %q: the target is not from Resolve", t.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	a, err := t.prepare(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to cell %q: %w", t.Name, err)
	}
	a.opts = append(a.opts, opts...)
	var attempts []ServerError
	for i, s := range a.servers {
		conn, err := a.connect(ctx, s, len(a.servers)-i)
		if err == nil {
			conn.Cell, conn.APIPrefix = t.Name, t.APIPrefix
			return conn, nil
		}
		attempts = append(attempts, *err)
	}
	return nil, &ConnectError{Cell: t.Name, Kind: mostTelling(attempts), Servers: attempts}
}

// attempt is what all attempts of one Connect share.
type attempt struct {
	opts    []nats.Option
	servers []serverURL
	secrets []string
	dialer  dialer
}

// prepare reads everything that connecting needs, short of connecting.
func (t Target) prepare(ctx context.Context) (*attempt, error) {
	s, r := t.dial().settings, t.dial().resolver
	if err := r.askNSC(ctx, &s); err != nil {
		return nil, err
	}
	a := &attempt{}
	var errs []error
	a.servers, errs = parseServers(s.url)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	auth, secrets, err := s.authOptions(ctx, r)
	if err != nil {
		return nil, err
	}
	secure, err := s.tlsOptions(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTLS, err)
	}
	if s.socksProxy != "" {
		if a.dialer.proxy, err = parseProxy(s.socksProxy); err != nil {
			return nil, err
		}
	}
	a.opts, a.secrets = append(auth, secure...), append(secrets, urlSecrets(a.servers)...)
	if s.inboxPrefix != "" {
		a.opts = append(a.opts, nats.CustomInboxPrefix(s.inboxPrefix))
	}
	return a, nil
}

// connect tries one server, with its share of the time that is left.
func (a *attempt) connect(ctx context.Context, s serverURL, left int) (*Conn, *ServerError) {
	deadline, _ := ctx.Deadline()
	share := max(time.Until(deadline)/time.Duration(left), time.Millisecond)
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	d := &dialer{ctx: ctx, timeout: share, proxy: a.dialer.proxy}
	collected := &asyncErrors{}
	nc, err := nats.Connect(s.raw, append(oneShot(d, share, collected), a.opts...)...)
	if err == nil && !d.release() {
		nc.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, a.failure(ctx, s, d, err)
	}
	// A list that the client refuses leaves it with the server that it has.
	_ = nc.SetServerPool(a.raw())
	return newConn(nc, collected), nil
}

func (a *attempt) failure(ctx context.Context, s serverURL, d *dialer, err error) *ServerError {
	if dialErr := d.lastErr(); dialErr != nil {
		err = dialErr
	}
	kind := classify(ctx, err)
	text := cause(err, a.secrets)
	if errors.Is(kind, ErrTimeout) {
		text = fmt.Sprintf("no answer within %v", d.timeout.Round(time.Millisecond))
	}
	return &ServerError{URL: s.shown, Kind: kind, Cause: text}
}

func (a *attempt) raw() []string {
	var list []string
	for _, s := range a.servers {
		list = append(list, s.raw)
	}
	return list
}

// oneShot gives the options of a client that works for one command.
func oneShot(d *dialer, timeout time.Duration, collected *asyncErrors) []nats.Option {
	return []nats.Option{
		nats.Name(connectionName),
		nats.SetCustomDialer(d),
		// The dialer looks names up within the context.
		nats.SkipHostLookup(),
		nats.Timeout(timeout),
		nats.RetryOnFailedConnect(false),
		nats.MaxReconnects(maxReconnects),
		nats.ReconnectWait(reconnectWait),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { collected.add(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { collected.add(err) }),
	}
}
