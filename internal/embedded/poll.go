package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	pollEvery    = 20 * time.Millisecond
	startTimeout = 30 * time.Second // of a start whose context has no deadline
	stopTimeout  = 20 * time.Second
	askTimeout   = 2 * time.Second
)

// finalError is an error that no further attempt can mend.
type finalError struct{ error }

// Unwrap returns the reason.
func (e finalError) Unwrap() error { return e.error }

// poll calls try until it returns nil, a finalError, or ctx ends; then the
// error says what was waited for and what stood in the way last.
func poll(ctx context.Context, what string, try func() error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		if stop, ok := errors.AsType[finalError](err); ok {
			return stop.error
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; last: %w", what, context.Cause(ctx), err)
		}
	}
}

// bounded gives ctx a deadline if it has none.
func bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
