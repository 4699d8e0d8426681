package jsconsumer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/engine"
	"github.com/natsmig/natsmig/readiness"
)

// A Runner consumes one durable. Make one with New; Run may be called once.
type Runner struct {
	js      jetstream.JetStream
	c       Config
	handler Handler
	e       *engine.Engine
	gate    *readiness.Gate
	floor   floorMonitor
	order   order
	tried   tried
	timing  atomic.Pointer[timing]
	figures figures
	workers workers
	sweeper sweeper

	// work ends when a drain has run out of time: handlers' contexts follow it.
	work     context.Context
	stopWork context.CancelFunc
	// soft is done when a drain begins.
	soft     context.Context
	stopSoft context.CancelFunc
	// hard is done when a drain has failed.
	hard     context.Context
	kill     context.CancelFunc
	draining sync.Once
	started  atomic.Bool
	adopted  atomic.Bool
	ended    chan struct{}

	mu     sync.Mutex
	report DrainReport
}

// New makes a runner. It sends nothing. The error lists all that is wrong with
// the configuration, the breaches of its timing contract among it.
func New(js jetstream.JetStream, c Config, h Handler) (*Runner, error) {
	c = c.withDefaults()
	r := &Runner{js: js, c: c, handler: h, ended: make(chan struct{})}
	r.work, r.stopWork = context.WithCancel(context.Background())
	r.soft, r.stopSoft = context.WithCancel(context.Background())
	r.hard, r.kill = context.WithCancel(context.Background())
	r.order.queues = map[string][]*held{}
	r.tried.seqs, r.sweeper.rescued.seqs = map[uint64]error{}, map[uint64]error{}
	r.timing.Store(timingOf(&c.Consumer))
	r.gate = r.newGate()
	r.sweeper.r, r.sweeper.due = r, make(chan *jetstream.ConsumerInfo, 1)
	e, err := engine.New(js, engine.Config{
		Stream: c.Stream, Consumer: c.Consumer, Provision: c.Provision, Recreate: c.Recreate,
		InFlight: c.Workers, Expires: c.Expires, Inspect: c.Inspect, Timeout: c.Timeout,
		On: r.on, Retry: r.retry,
	})
	if err = errors.Join(err, c.check(h)); err != nil {
		return nil, fmt.Errorf("consumer of stream %q: %w", c.Stream, err)
	}
	r.e = e
	return r, nil
}

// Errors of Run.
var (
	// ErrStarted: Run was called before.
	ErrStarted = errors.New("the runner was started before")
	// ErrLeftBehind: the drain ran out of time. The error is a DrainError.
	ErrLeftBehind = errors.New("messages were left behind")
)

// A DrainError is a drain that ran out of time.
type DrainError struct{ Report DrainReport }

// Error says what was left.
func (e *DrainError) Error() string {
	return fmt.Sprintf("drained for %v: %d messages are still with a handler, %d were asked for", e.Report.Took, e.Report.Held, e.Report.Asked)
}

// Is makes it an ErrLeftBehind.
func (e *DrainError) Is(target error) bool { return target == ErrLeftBehind }

// Run consumes until ctx is done, and drains then: it asks for no more messages,
// waits for those on their way, and for the handlers, at most for DrainTimeout;
// then their contexts end. Nil is a drain that left nothing. It returns at once
// with an error that repeating would not mend: a configuration that the broker
// rejects, or a closed connection.
func (r *Runner) Run(ctx context.Context) error {
	if r.started.Swap(true) {
		return ErrStarted
	}
	defer r.kill()
	stopping := context.AfterFunc(ctx, func() { r.stop(context.Background()) })
	defer stopping()
	r.anotherWorker()
	r.sweeper.run(r.soft)
	left, err := r.e.Run(r.hard)
	r.stopSoft()
	if left.Held == 0 {
		r.workers.Wait()
	}
	return r.finish(ctx, left, err)
}

// finish tells how it ended.
func (r *Runner) finish(ctx context.Context, left engine.Left, err error) error {
	defer close(r.ended)
	defer r.stopWork()
	r.gate.Stopped(ctx, err)
	r.mu.Lock()
	report := r.report
	report.About, report.Held, report.Asked = r.about(), left.Held, left.Asked
	if began := r.report.Time; !began.IsZero() {
		report.Took = report.Time.Sub(began)
	}
	r.report = report
	r.mu.Unlock()
	if err != nil {
		if readiness.Classify(err).Permanent() {
			call(r.c.Hooks.Rejected, Trouble{r.about(), err})
		}
		return fmt.Errorf("consume %q of stream %q: %w", r.name(), r.c.Stream, err)
	}
	call(r.c.Hooks.DrainEnded, report)
	if !report.Clean() {
		return &DrainError{report}
	}
	return nil
}

// lastWords is how long handlers have after their contexts have ended.
const lastWords = time.Second

// stop begins the drain, and bounds it by DrainTimeout and ctx.
func (r *Runner) stop(ctx context.Context) {
	r.draining.Do(func() {
		r.stopSoft()
		r.gate.Draining()
		r.mu.Lock()
		r.report.About = r.about()
		r.mu.Unlock()
		call(r.c.Hooks.DrainStarted, r.about())
		r.e.Drain()
	})
	timeout := time.NewTimer(r.c.DrainTimeout)
	defer timeout.Stop()
	select {
	case <-r.ended:
		return
	case <-ctx.Done():
	case <-timeout.C:
	}
	r.stopWork()
	timeout.Reset(lastWords)
	select {
	case <-r.ended:
	case <-timeout.C:
		r.kill()
	}
}

func (r *Runner) about() About {
	return About{Stream: r.c.Stream, Consumer: r.name(), Time: time.Now()}
}

func (r *Runner) name() string {
	if r.c.Consumer.Durable != "" {
		return r.c.Consumer.Durable
	}
	return r.c.Consumer.Name
}
