// Package timingcontract works out when a failing message is really retried and
// when it is given up.
//
// A [Contract] is what the broker holds about one consumer together with what
// its handler does on failure. Its [Envelope] says when each delivery happens
// at the earliest, which delivery is the handler's last chance, and when the
// broker gives the message up.
//
// The package is arithmetic: it opens no connection, reads no clock and knows no
// NATS types. What it does not know is load: a delivery also waits for a free
// worker and, on a pull consumer, for a pull, so every time is a "not before".
package timingcontract

import (
	"errors"
	"fmt"
	"time"
)

// A Contract is the timing of one consumer.
type Contract struct {
	// Ladder is the consumer's backoff. Empty: every retry waits AckWait.
	Ladder []time.Duration
	// AckWait is the consumer's ack_wait as the broker stores it. With a ladder
	// the broker stores its first rung, whatever was asked (consumer.go:682,
	// nats-server 2.15.3).
	AckWait time.Duration
	// MaxDeliver is the consumer's max_deliver. Below one: unlimited.
	MaxDeliver int
	// Handler is what the process does. The zero Handler does nothing on failure
	// and keeps no reserve.
	Handler Handler
}

// A Handler says what a process does with a message that it fails to handle.
type Handler struct {
	// OnFailure is who schedules the retry. The zero value is [Ladder].
	OnFailure OnFailure
	// Delays are the delays asked for with [NakDelay], by attempt; the last one
	// repeats.
	Delays []time.Duration
	// Budget is the longest time that one attempt may take. Zero: not stated.
	Budget time.Duration
	// Heartbeat is how the handler says that it is still working. Zero: it does
	// not.
	Heartbeat Heartbeat
	// Reserve is the number of deliveries at the end that are kept for the
	// capture and that the handler does not see.
	Reserve int
	// Capture is the subject that given-up messages are published to. Empty:
	// none.
	Capture string
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
	if h.Reserve < 0 {
		add("reserve is %d, want zero or more", h.Reserve)
	}
	for _, d := range append([]time.Duration{h.Budget, h.Heartbeat.Every, h.Heartbeat.Cap}, h.Delays...) {
		if d < 0 {
			add("%v is negative", d)
		}
	}
	return errors.Join(errs...)
}
