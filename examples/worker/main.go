// Command worker is a small service around a jsconsumer.Runner: it bills orders. It
// shows what belongs into a main function: the connection, the probes, the records
// of what happens, and an end in good order.
//
// NATS_URL says where the broker is, and ADDR where the probes are served, :8080
// without it. The exit status is 0 after a drain that left nothing behind, and
// otherwise 1.
package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/readiness"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, log); err != nil {
		log.Error("worker failed", "error", err)
		os.Exit(1)
	}
}

// run works until ctx is done, and drained.
func run(ctx context.Context, log *slog.Logger) error {
	nc, err := connect(log)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	r, err := newRunner(js, log)
	if err != nil {
		return err
	}
	probes, err := serve(ctx, log, r)
	if err != nil {
		return err
	}
	err = r.Run(ctx)
	// The probes answer until the drain is over, and say that it is going on.
	return errors.Join(err, probes.Close())
}

// connect does not wait for the broker: until it is there, the worker is not ready.
func connect(log *slog.Logger) (*nats.Conn, error) {
	url := os.Getenv("NATS_URL")
	if url == "" {
		url = nats.DefaultURL
	}
	return nats.Connect(url,
		nats.Name("worker"),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1), // the default gives up after two minutes, and Run returns
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			log.Warn("connection", "error", err)
		}),
	)
}

// serve answers the probes of the kubelet.
func serve(ctx context.Context, log *slog.Logger, r *jsconsumer.Runner) (*http.Server, error) {
	addr := os.Getenv("ADDR")
	if addr == "" {
		addr = ":8080"
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	health := &readiness.Group{Members: []readiness.Health{r.Health()}}
	s := &http.Server{Handler: health.Handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.Serve(l) }() // ends with Close
	log.Info("probes are served", "addr", l.Addr().String())
	return s, nil
}
