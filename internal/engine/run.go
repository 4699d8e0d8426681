package engine

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/readiness"
)

// Left is what an engine that ended left behind: messages that were asked for and
// may have been sent since, and deliveries that callers hold.
type Left struct{ Asked, Held int }

// Drain asks for no further messages; Run returns when the last pull has ended
// and everything that was handed out is settled. It does not wait for that.
func (e *Engine) Drain() { e.once.Do(func() { close(e.stop) }) }

// Run keeps the delivery alive until Drain, and then until it has drained. When
// ctx is done before, it ends at once and tells what it left; what is sent to an
// inbox that nobody reads any more comes again after the ack wait. The error is
// one that repeating would not mend: the broker refuses the configuration, or the
// connection is closed.
func (e *Engine) Run(ctx context.Context) (Left, error) {
	link := e.nc.StatusChanged(nats.RECONNECTING, nats.CONNECTED, nats.CLOSED)
	defer e.nc.RemoveStatusListener(link)
	defer e.watchErrors()()
	soft, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-e.stop:
			cancel()
		case <-soft.Done():
		}
	}()
	err := e.supervise(soft, link)
	if err == nil && ctx.Err() == nil {
		e.drain(ctx, link)
	}
	return e.end(), err
}

// supervise sets up and watches until soft is done.
func (e *Engine) supervise(soft context.Context, link <-chan nats.Status) error {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-soft.Done():
			return nil
		case s := <-link:
			e.linkChanged(s)
			next.Reset(0)
		case <-e.wake:
			next.Reset(0)
		case <-next.C:
			wait, err := e.step(soft)
			if err != nil || soft.Err() != nil {
				return err
			}
			next.Reset(wait)
		}
		if e.nc.IsClosed() {
			return nats.ErrConnectionClosed
		}
	}
}

// step does what is due, and tells when to look again.
func (e *Engine) step(soft context.Context) (time.Duration, error) {
	if e.isBound() {
		return e.watch(soft)
	}
	if !e.nc.IsConnected() {
		e.emit(Event{Kind: Away, Err: nats.ErrDisconnected})
		return e.c.Heartbeat, nil // the connection says when it is back
	}
	if err := e.setUp(soft); err != nil {
		return e.failed(soft, err)
	}
	return e.c.Heartbeat, nil
}

// failed tells of an attempt that failed, and when the next one is due.
func (e *Engine) failed(soft context.Context, err error) (time.Duration, error) {
	if soft.Err() != nil {
		return 0, nil //nolint:nilerr // a drain has begun, and the attempt with it is off
	}
	e.mu.Lock()
	e.trustLocked()
	e.mu.Unlock()
	if readiness.Classify(err).Permanent() {
		return 0, err
	}
	e.emit(Event{Kind: Failed, Err: err})
	return e.c.Retry(err), nil
}

func (e *Engine) isBound() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bound
}

// linkChanged follows the connection. The inbox goes with it: nats.go would
// subscribe to it again, and pulls that the server still has would deliver beside
// those that are made now.
func (e *Engine) linkChanged(s nats.Status) {
	if s == nats.CONNECTED {
		e.emit(Event{Kind: Reconnected})
		return
	}
	if s == nats.RECONNECTING {
		e.mu.Lock()
		ep := e.epoch
		e.epoch, e.bound, e.denied, e.trouble = nil, false, false, nil
		e.mu.Unlock()
		if ep != nil {
			_ = ep.sub.Unsubscribe() // fails on a connection that is closed, where nothing is left to do
		}
		e.emit(Event{Kind: Disconnected, Err: nats.ErrDisconnected})
	}
}

// drain waits for the last pull to end, then for callers to settle. Only a pull's
// own end is waited for: the server looks for interest first and sends then, so
// that unsubscribing before would strand what is sent in between.
func (e *Engine) drain(ctx context.Context, link <-chan nats.Status) {
	e.mu.Lock()
	e.draining = true
	e.mu.Unlock()
	tick := time.NewTicker(slack / 4)
	defer tick.Stop()
	for closed := false; ; {
		asked, held, sending := e.remaining()
		if asked == 0 && !closed {
			closed = true
			e.closeInbox()
		}
		if asked == 0 && held == 0 && !sending {
			return
		}
		select {
		case <-ctx.Done():
			return
		case s := <-link:
			e.linkChanged(s)
		case <-e.wake:
		case <-tick.C:
		}
	}
}

func (e *Engine) remaining() (asked, held int, sending bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.epoch != nil {
		e.epoch.pulls.expire(time.Now())
		asked = e.epoch.pulls.asked
	}
	return asked, e.held, e.sending
}

// closeInbox takes the subscription back and tells callers that nothing comes.
func (e *Engine) closeInbox() {
	e.mu.Lock()
	ep := e.epoch
	e.epoch, e.bound = nil, false
	e.trustLocked()
	e.mu.Unlock()
	if ep != nil {
		_ = ep.sub.Unsubscribe() // fails on a closed connection, where it is gone
	}
	e.done.Do(func() { e.in <- nil })
}

// end closes what is open, and sees to it that what was settled is sent.
func (e *Engine) end() Left {
	asked, held, _ := e.remaining()
	e.closeInbox()
	if e.nc.IsConnected() {
		_ = e.nc.FlushTimeout(e.c.Timeout) // the acknowledgments that fail come again
	}
	return Left{Asked: asked, Held: held}
}
