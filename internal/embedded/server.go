package embedded

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"
)

// Server is one broker. It outlives its runs: a stopped or killed server keeps
// its name, ports and store, and Restart brings it back. Its methods may be
// called from several goroutines.
type Server struct {
	cfg Config
	dir layout
	sys User

	change  sync.Mutex // held while the server goes up or down
	mu      sync.Mutex // guards what follows
	ports   ports
	url     string
	broker  broker     // nil while down
	admin   *nats.Conn // into the system account; nil while down
	heard   *heard     // through admin
	version string
	closed  bool
}

// Start makes a broker and starts it; see [Server.Start]. It leaves nothing
// behind when it fails.
func Start(ctx context.Context, c Config) (*Server, error) {
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// New makes a broker that does not run yet, so that a caller can arrange for
// its Close before waiting for it.
func New(c Config) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p, err := c.pick()
	if err != nil {
		return nil, err
	}
	dir, err := newLayout(c.StoreDir)
	if err != nil {
		return nil, err
	}
	return &Server{
		cfg: c.withDefaults(), dir: dir, ports: p,
		sys: User{Name: "natsmig-embedded", Password: randomText(24)},
	}, nil
}

// Start starts the broker and waits until clients can connect and JetStream is
// ready; a member of a cluster is only waited for until clients can connect,
// because it is not ready without its peers. A ctx without deadline is given
// thirty seconds. ctx bounds the start, not the life of the server. A server
// that does not become ready in time is left running, for Close.
func (s *Server) Start(ctx context.Context) error {
	ctx, cancel := bounded(ctx, startTimeout)
	defer cancel()
	return poll(ctx, fmt.Sprintf("start server %q", s.cfg.Name), func() error {
		err := s.up(ctx)
		if errors.Is(err, errPortTaken) {
			return errors.Join(err, s.repick()) // perhaps it is free again in a moment
		}
		if err != nil {
			return finalError{err}
		}
		return nil
	})
}

// repick chooses other ports for a server that no client knows yet.
func (s *Server) repick() error {
	p, err := s.cfg.pick()
	if err != nil {
		return finalError{err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.url == "" {
		s.ports = p
	}
	return nil
}

// up launches the broker and waits for it as Start promises.
func (s *Server) up(ctx context.Context) error {
	s.change.Lock()
	defer s.change.Unlock()
	if err := s.startable(); err != nil {
		return err
	}
	if err := s.dir.write(render(s.cfg, s.dir, s.ports, s.sys)); err != nil {
		return err
	}
	b, err := launch(ctx, s.cfg, s.dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.broker, s.url = b, b.clientURL()
	s.mu.Unlock()
	if err := s.pinClientPort(); err != nil {
		return err
	}
	if s.cfg.Cluster.Name != "" {
		return s.waitConnections(ctx)
	}
	return s.WaitReady(ctx)
}

func (s *Server) startable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("start server %q: it is closed", s.cfg.Name)
	}
	if s.broker != nil {
		return fmt.Errorf("start server %q: it is running", s.cfg.Name)
	}
	return nil
}

// pinClientPort makes the next run listen where this one does.
func (s *Server) pinClientPort() error {
	u, err := url.Parse(s.ClientURL())
	if err != nil {
		return fmt.Errorf("read the client URL of server %q: %w", s.cfg.Name, err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return fmt.Errorf("read the client port of server %q: %w", s.cfg.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ports.client = port
	return nil
}

// Name returns the server's name.
func (s *Server) Name() string { return s.cfg.Name }

// Version returns the version of the server that ran last, such as "2.15.3".
func (s *Server) Version() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// ClientURL returns where clients connect, without credentials. It stays the
// same across restarts.
func (s *Server) ClientURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url
}

// LeafURL returns where leaf nodes connect, or nothing if the server does not
// listen for them.
func (s *Server) LeafURL() string {
	if !s.cfg.Leaf.Listen {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return "nats-leaf://" + loopback(s.ports.leaf)
}

// StoreDir returns the directory of the JetStream store.
func (s *Server) StoreDir() string { return s.dir.store }

// Running tells whether the server was started and neither stopped nor killed.
func (s *Server) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broker != nil
}
