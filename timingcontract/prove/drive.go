package prove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/timingcontract"
)

// The durable of every run, each on its own stream, and the advisories that
// concern it.
const (
	durable       = "proof"
	maxDeliveries = "MAX_DELIVERIES"
	msgTerminated = "MSG_TERMINATED"
	advisories    = "$JS.EVENT.ADVISORY.CONSUMER."
)

// late is how long is waited for what does not come.
const late = 5 * time.Second

// drive lets a message fail as the contract says, and records what happens.
func (r *run) drive(ctx context.Context) error {
	next, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	// The pulls outlive the measurement, so that none ends by itself.
	listen, stop := context.WithTimeout(ctx, r.horizon()+time.Minute)
	defer stop()
	for _, what := range []string{maxDeliveries, msgTerminated} {
		sub, err := r.nc.Subscribe(advisories+what+"."+r.stream+"."+durable, func(m *nats.Msg) { r.advised(what, m) })
		if err != nil {
			return fmt.Errorf("subscribe to advisories: %w", err)
		}
		defer sub.Unsubscribe() //nolint:errcheck // the connection is closed next
	}
	if err := r.nc.Publish(r.stream, nil); err != nil {
		return fmt.Errorf("publish the message: %w", err)
	}
	received := make(chan error, 1)
	go func() { received <- r.receive(listen, next) }()
	r.watch(listen)
	stop()
	return <-received
}

// horizon is how long a run takes at most.
func (r *run) horizon() time.Duration {
	end := r.course.Exhausted
	if n := len(r.course.Deliveries); n > 0 {
		end = max(end, r.course.Deliveries[n-1])
	}
	return end + r.quiet() + late
}

// prepare makes the stream and the durable, and says how to get messages of it.
func (r *run) prepare(ctx context.Context) (puller, error) {
	js, err := jetstream.New(r.nc)
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	s, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: r.stream, Subjects: []string{r.stream}, Storage: jetstream.MemoryStorage})
	if err != nil {
		return nil, fmt.Errorf("make a stream: %w", err)
	}
	c := &r.proof.Scaled
	cons, err := s.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: durable, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: c.AckWait, BackOff: c.Ladder, MaxDeliver: c.MaxDeliver,
	})
	if err != nil {
		return nil, fmt.Errorf("make a durable: %w", err)
	}
	if r.proof.Client == Modern {
		return modern(cons), nil
	}
	return legacy(r.nc, r.stream)
}

// receive gets the deliveries, one pull after another, so that one is always
// open.
func (r *run) receive(ctx context.Context, next puller) error {
	for {
		d, err := next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it ends with the measurement
		case overdue(err), err == nil && d == nil: // nothing came before the pull was over
			continue
		case err != nil:
			return fmt.Errorf("get a message: %w", err)
		}
		r.record("delivery", d.number)
		go r.handle(ctx, d, time.Now())
	}
}

// overdue says whether a pull ended without a message because the machine is too
// busy for heartbeats.
func overdue(err error) bool {
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoHeartbeat)
}

// handle fails as the contract says.
func (r *run) handle(ctx context.Context, d *delivery, began time.Time) {
	h := r.proof.Scaled.Handler
	switch r.proof.Case {
	case timingcontract.TimeOut:
		return
	case timingcontract.Instant:
		h.Budget, h.Heartbeat = 0, timingcontract.Heartbeat{}
	case timingcontract.WholeBudget:
	}
	if every := h.Heartbeat.Every; every > 0 {
		for at := every; at < h.Budget && (h.Heartbeat.Cap == 0 || at <= h.Heartbeat.Cap); at += every {
			if !until(ctx, began.Add(at)) {
				return
			}
			r.act("in_progress", d, d.inProgress)
		}
	}
	if !until(ctx, began.Add(h.Budget)) {
		return
	}
	switch h.OnFailure {
	case timingcontract.Nak:
		r.act("nak", d, d.nak)
	case timingcontract.NakDelay:
		wait := h.Delays[min(d.number, len(h.Delays))-1]
		r.act("nak "+wait.String(), d, func() error { return r.nakDelay(d, wait, h.Raw()) })
	case timingcontract.Discard:
		r.act("term", d, d.term)
	case timingcontract.Ladder, "":
	}
}

// nakDelay asks for a delay by the client's own method, or raw where that would
// not send it.
func (r *run) nakDelay(d *delivery, wait time.Duration, raw bool) error {
	if !raw {
		return d.nakDelay(wait)
	}
	return r.nc.Publish(d.reply, fmt.Appendf(nil, `-NAK {"delay": %d}`, wait))
}

func (r *run) act(what string, d *delivery, do func() error) {
	r.record(what, d.number)
	if err := do(); err != nil {
		r.record(what+" failed: "+err.Error(), d.number)
	}
}

// until waits for a moment, and says whether it came.
func until(ctx context.Context, at time.Time) bool {
	wait := time.Until(at)
	if wait <= 0 {
		return true
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *run) advised(what string, m *nats.Msg) {
	var a struct {
		Deliveries int `json:"deliveries"`
	}
	if json.Unmarshal(m.Data, &a) == nil {
		r.record(what, a.Deliveries)
	}
}

func (r *run) record(what string, delivery int) {
	now := time.Now()
	r.mu.Lock()
	if r.start.IsZero() {
		r.start = now
	}
	r.proof.Raw = append(r.proof.Raw, Record{now.Sub(r.start), what, delivery})
	r.mu.Unlock()
	select {
	case r.seen <- struct{}{}:
	default:
	}
}

// watch waits until everything predicted has happened, and a while longer to see
// that nothing else does.
func (r *run) watch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.horizon())
	defer cancel()
	for !r.complete() {
		select {
		case <-r.seen:
		case <-ctx.Done():
			return
		}
	}
	after := work
	if r.course.Ended || r.course.Stalled > 0 {
		after = r.quiet()
	}
	until(ctx, time.Now().Add(after))
}

// complete says whether everything predicted has happened.
func (r *run) complete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.moment("delivery", r.last); !ok {
		return false
	}
	_, exhausted := r.moment(maxDeliveries, 0)
	_, terminated := r.moment(msgTerminated, 0)
	return (exhausted || !r.exhausts()) && (terminated || !r.course.Ended)
}
