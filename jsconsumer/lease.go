package jsconsumer

import (
	"context"
	"sync"
	"time"
)

// lease is the context of one attempt. It ends when the broker may deliver the
// message again, when the budget is used up, and when a drain has run out of time.
// It costs one allocation as long as nobody waits for it.
type lease struct {
	parent   context.Context
	deadline time.Time // zero: heartbeats keep it as long as it takes

	mu      sync.Mutex
	err     error
	done    chan struct{}
	forsake func() bool // stops listening to the parent
}

// Deadline is when the lease ends, if that is known.
func (l *lease) Deadline() (time.Time, bool) { return l.deadline, !l.deadline.IsZero() }

// Value is the parent's.
func (l *lease) Value(key any) any { return l.parent.Value(key) }

// Err says whether the lease has ended, and why.
func (l *lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		return l.parent.Err()
	}
	return l.err
}

// Done is closed when the lease ends.
func (l *lease) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.err != nil {
			close(l.done)
		} else {
			l.forsake = context.AfterFunc(l.parent, func() { l.end(l.parent.Err()) })
		}
	}
	return l.done
}

func (l *lease) end(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err = why
	if l.done != nil {
		close(l.done)
	}
	if l.forsake != nil {
		l.forsake()
	}
}
