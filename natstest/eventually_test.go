package natstest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/natsmig/natsmig/natstest"
)

func TestEventually(t *testing.T) {
	t.Parallel()
	calls := 0
	natstest.Eventually(t, time.Minute, func() error {
		if calls++; calls < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
}

func TestEventuallyGivesUp(t *testing.T) {
	t.Parallel()
	fake := &fakeTB{TB: t}
	failures := fake.run(func() {
		natstest.Eventually(fake, 50*time.Millisecond, func() error { return errors.New("still red") })
		fake.Errorf("not reached")
	})
	if len(failures) != 1 || failures[0] != "not true after 50ms: still red" {
		t.Errorf("failures: %q", failures)
	}
}
