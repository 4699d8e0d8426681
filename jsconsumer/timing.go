package jsconsumer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/engine"
)

// timing is what of a consumer's configuration decides about a delivery.
type timing struct {
	ladder     []time.Duration
	ackWait    time.Duration
	maxDeliver int
}

// timingOf reads a declaration, or what is live.
func timingOf(c *jetstream.ConsumerConfig) *timing {
	t := &timing{ladder: c.BackOff, ackWait: c.AckWait, maxDeliver: c.MaxDeliver}
	if len(t.ladder) > 0 {
		t.ackWait = t.ladder[0] // consumer.go:687, nats-server 2.15.3
	}
	set(&t.ackWait, 30*time.Second)
	return t
}

func (t *timing) equal(o *timing) bool {
	return slices.Equal(t.ladder, o.ladder) && t.ackWait == o.ackWait && t.maxDeliver == o.maxDeliver
}

// rung is how long the broker waits for what becomes of delivery n.
func (t *timing) rung(n uint64) time.Duration {
	if len(t.ladder) == 0 {
		return t.ackWait
	}
	return t.ladder[min(n, uint64(len(t.ladder)))-1]
}

// nak asks for the next delivery after exactly d. The broker schedules it for
// d + rung - ack_wait (processNak and checkPending), which is made up for; a
// negative delay is right then.
func (t *timing) nak(n uint64, d time.Duration) string {
	d -= t.rung(n) - t.ackWait
	if d == 0 {
		d = 1 // a zero is a plain nak
	}
	return engine.Nak + ` {"delay": ` + strconv.FormatInt(d.Nanoseconds(), 10) + `}`
}

// reserved says whether a delivery is kept for the capture.
func (r *Runner) reserved(t *timing, d Delivery) bool {
	return t.maxDeliver > 0 && r.c.Handling.Reserve > 0 && int64(d.Attempt()) > int64(t.maxDeliver-r.c.Handling.Reserve)
}

// last says whether nothing follows a failure of this delivery. In the reserve
// that is so: a handler has tried only because it is not known that one had.
func (r *Runner) last(t *timing, d Delivery) bool {
	return r.reserved(t, d) || t.maxDeliver > 0 && d.Attempt() >= uint64(t.maxDeliver)
}

// term ends a message. Brokers before 2.10.4 know no reason, and take one for
// something else.
func (r *Runner) term(why error) string {
	if why == nil || !engine.AtLeast(r.e.Conn(), 2, 11) {
		return engine.Term
	}
	return engine.Term + " " + strings.Join(strings.Fields(why.Error()), " ")
}

var errWaited = errors.New("the lease ended while the message waited for its key")

type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// tried remembers messages whose attempts failed here, and why the last one did, so
// that the reserve is not spent on one that no handler has seen. The oldest are
// forgotten.
type tried struct {
	mu   sync.Mutex
	seqs map[uint64]error
	ring []uint64
	at   int
}

const remembered = 1 << 16

// add keeps the text of the cause alone: an error can hold on to a lot.
func (t *tried) add(seq uint64, cause error) {
	if cause != nil {
		cause = errors.New(oneLine(cause))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, known := t.seqs[seq]
	t.seqs[seq] = cause
	if known {
		return
	}
	if len(t.ring) < remembered {
		t.ring = append(t.ring, seq)
		return
	}
	delete(t.seqs, t.ring[t.at])
	t.ring[t.at] = seq
	t.at = (t.at + 1) % remembered
}

func (t *tried) has(seq uint64) (cause error, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cause, ok = t.seqs[seq]
	return cause, ok
}

func (t *tried) remove(seq uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seqs, seq)
}
