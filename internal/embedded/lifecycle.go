package embedded

import (
	"context"
	"errors"
	"fmt"
)

// Stop shuts the server down in good order and waits for its end: in process
// through Shutdown, outside through SIGTERM. A stopped server keeps its store.
// Stopping a server that is down does nothing.
func (s *Server) Stop(ctx context.Context) error {
	return s.down(ctx, broker.stop)
}

// Kill ends the server at once and waits for its end. An external server is
// sent SIGKILL: nothing is flushed, no client or peer is told. An in-process
// server cannot die without its process, so Kill is Stop there: leaders step
// down and stores are flushed. What depends on a crash needs Config.Binary.
func (s *Server) Kill(ctx context.Context) error {
	return s.down(ctx, broker.kill)
}

func (s *Server) down(ctx context.Context, end func(broker, context.Context) error) error {
	ctx, cancel := bounded(ctx, stopTimeout)
	defer cancel()
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	b, admin := s.broker, s.admin
	s.broker, s.admin = nil, nil
	s.mu.Unlock()
	if admin != nil {
		admin.Close()
	}
	if b == nil {
		return nil
	}
	if err := end(b, ctx); err != nil {
		s.mu.Lock()
		s.broker = b // still there, for Close to try again
		s.mu.Unlock()
		return fmt.Errorf("end server %q: %w", s.cfg.Name, err)
	}
	return nil
}

// Restart starts the server again, with the same store and on the same ports;
// one that runs is stopped first. It waits as Start does.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Stop(ctx); err != nil {
		return err
	}
	return s.Start(ctx)
}

// Close stops the server and removes what Start created: its temporary
// directory, and with it the store unless Config.StoreDir named one. A server
// that does not stop in time is killed. Closing twice does nothing.
func (s *Server) Close() error {
	err := s.Stop(context.Background())
	if err != nil {
		err = errors.Join(err, s.Kill(context.Background()))
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return errors.Join(err, s.dir.remove())
}
