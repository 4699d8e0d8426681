package embedded_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/embedded"
)

func TestServer(t *testing.T) {
	onEachKind(t, func(t *testing.T, binary string) {
		for name, test := range map[string]func(*testing.T, embedded.Config){
			"restart keeps store and port": testRestart,
			"kill":                         testKill,
			"close removes its own files":  testClose,
			"close leaves the named store": testStoreDir,
			"settings reach the broker":    testSettings,
			"without JetStream":            testNoJetStream,
			"configuration is refused":     testRefused,
			"logger":                       testLogger,
			"accounts and permissions":     testPermissions,
			"account limits":               testLimits,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, embedded.Config{Binary: binary})
			})
		}
	})
}

func testRestart(t *testing.T, c embedded.Config) {
	s := start(t, c)
	js := connect(t, s.ClientURL())
	makeStream(t, js, jetstream.StreamConfig{Name: "S"})
	publish(t, js, "S")
	before, name := s.ClientURL(), s.Name()
	must(t, s.Restart(t.Context()))
	if s.ClientURL() != before || s.Name() != name {
		t.Errorf("after restart: %s %s, before: %s %s", s.Name(), s.ClientURL(), name, before)
	}
	if got := messages(t, js); got != 1 {
		t.Errorf("messages after restart: %d, want 1", got)
	}
	if s.Version() != natsserver.VERSION {
		t.Errorf("version %q, want %q", s.Version(), natsserver.VERSION)
	}
}

func testKill(t *testing.T, c embedded.Config) {
	log := &logBuffer{}
	c.Logger = log.logger()
	s := start(t, c)
	js := connect(t, s.ClientURL())
	makeStream(t, js, jetstream.StreamConfig{Name: "S"})
	publish(t, js, "S")
	must(t, s.Kill(t.Context()))
	if s.Running() || listens(t, s.ClientURL()) {
		t.Errorf("after kill: running %t, listening %t", s.Running(), listens(t, s.ClientURL()))
	}
	if external := c.Binary != ""; log.contains("Initiating Shutdown") == external {
		t.Errorf("external %t, but the broker logged a shutdown: %t", external, !external)
	}
	err := s.WaitReady(t.Context())
	if err == nil || !strings.Contains(err.Error(), "down") || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait for a killed server: %v", err)
	}
	must(t, s.Start(t.Context()))
	if got := messages(t, js); got != 1 {
		t.Errorf("messages after kill: %d, want 1", got)
	}
}

func listens(t *testing.T, rawURL string) bool {
	t.Helper()
	u, err := url.Parse(rawURL)
	must(t, err)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", u.Host)
	if err != nil {
		return false
	}
	must(t, conn.Close())
	return true
}

func testClose(t *testing.T, c embedded.Config) {
	s := start(t, c)
	root := filepath.Dir(s.StoreDir())
	if !exists(filepath.Join(s.StoreDir(), "jetstream")) {
		t.Fatalf("no JetStream store in %s", s.StoreDir())
	}
	must(t, s.Close())
	if exists(root) || listens(t, s.ClientURL()) {
		t.Errorf("after close: files exist %t, listening %t", exists(root), listens(t, s.ClientURL()))
	}
	must(t, s.Close())
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("start after close: %v", err)
	}
}

func testStoreDir(t *testing.T, c embedded.Config) {
	c.StoreDir = t.TempDir()
	first := start(t, c)
	js := connect(t, first.ClientURL())
	makeStream(t, js, jetstream.StreamConfig{Name: "S"})
	must(t, first.Close())
	second := start(t, c)
	if got := messages(t, connect(t, second.ClientURL())); got != 0 {
		t.Errorf("messages: %d, want 0", got)
	}
}

func testSettings(t *testing.T, c embedded.Config) {
	c.Domain, c.MaxMemory, c.MaxStore, c.Tags = "shop", 1<<20, 1<<30, []string{"az:a"}
	c.Extra = "max_payload: 2048"
	s := start(t, c)
	js := connect(t, s.ClientURL())
	info, err := js.AccountInfo(t.Context())
	must(t, err)
	if info.Domain != "shop" {
		t.Errorf("domain %q, want shop", info.Domain)
	}
	if got := js.Conn().MaxPayload(); got != 2048 {
		t.Errorf("max_payload %d, want 2048", got)
	}
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BIG", Storage: jetstream.MemoryStorage, MaxBytes: 2 << 20})
	wantCode(t, err, 10028) // insufficient memory resources available
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BIG", MaxBytes: 2 << 30})
	wantCode(t, err, 10047) // insufficient storage resources available
	makeStream(t, js, jetstream.StreamConfig{Name: "FITS", MaxBytes: 1 << 20})
	if got := tagsOf(t, s); got != "az:a" {
		t.Errorf("tags %q, want az:a", got)
	}
}

func testNoJetStream(t *testing.T, c embedded.Config) {
	c.NoJetStream = true
	s := start(t, c)
	_, err := connect(t, s.ClientURL()).AccountInfo(t.Context())
	if !errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		t.Errorf("account info without JetStream: %v", err)
	}
}

func testRefused(t *testing.T, c embedded.Config) {
	c.Extra = "no_such_option: 1"
	s, err := embedded.New(c)
	must(t, err)
	err = s.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no_such_option") {
		t.Errorf("start with an unknown option: %v", err)
	}
	must(t, s.Close())
	if exists(filepath.Dir(s.StoreDir())) {
		t.Error("files are left behind")
	}
}

func testLogger(t *testing.T, c embedded.Config) {
	log := &logBuffer{}
	c.Logger = log.logger()
	start(t, c)
	if !log.contains(`level=INFO msg="Server is ready"`) {
		t.Errorf("no such line in the log:\n%s", log.buf.String())
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	calls := 0
	s := start(t, embedded.Config{Options: func(o *natsserver.Options) { calls++; o.MaxPayload = 4096 }})
	if got := connect(t, s.ClientURL()).Conn().MaxPayload(); got != 4096 || calls != 1 {
		t.Errorf("max_payload %d after %d calls, want 4096 after 1", got, calls)
	}
	must(t, s.Restart(t.Context()))
	if got := connect(t, s.ClientURL()).Conn().MaxPayload(); got != 4096 || calls != 2 {
		t.Errorf("after restart: max_payload %d after %d calls, want 4096 after 2", got, calls)
	}
}

func TestOptionsNeedInProcess(t *testing.T) {
	t.Parallel()
	_, err := embedded.New(embedded.Config{Binary: os.Args[0], Options: func(*natsserver.Options) {}})
	if err == nil {
		t.Error("Options together with Binary: no error")
	}
}
