package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// ErrNoReset says that the broker is older than 2.14, and can not reset a consumer.
var ErrNoReset = errors.New("the broker can not reset a consumer")

// Reset has the broker deliver again from stream sequence seq on; zero is behind the
// ack floor. What was delivered before is stale: it is not settled any more, for a
// message that comes again has another delivery. Deliver policies new, last and
// last-per-subject allow only zero, and those with a start nothing below it (err_code
// 10204). The result is the first sequence that may come.
func (e *Engine) Reset(ctx context.Context, seq uint64) (from uint64, err error) {
	if !AtLeast(e.nc, 2, 14) {
		return 0, ErrNoReset
	}
	ctx, cancel := context.WithTimeout(ctx, e.c.Timeout)
	defer cancel()
	resp, err := e.js.ResetConsumerToSequence(ctx, e.c.Stream, e.c.durable(), seq)
	if err != nil {
		return 0, fmt.Errorf("reset consumer %q of stream %q: %w", e.c.durable(), e.c.Stream, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.identity++
	e.floor, e.gap = resp.AckFloor.Stream, nil
	return resp.ResetSeq, nil
}

// AtLeast says whether the connected server is of this line, or a later one.
func AtLeast(nc *nats.Conn, major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(nc.ConnectedServerVersion(), "%d.%d", &a, &b); err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}

// gapLocked notes deliveries that did not arrive here.
func (e *Engine) gapLocked(d *Delivery) {
	if e.c.Exclusive && e.last > 0 && d.ConsumerSeq > e.last+1 {
		e.gap = fmt.Errorf("deliveries %d to %d did not arrive", e.last+1, d.ConsumerSeq-1)
		e.poke()
	}
}

func (e *Engine) takeGap() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	gap := e.gap
	e.gap = nil
	return gap
}
