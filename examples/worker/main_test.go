package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
	"github.com/natsmig/natsmig/readiness"
)

// worker is the program as a process of its own.
type worker struct {
	t     *testing.T
	cmd   *exec.Cmd
	ended chan error

	mu   sync.Mutex
	log  []string
	addr string
}

func start(t *testing.T, url string) *worker {
	t.Helper()
	program := filepath.Join(t.TempDir(), "worker")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w := &worker{t: t, cmd: exec.CommandContext(t.Context(), program), ended: make(chan error, 1)}
	w.cmd.Env = append(os.Environ(), "NATS_URL="+url, "ADDR=127.0.0.1:0")
	stderr, err := w.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		w.read(stderr)
		w.ended <- w.cmd.Wait()
	}()
	w.until(func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.addr == "" {
			return errors.New("no probes are served")
		}
		return nil
	})
	return w
}

// read reads the records until the process has closed its end.
func (w *worker) read(r io.Reader) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var record struct{ Msg, Addr string }
		_ = json.Unmarshal(lines.Bytes(), &record) // a panic is no record
		w.mu.Lock()
		w.log = append(w.log, lines.Text())
		if record.Addr != "" {
			w.addr = record.Addr
		}
		w.mu.Unlock()
	}
}

// until waits, and shows the log if it was in vain.
func (w *worker) until(cond func() error) {
	w.t.Helper()
	natstest.Eventually(w.t, 30*time.Second, func() error {
		if err := cond(); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			return fmt.Errorf("%w\n%s", err, strings.Join(w.log, "\n"))
		}
		return nil
	})
}

// answers waits until a probe has the status.
func (w *worker) answers(path string, want int) {
	w.t.Helper()
	w.until(func() error {
		ask, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+w.addr+path, http.NoBody)
		if err != nil {
			return err
		}
		r, err := http.DefaultClient.Do(ask)
		if err != nil {
			return err
		}
		defer r.Body.Close()
		if body, _ := io.ReadAll(r.Body); r.StatusCode != want {
			return fmt.Errorf("%s has %s: %s", path, r.Status, body)
		}
		return nil
	})
}

// exit is the status with which the process ends.
func (w *worker) exit() int {
	w.t.Helper()
	select {
	case err := <-w.ended:
		w.t.Log("the worker has ended:", err)
		return w.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		w.t.Fatal("the worker does not end")
		return 0
	}
}

func (w *worker) logged(parts ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.log, func(line string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
	})
}

func stream(t *testing.T, js jetstream.JetStream, name, subject string) jetstream.Stream {
	t.Helper()
	s, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func publish(t *testing.T, js jetstream.JetStream, payload string) {
	t.Helper()
	if _, err := js.Publish(t.Context(), "orders.new", []byte(payload)); err != nil {
		t.Fatal(err)
	}
}

// TestWorker starts before its stream is there, bills, keeps what can not be read,
// and ends on SIGTERM with an order under way.
func TestWorker(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	w := start(t, s.URL())
	w.answers("/livez", http.StatusOK)
	w.answers("/startupz", http.StatusServiceUnavailable)
	w.answers("/readyz", http.StatusServiceUnavailable)
	orders, dlq := stream(t, s.JS, "ORDERS", "orders.>"), stream(t, s.JS, "DLQ", "dlq.>")
	w.answers("/startupz", http.StatusOK)
	w.answers("/readyz", http.StatusOK)

	for i := range 20 {
		publish(t, s.JS, fmt.Sprintf(`{"id": "o%d"}`, i))
	}
	publish(t, s.JS, "not an order")
	w.settled(orders, 21, 0)
	if info, err := dlq.Info(t.Context()); err != nil || info.State.Msgs != 1 {
		t.Errorf("the dead-letter stream holds %+v, %v", info.State, err)
	}
	if !w.logged(`"order billed"`, `"order":"o19"`) || !w.logged(`"message captured"`, `"reason":"discarded"`) {
		t.Error("it is not told what was billed and captured")
	}

	publish(t, s.JS, `{"id": "slow", "milliseconds": 1500}`)
	w.settled(orders, 21, 1)
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := w.exit(); code != 0 {
		t.Errorf("exit status %d\n%s", code, strings.Join(w.log, "\n"))
	}
	w.settled(orders, 22, 0)
	if !w.logged(`"order":"slow"`) || !w.logged(`"drain ended"`, `"held":0,"asked":0`) {
		t.Error("it did not drain")
	}
}

// settled waits until the ack floor and what is pending are so.
func (w *worker) settled(s jetstream.Stream, floor uint64, pending int) {
	w.t.Helper()
	w.until(func() error {
		c, err := s.Consumer(w.t.Context(), "billing")
		if err != nil {
			return err
		}
		if i := c.CachedInfo(); i.AckFloor.Stream != floor || i.NumAckPending != pending {
			return fmt.Errorf("floor %d, pending %d", i.AckFloor.Stream, i.NumAckPending)
		}
		return nil
	})
}

// TestWorkerIsRejected has a durable that the declaration can not become.
func TestWorkerIsRejected(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	orders := stream(t, s.JS, "ORDERS", "orders.>")
	if _, err := orders.CreateConsumer(t.Context(), jetstream.ConsumerConfig{
		Durable: "billing", AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverNewPolicy,
	}); err != nil {
		t.Fatal(err)
	}
	w := start(t, s.URL())
	if code := w.exit(); code != 1 || !w.logged(`"worker failed"`, "10012") {
		t.Errorf("exit status %d\n%s", code, strings.Join(w.log, "\n"))
	}
}

// TestDeployment holds the manifest against the program.
func TestDeployment(t *testing.T) {
	t.Parallel()
	manifest, err := os.ReadFile("k8s/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	grace := regexp.MustCompile(`terminationGracePeriodSeconds: (\d+)`).FindSubmatch(manifest)
	if grace == nil {
		t.Fatal("no terminationGracePeriodSeconds")
	}
	seconds, err := strconv.Atoi(string(grace[1]))
	if err != nil {
		t.Fatal(err)
	}
	const end = 5 * time.Second // the handlers' last words, and the process itself
	if have := time.Duration(seconds) * time.Second; have < config(slog.New(slog.DiscardHandler)).DrainTimeout+end {
		t.Errorf("the pod is killed after %v, and the drain may take %v", have, drainTimeout)
	}
	probes := regexp.MustCompile(`path: (\S+),`).FindAllSubmatch(manifest, -1)
	if len(probes) != 3 {
		t.Errorf("%d probes, want three", len(probes))
	}
	for _, p := range probes {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, string(p[1]), http.NoBody)
		answer := httptest.NewRecorder()
		new(readiness.Group).Handler().ServeHTTP(answer, r)
		if answer.Code == http.StatusNotFound {
			t.Errorf("nobody serves %s", p[1])
		}
	}
}
