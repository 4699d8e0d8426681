package embedded_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/embedded"
)

// onEachKind runs the test with both kinds of broker. The external one is built
// from the module's own requirement, so that nothing is downloaded or skipped.
func onEachKind(t *testing.T, test func(t *testing.T, binary string)) {
	t.Helper()
	t.Parallel()
	built := buildServer(t)
	for _, kind := range []struct{ name, binary string }{{"in process", ""}, {"external", built}} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			test(t, kind.binary)
		})
	}
}

func buildServer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nats-server")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/nats-io/nats-server/v2")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build nats-server: %v\n%s", err, out)
	}
	return path
}

func start(t *testing.T, c embedded.Config) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, s)
	return s
}

func closeLater(t *testing.T, c interface{ Close() error }) {
	t.Helper()
	t.Cleanup(func() { must(t, c.Close()) })
}

// connect returns a JetStream handle; a lost connection comes back quickly.
func connect(t *testing.T, urls string, opts ...nats.Option) jetstream.JetStream {
	t.Helper()
	quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}) // the default one prints
	opts = append(opts, quiet, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	nc, err := nats.Connect(urls, opts...)
	must(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	must(t, err)
	return js
}

func makeStream(t *testing.T, js jetstream.JetStream, c jetstream.StreamConfig) {
	t.Helper()
	_, err := js.CreateStream(t.Context(), c)
	must(t, err)
}

// publish tries again while nobody answers: a new leader's interest reaches the
// client's server a little after the leader calls itself one.
func publish(t *testing.T, js jetstream.JetStream, subject string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := js.Publish(ctx, subject, []byte("hello"), jetstream.WithRetryAttempts(1000), jetstream.WithRetryWait(20*time.Millisecond))
	must(t, err)
}

// messages waits until the stream S can be asked and returns its message count.
func messages(t *testing.T, js jetstream.JetStream) uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		s, err := js.Stream(ctx, "S")
		if err == nil {
			return s.CachedInfo().State.Msgs
		}
		if ctx.Err() != nil {
			t.Fatalf("look up the stream: %v", err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// logBuffer collects what a broker logs.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) contains(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Contains(b.buf.Bytes(), []byte(text))
}

func (b *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }
