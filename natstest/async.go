package natstest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// AsyncError is an error that a connection reported to its error handler.
type AsyncError struct {
	Subject string // of the subscription it is about, or empty
	Err     error
}

// Error returns the error's text with the subject it is about.
func (e AsyncError) Error() string {
	if e.Subject == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("subscription on %q: %v", e.Subject, e.Err)
}

// Unwrap returns the error as the client library reported it.
func (e AsyncError) Unwrap() error { return e.Err }

// asyncErrors collects what the error handler of a connection is called with.
type asyncErrors struct {
	mu   sync.Mutex
	errs []AsyncError
	more chan struct{} // closed, and replaced, when an error comes in
}

func newAsyncErrors() *asyncErrors {
	return &asyncErrors{more: make(chan struct{})}
}

// around returns a handler that collects and then calls next, if there is one.
func (a *asyncErrors) around(next nats.ErrHandler) nats.ErrHandler {
	return func(nc *nats.Conn, sub *nats.Subscription, err error) {
		e := AsyncError{Err: err}
		if sub != nil {
			e.Subject = sub.Subject
		}
		a.add(e)
		if next != nil {
			next(nc, sub, err)
		}
	}
}

func (a *asyncErrors) add(e AsyncError) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.errs = append(a.errs, e)
	close(a.more)
	a.more = make(chan struct{})
}

// list returns the errors so far, and a channel that is closed at the next one.
func (a *asyncErrors) list() ([]AsyncError, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.errs), a.more
}

// AsyncErrors returns the asynchronous errors of the connection so far.
func (c *Client) AsyncErrors() []AsyncError {
	errs, _ := c.async.list()
	return errs
}

// RequireNoAsyncErrors fails the test if there was an asynchronous error. It
// first lets the server answer what was sent, so that an error which is on its
// way is not missed.
func (c *Client) RequireNoAsyncErrors() {
	c.tb.Helper()
	if c.NC.IsConnected() {
		if err := c.NC.FlushTimeout(reconnectTimeout); err != nil {
			c.tb.Fatalf("flush the connection: %v", err)
		}
	}
	errs := c.AsyncErrors()
	if len(errs) == 0 {
		errs = c.undelivered()
	}
	for _, err := range errs {
		c.tb.Errorf("unexpected asynchronous error: %v", err)
	}
}

// undelivered returns the error that the connection has read and may not have
// passed to its handler yet: another goroutine does that.
func (c *Client) undelivered() []AsyncError {
	err := c.NC.LastError()
	if errors.Is(err, nats.ErrPermissionViolation) || errors.Is(err, nats.ErrSlowConsumer) {
		return []AsyncError{{Err: err}}
	}
	return nil
}

// WaitAsyncError returns the first asynchronous error that matches, waiting for
// it if it has not come yet. The test fails if none comes in time.
func (c *Client) WaitAsyncError(timeout time.Duration, match func(error) bool) AsyncError {
	c.tb.Helper()
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for {
		errs, more := c.async.list()
		if i := slices.IndexFunc(errs, func(e AsyncError) bool { return match(e) }); i >= 0 {
			return errs[i]
		}
		select {
		case <-more:
		case <-deadline.C:
			c.tb.Fatalf("no matching asynchronous error after %v, but %d others: %v", timeout, len(errs), errs)
		}
	}
}
