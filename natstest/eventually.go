package natstest

import (
	"context"
	"testing"
	"time"
)

const pollEvery = 10 * time.Millisecond

// Eventually calls cond until it returns nil. The test fails, with cond's last
// error, if that does not happen in time. cond is called at least once, and
// never again after Eventually has returned.
func Eventually(tb testing.TB, timeout time.Duration, cond func() error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(lasting(tb), timeout)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := cond()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatalf("not true after %v: %v", timeout, err)
		}
	}
}
