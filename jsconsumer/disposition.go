package jsconsumer

import (
	"errors"
	"time"
)

// A Decision is the kind of a disposition.
type Decision string

// The decisions.
const (
	Acked      Decision = "ack"
	Retried    Decision = "retry"
	RetryLater Decision = "retry_after"
	Discarded  Decision = "discard"
	Held       Decision = "hold"
	GivenUp    Decision = "give_up" // the runner's own, after the last attempt
)

// A Disposition is what becomes of a message. The zero Disposition is a retry:
// nothing is ever acknowledged by accident.
type Disposition struct {
	decision Decision
	delay    time.Duration
	err      error
}

// Ack says that the message is done.
func Ack() Disposition { return Disposition{decision: Acked} }

// Retry leaves it to the broker when the message comes again: by its ladder, or
// after ack_wait. The cause may be nil.
func Retry(cause error) Disposition { return Disposition{err: cause} }

// RetryAfter has the message come again after d, exactly: what a ladder adds to
// a delayed nak is made up for.
func RetryAfter(d time.Duration, cause error) Disposition {
	return Disposition{decision: RetryLater, delay: d, err: cause}
}

// Discard ends the message without success; it does not come again. The reason is
// in the broker's advisory, from nats-server 2.10.4 on, and is captured with the
// message if Config.CaptureDiscarded says so.
func Discard(reason error) Disposition { return Disposition{decision: Discarded, err: reason} }

// Hold keeps the message here, in progress, and gives it to the handler again after
// d. It costs no delivery. A drain ends it, with a retry.
func Hold(d time.Duration, cause error) Disposition {
	return Disposition{decision: Held, delay: d, err: cause}
}

// Decision is the kind.
func (d Disposition) Decision() Decision {
	if d.decision == "" {
		return Retried
	}
	return d.decision
}

// Delay is that of RetryAfter and Hold.
func (d Disposition) Delay() time.Duration { return d.delay }

// Err is the cause or the reason, nil if there is none.
func (d Disposition) Err() error { return d.err }

// String says what was decided.
func (d Disposition) String() string {
	s := string(d.Decision())
	if d.delay != 0 {
		s += " " + d.delay.String()
	}
	if d.err != nil {
		s += ": " + d.err.Error()
	}
	return s
}

// AsError makes an error of the disposition, for [HandlerFunc].
func (d Disposition) AsError() error { return dispositionError{d} }

type dispositionError struct{ d Disposition }

func (e dispositionError) Error() string { return e.d.String() }
func (e dispositionError) Unwrap() error { return e.d.err }

// FromError is the disposition that an error stands for: nil is an ack, one of
// AsError is what it was, be it wrapped, and every other is a retry.
func FromError(err error) Disposition {
	if err == nil {
		return Ack()
	}
	if de, ok := errors.AsType[dispositionError](err); ok {
		return de.d
	}
	return Retry(err)
}

// failed says that the attempt did not succeed and may be followed by another.
func (d Disposition) failed() bool {
	return d.Decision() == Retried || d.Decision() == RetryLater
}
