package timingcontract

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Handler says what a process does with a message that it fails to handle,
// and what its team expects of the consumer. Everything that is zero is not
// stated, and what is not stated is not checked.
type Handler struct {
	// OnFailure is who schedules the retry. The zero value is [Ladder].
	OnFailure OnFailure
	// Delays are the delays asked for with [NakDelay], by attempt; the last one
	// repeats. A zero is a plain nak, which is what NakWithDelay(0) sends, unless
	// the handler is [Handler.Raw].
	Delays []time.Duration
	// Budget is the longest time that one attempt may take.
	Budget time.Duration
	// Heartbeat is how the handler says that it is still working.
	Heartbeat Heartbeat
	// Reserve is the number of deliveries at the end that are kept for the
	// capture and that the handler does not see.
	Reserve int
	// Capture is the subject that given-up messages are published to.
	Capture string
	// Prefetch is the number of messages that the process holds at most, those
	// being handled included.
	Prefetch int
	// Workers is the number of messages handled at a time. Zero: one.
	Workers int
	// PullGap is the longest time during which nobody asks for messages: a
	// redelivery that is due waits for the next pull.
	PullGap time.Duration
	// Publishes is the stream that the handler publishes to with a message ID of
	// its own, so that a repeated attempt is dropped there.
	Publishes string
	// FailingEvery is the mean time between failed attempts, of all messages
	// together.
	FailingEvery time.Duration
	// Recovery is how soon a message must come again after its process died.
	Recovery time.Duration
	// Outage is the longest time that all processes may be away.
	Outage time.Duration
	// Pin is the longest time that one message may hold the ack floor.
	Pin time.Duration
	// Grace is the time that a process has between the signal to stop and its end.
	Grace time.Duration
}

// A Heartbeat is a handler's in-progress signal.
type Heartbeat struct {
	Every time.Duration // zero: no heartbeat
	Cap   time.Duration // how long it is kept up; zero: as long as the attempt
}

// OnFailure says what a handler does when an attempt fails.
type OnFailure string

// What a handler can do. Ladder does nothing, so the server's ladder (or
// ack_wait) schedules the retry; Nak asks for it at once, whatever the ladder
// says; NakDelay asks for a delay; Discard terminates the message.
const (
	Ladder   OnFailure = "ladder"
	Nak      OnFailure = "nak"
	NakDelay OnFailure = "nak_delay"
	Discard  OnFailure = "discard"
)

// Names lists what a handler can do.
func (OnFailure) Names() []string {
	return []string{string(Ladder), string(Nak), string(NakDelay), string(Discard)}
}

// Check reports everything that makes the handler meaningless, joined.
func (h Handler) Check() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch h.OnFailure {
	case "", Ladder, Nak, Discard:
		if len(h.Delays) > 0 {
			add("delays belong to on_failure: nak_delay")
		}
	case NakDelay:
		if len(h.Delays) == 0 {
			add("on_failure: nak_delay needs a delay or delays")
		}
	default:
		add("on_failure is %q, want one of %v", h.OnFailure, h.OnFailure.Names())
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"reserve", h.Reserve}, {"prefetch", h.Prefetch}, {"workers", h.Workers}} {
		if n.value < 0 {
			add("%s is %d, want zero or more", n.name, n.value)
		}
	}
	for _, d := range h.durations() {
		if d < 0 {
			add("%v is negative", d)
		}
	}
	return errors.Join(errs...)
}

// durations are those that can not be negative. A delay can, see [Handler.Raw].
func (h *Handler) durations() []time.Duration {
	return []time.Duration{
		h.Budget, h.Heartbeat.Every, h.Heartbeat.Cap, h.PullGap, h.FailingEvery,
		h.Recovery, h.Outage, h.Pin, h.Grace,
	}
}

// Raw says whether the handler writes its -NAK itself: no method of a client
// sends a negative delay, which is what makes up for a ladder, see
// [Contract.CompensatedDelays].
func (h *Handler) Raw() bool {
	return slices.ContainsFunc(h.Delays, func(d time.Duration) bool { return d < 0 })
}

// workers is how many messages are handled at a time.
func (h *Handler) workers() int { return max(h.Workers, 1) }
