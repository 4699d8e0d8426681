package readiness_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/readiness"
)

// told is a report with the time since the start of the sequence.
type told struct {
	At   time.Duration
	Kind readiness.Kind
}

type sequence struct {
	*readiness.Gate
	began time.Time
	all   []told
}

func begin(t *testing.T) *sequence {
	t.Helper()
	s := &sequence{began: time.Now()}
	s.Gate = readiness.NewGate(readiness.GateConfig{Name: "S/d", Report: func(r readiness.Report) {
		if r.Kind != readiness.Quiet {
			s.all = append(s.all, told{time.Since(s.began), r.Kind})
		}
	}})
	return s
}

// fail fails until the time is over, at the gate's own cadence.
func (s *sequence) fail(err error, until time.Duration) (attempts int) {
	for time.Since(s.began) < until {
		time.Sleep(s.Failed(err))
		attempts++
	}
	return attempts
}

func (s *sequence) want(t *testing.T, want ...told) {
	t.Helper()
	if d := cmp.Diff(want, s.all); d != "" {
		t.Errorf("reports (-want +got):\n%s", d)
	}
}

func TestNeverBinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		if n := s.fail(jetstream.ErrConsumerNotFound, 5*time.Second); n != 20 {
			t.Errorf("%d attempts in the first 5 s, want 20", n)
		}
		if n := s.fail(jetstream.ErrConsumerNotFound, 6*time.Minute); n != 71 {
			t.Errorf("%d attempts until 6 m, want one in 5 s", n)
		}
		s.want(t, told{10 * time.Second, readiness.Loud}, told{5 * time.Minute, readiness.Escalated})
		if st := s.Status(); st.Ready || st.Started || st.Class != readiness.MissingConsumer || st.Attempts != 91 {
			t.Errorf("%+v", st)
		}
	})
}

func TestBindsThenLoses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		s.fail(jetstream.ErrConsumerNotFound, time.Second)
		s.Bound(time.Now())
		if !s.Status().Ready {
			t.Error("not ready though bound")
		}
		time.Sleep(time.Minute)
		s.Lost(jetstream.ErrConsumerDeleted)
		if s.Status().Ready {
			t.Error("ready though lost")
		}
		if n := s.fail(jetstream.ErrConsumerNotFound, 71*time.Second); n != 2 {
			t.Errorf("%d attempts in 10 s: the fast cadence came back", n)
		}
		s.Bound(time.Now())
		s.want(t, told{61 * time.Second, readiness.Loud}, told{71 * time.Second, readiness.Recovered})
	})
}

func TestBindsInStartUpThenLoses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		s.Bound(time.Now())
		time.Sleep(time.Second)
		s.Failed(jetstream.ErrConsumerNotFound)
		s.want(t, told{time.Second, readiness.Loud})
	})
}

func TestDisturbedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		s.Disturbed(nats.ErrDisconnected)
		if s.Status().Ready {
			t.Error("ready before it was bound")
		}
		s.Bound(time.Now())
		s.Disturbed(jetstream.ErrConsumerLeadershipChanged)
		time.Sleep(9 * time.Second)
		if !s.Status().Ready {
			t.Error("not ready within the grace")
		}
		s.Alive()
		s.Disturbed(nats.ErrDisconnected)
		time.Sleep(11 * time.Second)
		if st := s.Status(); st.Ready || st.FailingSince == nil || !st.FailingSince.Equal(s.began.Add(9*time.Second)) {
			t.Errorf("after the grace: %+v", st)
		}
		s.Bound(time.Now())
		if !s.Status().Ready {
			t.Error("not ready after all")
		}
		s.want(t)
	})
}

// TestLongOutage: the connection is away, of which the gate hears again and again.
func TestLongOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		s.Bound(time.Now())
		time.Sleep(time.Minute)
		for time.Since(s.began) < 7*time.Minute {
			s.Disturbed(nats.ErrDisconnected)
			time.Sleep(2500 * time.Millisecond)
		}
		if st := s.Status(); st.Ready || st.FailingSince == nil || !st.FailingSince.Equal(s.began.Add(time.Minute)) {
			t.Errorf("%+v", st)
		}
		s.Reconnected()
		s.Failed(jetstream.ErrJetStreamNotEnabled) // it has not come up yet
		time.Sleep(5 * time.Second)
		s.Bound(time.Now())
		s.want(t, told{70 * time.Second, readiness.Loud}, told{6 * time.Minute, readiness.Escalated}, told{425 * time.Second, readiness.Recovered})
		if st := s.Status(); !st.Ready || st.FailingSince != nil || st.Attempts != 0 || st.Failures != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// TestNeverConnects: an outage that was there before the runner.
func TestNeverConnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		for time.Since(s.began) < 12*time.Second {
			s.Disturbed(nats.ErrDisconnected)
			time.Sleep(2500 * time.Millisecond)
		}
		s.want(t, told{10 * time.Second, readiness.Loud})
	})
}

// TestPassingFailureAfterABind: a server that restarts refuses for a moment, which
// takes the readiness from nobody; a consumer that is gone is another matter.
func TestPassingFailureAfterABind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		s.Bound(time.Now())
		s.Disturbed(nats.ErrDisconnected)
		time.Sleep(2 * time.Second)
		if wait := s.Failed(&jetstream.APIError{Code: 503, ErrorCode: 10008}); wait != 5*time.Second {
			t.Errorf("next attempt after %v", wait)
		}
		if st := s.Status(); !st.Ready || st.Class != readiness.NoQuorum {
			t.Errorf("%+v", st)
		}
		time.Sleep(8 * time.Second)
		s.Failed(&jetstream.APIError{Code: 503, ErrorCode: 10008})
		s.want(t, told{10 * time.Second, readiness.Loud})
	})
}

// TestAliveEndsAFailure: delivery was silent for longer than the grace, and is heard
// again without a bind.
func TestAliveEndsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		s.Alive()
		if s.Status().Ready {
			t.Error("ready before it was bound")
		}
		s.Bound(time.Now())
		s.Disturbed(jetstream.ErrNoHeartbeat)
		time.Sleep(10 * time.Second)
		s.Disturbed(jetstream.ErrNoHeartbeat)
		time.Sleep(time.Second)
		s.Alive()
		if !s.Status().Ready {
			t.Error("not ready though alive")
		}
		s.want(t, told{10 * time.Second, readiness.Loud}, told{11 * time.Second, readiness.Recovered})
	})
}

func TestStopIsSilentOnlyForItsOwnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		live := begin(t)
		live.Stopped(ctx, context.Canceled)
		live.want(t, told{0, readiness.Loud})
		cancel()
		done := begin(t)
		done.Stopped(ctx, context.Canceled)
		done.want(t)
		other := begin(t)
		other.Stopped(ctx, context.DeadlineExceeded)
		other.want(t, told{0, readiness.Loud})
		if other.Bound(time.Now()); other.Status().Ready {
			t.Error("ready after its end")
		}
	})
}

func TestDeniedUntilBoundOnAnotherConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		s.Bound(time.Now())
		s.Denied(errors.New(`nats: permissions violation: Permissions Violation for Publish to "$JS.ACK.S.d.1.1.1.1.0"`))
		s.Alive()
		s.Failed(context.DeadlineExceeded) // what the denial looks like to a request
		s.Bound(time.Now())
		if st := s.Status(); st.Ready || st.Class != readiness.Denied {
			t.Errorf("%+v", st)
		}
		s.Reconnected()
		s.Bound(time.Now())
		if !s.Status().Ready {
			t.Error("not ready on another connection")
		}
		s.want(t, told{0, readiness.Loud}, told{0, readiness.Recovered})
	})
}
