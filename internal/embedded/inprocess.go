package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// inProcess is a server in this process.
type inProcess struct {
	srv *server.Server
}

func startInProcess(ctx context.Context, c Config, dir layout) (broker, error) {
	opts, err := server.ProcessConfigFile(dir.config())
	if err != nil {
		return nil, fmt.Errorf("read the configuration of server %q: %w", c.Name, err)
	}
	opts.NoSigs, opts.NoLog = true, true
	opts.PortsFileDir = "" // its file is named after this process, and needless here
	if c.Options != nil {
		c.Options(opts)
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("make server %q: %w", c.Name, err)
	}
	log := newLogs(c.Logger)
	srv.SetLoggerV2(log, opts.Debug, opts.Trace, false)
	srv.Start()
	b := &inProcess{srv: srv}
	if err := b.listening(ctx, log); err != nil {
		b.shutdown()
		return nil, startError(c.Name, err, log)
	}
	return b, nil
}

// listening waits for all listeners. The server reports what it cannot start
// as a fatal log line and lives on without it.
func (b *inProcess) listening(ctx context.Context, log *logs) error {
	return poll(ctx, "server does not listen", func() error {
		select {
		case <-log.fatal:
			return finalError{errors.New("the server gave up")}
		default:
		}
		if !b.srv.ReadyForConnections(time.Millisecond) {
			return errors.New("not ready for connections")
		}
		return nil
	})
}

func (b *inProcess) clientURL() string { return b.srv.ClientURL() }

func (b *inProcess) stop(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.shutdown()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the server to shut down: %w", context.Cause(ctx))
	}
}

func (b *inProcess) kill(ctx context.Context) error { return b.stop(ctx) }

func (b *inProcess) shutdown() {
	b.srv.Shutdown()
	b.srv.WaitForShutdown()
}
