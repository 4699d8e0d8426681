package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/internal/natsconn"
)

// connection is the flags that say which cells to talk to: those of the nats
// command. Where a flag is not given, its environment variable counts, and then
// the context.
type connection struct {
	Server        string          `short:"s" placeholder:"URL" group:"Connection" help:"Servers, separated by commas (env NATS_URL)."`
	Context       []string        `placeholder:"NAME" sep:"none" group:"Connection" help:"NATS context, one cell each; can be repeated (env NATS_CONTEXT)."`
	NoContext     bool            `group:"Connection" help:"Leave the selected context out."`
	Creds         natsconn.Secret `placeholder:"FILE" group:"Connection" help:"Credentials (env NATS_CREDS)."`
	NKey          natsconn.Secret `name:"nkey" placeholder:"FILE" group:"Connection" help:"NKey seed (env NATS_NKEY)."`
	User          string          `placeholder:"NAME" group:"Connection" help:"User, or a token (env NATS_USER)."`
	Password      natsconn.Secret `placeholder:"TEXT" group:"Connection" help:"Password (env NATS_PASSWORD)."`
	Token         natsconn.Secret `placeholder:"TEXT" group:"Connection" help:"Token (env NATS_TOKEN)."`
	TLSCert       string          `name:"tlscert" placeholder:"FILE" group:"Connection" help:"TLS client certificate (env NATS_CERT)."`
	TLSKey        string          `name:"tlskey" placeholder:"FILE" group:"Connection" help:"TLS client key (env NATS_KEY)."`
	TLSCA         string          `name:"tlsca" placeholder:"FILE" group:"Connection" help:"TLS certificate authorities (env NATS_CA)."`
	TLSFirst      bool            `name:"tlsfirst" group:"Connection" help:"TLS handshake before anything else."`
	JSDomain      string          `name:"js-domain" placeholder:"NAME" group:"Connection" help:"JetStream domain."`
	JSAPIPrefix   string          `name:"js-api-prefix" placeholder:"SUBJECT" group:"Connection" help:"Prefix of the JetStream API."`
	InboxPrefix   string          `placeholder:"SUBJECT" group:"Connection" help:"Prefix of inboxes."`
	Timeout       time.Duration   `placeholder:"DURATION" group:"Connection" help:"Bound of connecting and of each request, 5s unless told, for ready 2s over all (env NATS_TIMEOUT)."`
	AllowPrograms bool            `group:"Connection" help:"Let op:// and nsc:// credentials of a context run their programs."`

	otherTimeout time.Duration // where none is told; zero: natsconn's
}

func (c *connection) config() natsconn.Config {
	return natsconn.Config{
		Servers: c.Server, Contexts: c.Context, NoContext: c.NoContext,
		Creds: c.Creds, NKey: c.NKey, User: c.User, Password: c.Password, Token: c.Token,
		TLSCert: c.TLSCert, TLSKey: c.TLSKey, TLSCA: c.TLSCA, TLSFirst: c.TLSFirst,
		JSDomain: c.JSDomain, JSAPIPrefix: c.JSAPIPrefix, InboxPrefix: c.InboxPrefix,
		Timeout: c.Timeout, OtherTimeout: c.otherTimeout, AllowPrograms: c.AllowPrograms,
	}
}

// connect opens a connection to every cell at once. A cell that can not be
// reached is a source with an error, unless it is the only one: then there is
// nothing to do.
func (c *connection) connect(ctx context.Context, stderr io.Writer) (sources []audit.Source, timeout time.Duration, closeAll func(), err error) {
	targets, err := natsconn.Resolve(c.config())
	var broken []audit.Source
	for _, one := range unjoin(err) {
		var cell *natsconn.CellError
		if !errors.As(one, &cell) || len(targets) == 0 {
			return nil, 0, nil, err
		}
		broken = append(broken, audit.Source{Name: cell.Cell, Err: one})
	}
	tellIgnored(stderr, targets)
	sources = make([]audit.Source, len(targets))
	conns := make([]*natsconn.Conn, len(targets))
	var wg sync.WaitGroup
	for i, t := range targets {
		wg.Go(func() {
			conns[i], sources[i] = open(ctx, t)
		})
		timeout = max(timeout, t.Timeout)
	}
	wg.Wait()
	closeAll = func() {
		for _, nc := range conns {
			if nc != nil {
				nc.Close()
			}
		}
	}
	sources = slices.Concat(sources, broken)
	if len(sources) == 1 && sources[0].Err != nil {
		closeAll()
		return nil, 0, nil, sources[0].Err
	}
	return sources, timeout, closeAll, nil
}

// tellIgnored says which settings lost against others, because a user who set them
// would wonder.
func tellIgnored(w io.Writer, targets []natsconn.Target) {
	for _, t := range targets {
		if len(t.Ignored) > 0 {
			fmt.Fprintf(w, "natsmig: cell %q: settings that are there and not used: %s\n", t.Name, strings.Join(t.Ignored, ", "))
		}
	}
}

func open(ctx context.Context, t natsconn.Target) (*natsconn.Conn, audit.Source) {
	s := audit.Source{Name: t.Name, APIPrefix: t.APIPrefix, Domain: t.Domain}
	nc, err := t.Connect(ctx)
	if err != nil {
		s.Err = err
		return nil, s
	}
	s.Conn = nc.NATS()
	return nc, s
}

// unjoin takes a joined error apart.
func unjoin(err error) []error {
	if err == nil {
		return nil
	}
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		return many.Unwrap()
	}
	return []error{err}
}

// take reads the cells, with a progress bar where a terminal watches.
func (c *connection) take(ctx context.Context, stderr io.Writer, o audit.TakeOptions) (*audit.Snapshot, error) {
	sources, timeout, closeAll, err := c.connect(ctx, stderr)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	bar, end := progressBar(stderr)
	o.Timeout, o.Progress = timeout, bar
	s, err := audit.Take(ctx, sources, o)
	end()
	return s, err
}

// live reads the snapshots that are given, or else the cells.
func (c *connection) live(ctx context.Context, std *streams, snapshots []string, o audit.TakeOptions) (*audit.Snapshot, error) {
	if len(snapshots) > 0 {
		return readSnapshots(snapshots)
	}
	s, err := c.take(ctx, std.err, o)
	if err != nil {
		return nil, err
	}
	return s, onlyFailure(s)
}

// onlyFailure is why a snapshot of a single cell shows nothing at all, or nil.
func onlyFailure(s *audit.Snapshot) error {
	if len(s.Cells) != 1 || len(s.Cells[0].Streams) > 0 || len(s.Cells[0].Missing) == 0 {
		return nil
	}
	m := s.Cells[0].Missing[0]
	return fmt.Errorf("read cell %q: %s: %s", s.Cells[0].Name, m.What, m.Reason)
}

// tellMissing says on standard error what a snapshot lacks.
func tellMissing(w io.Writer, s *audit.Snapshot) (complete bool) {
	complete = true
	for _, c := range s.Cells {
		complete = complete && c.Complete
		for _, m := range c.Missing {
			fmt.Fprintf(w, "natsmig: cell %q: could not read %s: %s\n", c.Name, m.What, m.Reason)
		}
	}
	return complete
}
