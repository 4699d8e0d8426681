package slogging_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
	"github.com/natsmig/natsmig/readiness"
)

// TestSequences are the transitions of readiness as an operator reads them: all
// that a runner writes from its start to its end.
func TestSequences(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(*scene){
		"never binds":                  neverBinds,
		"binds then loses":             bindsThenLoses,
		"binds then another is there":  bindsThenAnother,
		"binds in start-up then loses": bindsInStartUpThenLoses,
		"bound at once then loses":     boundAtOnceThenLoses,
		"stopped during an attempt":    stoppedDuringAnAttempt,
		"canceled by somebody else":    canceledBySomebodyElse,
		"connection closed":            connectionClosed,
		"server restarted":             serverRestarted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(newScene(t))
		})
	}
}

// neverBinds: twenty fast attempts and the first steady one are worth a debug line,
// and the second steady one, after 10 s, is for a person.
func neverBinds(s *scene) {
	const class = "missing-consumer"
	s.run(s.JS, jsconsumer.Config{}, jsconsumer.Hooks{})
	s.told(loud(class), 1)
	s.status(readiness.Status{State: readiness.Failing, Class: readiness.MissingConsumer, Attempts: 22, Failures: 22})
	s.stop()
	startUp, told := quiet(class), loud(class)
	startUp.Count, startUp.Attempts, startUp.For = 21, 21, steady
	told.Attempts, told.At = 22, 2*steady
	s.want(startUp, told, drainBegan, drainEnded)
}

func bindsThenLoses(s *scene) {
	s.create()
	s.run(s.JS, jsconsumer.Config{Recreate: jsconsumer.Afresh}, jsconsumer.Hooks{})
	s.told(bound, 1)
	s.pastStartUp()
	s.asked()
	s.remove()
	s.told(bound, 2)
	s.status(readiness.Status{Ready: true, Started: true, State: readiness.BoundNow, Failures: 1, Recreated: 1})
	s.stop()
	const class = "missing-consumer"
	s.want(
		bound, quiet(class), disturbed(class), loud(class), lost(class),
		isAnother(class), recreated, recovered(class), bound,
		drainBegan, drainEnded,
	)
}

// bindsThenAnother: without a policy the consumer that somebody else created is no
// recovery.
func bindsThenAnother(s *scene) {
	s.create()
	s.run(s.JS, jsconsumer.Config{}, jsconsumer.Hooks{
		// The attempt after the loss finds none, and the next one another.
		Report: func(r jsconsumer.Report) {
			if r.Attempts == 1 {
				s.create()
			}
		},
	})
	s.told(bound, 1)
	s.pastStartUp()
	s.asked()
	s.remove()
	s.told(quiet("transient"), 1)
	s.status(readiness.Status{Started: true, State: readiness.Failing, Class: readiness.Transient, Attempts: 2, Failures: 3})
	s.stop()
	const class = "missing-consumer"
	missing, another := quiet(class), quiet("transient")
	missing.Attempts = 1
	another.Attempts, another.At = 2, steady
	s.want(bound, quiet(class), disturbed(class), loud(class), lost(class), missing, another, drainBegan, drainEnded)
}

// bindsInStartUpThenLoses: one bind spends the start-up, though it was within it.
func bindsInStartUpThenLoses(s *scene) {
	const class = "missing-consumer"
	s.run(s.JS, jsconsumer.Config{}, jsconsumer.Hooks{
		Report: func(r jsconsumer.Report) {
			if r.Attempts == 3 {
				s.create()
			}
		},
		Bound: func(jsconsumer.Bound) { s.remove() },
	})
	s.steadyAfterALoss(class, 3)
	early := quiet(class)
	early.Count, early.Attempts = 3, 3
	s.want(append([]entry{early, bound}, lossWithoutAPull(class)...)...)
}

func boundAtOnceThenLoses(s *scene) {
	s.create()
	s.run(s.JS, jsconsumer.Config{}, jsconsumer.Hooks{Bound: func(jsconsumer.Bound) { s.remove() }})
	s.steadyAfterALoss("missing-consumer", 0)
	s.want(append([]entry{bound}, lossWithoutAPull("missing-consumer")...)...)
}

// steadyAfterALoss waits for the second attempt after a loss, before which there were
// some. At the fast cadence there are more than twenty until then.
func (s *scene) steadyAfterALoss(class string, before int) {
	s.t.Helper()
	s.told(quiet(class), before+2)
	s.status(readiness.Status{Started: true, State: readiness.Failing, Class: readiness.Class(class), Attempts: 2, Failures: before + 3})
	if n := s.r.Status().Counts.SetUps; n != uint64(before+3) { //nolint:gosec // small
		s.t.Errorf("%d set-ups, want %d before the bind, the bind, and two after it", n, before)
	}
	s.stop()
}

// lossWithoutAPull is told of a consumer that goes before the first pull, to which
// nobody responds.
func lossWithoutAPull(class string) []entry {
	after := quiet(class)
	after.Count, after.Attempts, after.For = 2, 2, steady
	return []entry{quiet("transient"), disturbed("transient"), loud(class), lost(class), after, drainBegan, drainEnded}
}

// client asks the broker for a consumer with a context that somebody has changed.
type client struct {
	jetstream.JetStream
	change func(context.Context) context.Context
}

func (c client) Consumer(ctx context.Context, stream, name string) (jetstream.Consumer, error) {
	return c.JetStream.Consumer(c.change(ctx), stream, name)
}

func canceled(context.Context) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// stoppedDuringAnAttempt: the request that is under way is canceled with the runner.
func stoppedDuringAnAttempt(s *scene) {
	asking := make(chan struct{})
	s.run(client{s.JS, func(ctx context.Context) context.Context {
		close(asking)
		<-ctx.Done()
		return ctx
	}}, jsconsumer.Config{}, jsconsumer.Hooks{})
	<-asking
	s.stop()
	s.want(drainBegan, drainEnded)
}

// canceledBySomebodyElse: the same error is told of while the runner's own context
// is live.
func canceledBySomebodyElse(s *scene) {
	s.create()
	var on atomic.Bool
	s.run(client{s.JS, func(ctx context.Context) context.Context {
		if on.Load() {
			return canceled(ctx)
		}
		return ctx
	}}, jsconsumer.Config{Inspect: 50 * time.Millisecond}, jsconsumer.Hooks{})
	s.told(bound, 1)
	s.mark()
	on.Store(true)
	s.told(loud("canceled"), 1)
	s.status(readiness.Status{Started: true, State: readiness.Failing, Class: readiness.Canceled, Attempts: 1, Failures: 1})
	s.stop()
	told := loud("canceled")
	told.Attempts = 1
	s.want(bound, told, drainBegan, drainEnded)
}

// connectionClosed: an end that nobody asked the runner for is an error.
func connectionClosed(s *scene) {
	s.create()
	s.run(s.JS, jsconsumer.Config{}, jsconsumer.Hooks{})
	s.told(bound, 1)
	s.asked()
	s.mark()
	s.NC.Close()
	if err := <-s.ended; err == nil {
		s.t.Error("Run returned without an error")
	}
	s.compare([]entry{bound, loud("closed")}, s.sequence())
}

// serverRestarted is worth debug lines, of which there are as many as the client and
// the broker happen to say.
func serverRestarted(s *scene) {
	s.create()
	s.run(s.JS, jsconsumer.Config{}, jsconsumer.Hooks{})
	s.told(bound, 1)
	s.asked()
	s.Restart()
	s.told(bound, 2)
	s.status(readiness.Status{Ready: true, Started: true, State: readiness.BoundNow, Failures: s.r.Status().Readiness.Failures})
	s.stop()
	var told []entry
	for _, e := range s.sequence() {
		e.At = 0
		switch {
		case e.Level != "DEBUG":
			told = append(told, e)
		case e.Class != "transient" && e.Class != "no-quorum":
			s.t.Errorf("class of what passes: %+v", e)
		}
	}
	s.compare([]entry{bound, bound, drainBegan, drainEnded}, told)
	if s.count(disturbed("transient")) == 0 {
		s.t.Errorf("the restart was not told:\n%s", s.String())
	}
}

// pastStartUp waits until the fast attempts of the start-up would be over.
func (s *scene) pastStartUp() {
	s.t.Helper()
	natstest.Eventually(s.t, 20*time.Second, func() error {
		if at := s.r.Status().Readiness.Since; time.Since(at) < steady {
			return context.DeadlineExceeded
		}
		return nil
	})
}

// status compares what the gate says, without its times.
func (s *scene) status(want readiness.Status) {
	s.t.Helper()
	got := s.r.Status().Readiness
	want.Name, got.Reason, got.Since, got.FailingSince, got.Created = "S/d", "", time.Time{}, nil, nil
	if d := cmp.Diff(want, got); d != "" {
		s.t.Errorf("status (-want +got):\n%s", d)
	}
}
