package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

var errDown = errors.New("server is down")

// WaitReady waits until clients can connect and, unless JetStream is off, until
// the server calls itself healthy: JetStream is up, and the streams and
// consumers it holds are recovered and current. The two are different moments.
// A member of a cluster that has no quorum does not become ready. For a server
// that is down the answer is an error at once.
func (s *Server) WaitReady(ctx context.Context) error {
	ctx, cancel := bounded(ctx, startTimeout)
	defer cancel()
	if err := s.waitConnections(ctx); err != nil {
		return err
	}
	return poll(ctx, fmt.Sprintf("server %q is not ready", s.cfg.Name), func() error { return s.healthy(ctx) })
}

// waitConnections waits until a client has been let in.
func (s *Server) waitConnections(ctx context.Context) error {
	return poll(ctx, fmt.Sprintf("connect to server %q", s.cfg.Name), func() error {
		_, err := s.connectAdmin()
		if errors.Is(err, errDown) {
			return finalError{err}
		}
		return err
	})
}

func (s *Server) healthy(ctx context.Context) error {
	var h server.HealthStatus
	if err := s.ask(ctx, "HEALTHZ", server.HealthzOptions{}, &h); err != nil {
		return err
	}
	if h.Status != "ok" {
		return fmt.Errorf("health of server %q: %s: %s", s.cfg.Name, h.Status, h.Error)
	}
	return nil
}

// ConnectSystem opens a connection into the server's system account. The
// caller closes it.
func (s *Server) ConnectSystem(opts ...nats.Option) (*nats.Conn, error) {
	opts = append([]nats.Option{nats.UserInfo(s.sys.Name, s.sys.Password)}, opts...)
	nc, err := nats.Connect(s.ClientURL(), opts...)
	if err != nil {
		return nil, fmt.Errorf("connect to the system account of server %q: %w", s.cfg.Name, err)
	}
	return nc, nil
}

// connectAdmin returns the server's own system connection.
func (s *Server) connectAdmin() (*nats.Conn, error) {
	s.mu.Lock()
	nc, running := s.admin, s.broker != nil
	s.mu.Unlock()
	if !running {
		return nil, fmt.Errorf("%w: %q", errDown, s.cfg.Name)
	}
	if nc != nil {
		return nc, nil
	}
	// Without reconnects: each run of the server gets a connection of its own.
	nc, err := s.ConnectSystem(s.adminOptions()...)
	if err != nil {
		return nil, err
	}
	return s.keepAdmin(nc)
}

func (s *Server) adminOptions() []nats.Option {
	opts := []nats.Option{nats.NoReconnect(), nats.Name("natsmig embedded")}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.broker.(*inProcess); ok {
		opts = append(opts, nats.InProcessServer(b.srv)) // whatever the listener asks for, such as TLS
	}
	return opts
}

// keepAdmin stores nc unless the server went down or another call was quicker.
func (s *Server) keepAdmin(nc *nats.Conn) (*nats.Conn, error) {
	h, err := listen(nc)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("listen to server %q: %w", s.cfg.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.broker == nil:
		nc.Close()
		return nil, fmt.Errorf("%w: %q", errDown, s.cfg.Name)
	case s.admin != nil:
		nc.Close()
	default:
		s.admin, s.heard, s.version = nc, h, nc.ConnectedServerVersion()
	}
	return s.admin, nil
}

// ask puts a monitoring question to this one server through its system account.
func (s *Server) ask(ctx context.Context, what string, question, answer any) error {
	nc, err := s.connectAdmin()
	if err != nil {
		return err
	}
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("encode %s request: %w", what, err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout) // a server that starts up may lose a question
	defer cancel()
	msg, err := nc.RequestWithContext(ctx, fmt.Sprintf("$SYS.REQ.SERVER.%s.%s", nc.ConnectedServerId(), what), body)
	if err != nil {
		return fmt.Errorf("ask server %q for %s: %w", s.cfg.Name, what, err)
	}
	reply := server.ServerAPIResponse{Data: answer}
	if err := json.Unmarshal(msg.Data, &reply); err != nil {
		return fmt.Errorf("decode %s of server %q: %w", what, s.cfg.Name, err)
	}
	if reply.Error != nil {
		return fmt.Errorf("ask server %q for %s: %w", s.cfg.Name, what, reply.Error)
	}
	return nil
}
