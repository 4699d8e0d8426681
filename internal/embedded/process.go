package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/nats-io/nats-server/v2/server"
)

// process is a server that runs as a program of its own.
type process struct {
	cmd    *exec.Cmd
	url    string
	exited chan struct{} // closed when the program has ended
	status error         // how it ended; read after exited
}

func startProcess(ctx context.Context, c Config, dir layout) (broker, error) {
	log := newLogs(c.Logger)
	// Not CommandContext: ctx bounds the start, and the server outlives it.
	cmd := exec.Command(c.Binary, "-c", dir.config()) //nolint:noctx // see above
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start server %q: %w", c.Name, err)
	}
	b := &process{cmd: cmd, exited: make(chan struct{})}
	go func() {
		b.status = cmd.Wait()
		close(b.exited)
	}()
	if err := b.listening(ctx, dir.ports()); err != nil {
		return nil, startError(c.Name, errors.Join(err, b.kill(context.WithoutCancel(ctx))), log)
	}
	return b, nil
}

// listening waits for the ports file, which the server writes once all its
// listeners are open.
func (b *process) listening(ctx context.Context, dir string) error {
	return poll(ctx, "server does not listen", func() error {
		select {
		case <-b.exited:
			return finalError{fmt.Errorf("the server ended: %w", b.status)}
		default:
		}
		url, err := readPorts(dir)
		b.url = url
		return err
	})
}

// readPorts returns the client URL in the ports file. The file is not written
// in one piece, so that half of it is no reason to give up.
func readPorts(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.ports"))
	if err != nil || len(files) == 0 {
		return "", errors.Join(errors.New("no ports file yet"), err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return "", err
	}
	var p server.Ports
	if err := json.Unmarshal(data, &p); err != nil || len(p.Nats) == 0 {
		return "", errors.Join(fmt.Errorf("no client URL in %q", data), err)
	}
	return p.Nats[0], nil
}

func (b *process) clientURL() string { return b.url }

func (b *process) stop(ctx context.Context) error {
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send SIGTERM to the server: %w", err)
	}
	return b.wait(ctx)
}

func (b *process) kill(ctx context.Context) error {
	if err := b.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the server: %w", err)
	}
	return b.wait(ctx)
}

func (b *process) wait(ctx context.Context) error {
	select {
	case <-b.exited:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the server to end: %w", context.Cause(ctx))
	}
}
