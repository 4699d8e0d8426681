package jsconsumer

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Hooks are told what happens. Every function is optional, is called on the
// goroutine to which it happens, and should return soon. [Join] makes one of
// several.
type Hooks struct {
	// Bound: the durable answers and is asked for messages. It is called again
	// after every interruption.
	Bound func(Bound)
	// Report is what the readiness gate has to say: failures that are loud enough,
	// their escalation, and the recovery.
	Report func(Report)
	// Lost: the durable that was bound is gone, or another one is in its place.
	Lost func(Trouble)
	// Disturbed: delivery was interrupted in a way that is expected to pass.
	Disturbed func(Trouble)
	// Recreated: the durable is not the one that was bound before.
	Recreated func(Recreated)
	// RolledBack: the ack floor went back, so that messages come again.
	RolledBack func(Recreated)
	// Rejected: the broker will never take the configuration. Run returns.
	Rejected func(Trouble)
	// Denied: a permission is missing, such as publishing to $JS.ACK.
	Denied func(Trouble)
	// Throttled: a limit of the consumer, such as max_waiting, keeps pulls out.
	Throttled func(Trouble)
	// Breached: the timing contract can not hold with the configuration that was
	// found live.
	Breached func(Trouble)

	// FloorPinned: one or a few messages have held the ack floor for Config.PinAfter
	// although others were delivered. FloorReleased: no longer.
	FloorPinned   func(Floor)
	FloorReleased func(Floor)

	// Disposed: a handler has decided.
	Disposed func(Disposed)
	// Panicked: a handler did; its message is retried.
	Panicked func(Panicked)
	// LeaseLost: the broker may deliver the message again, and its handler still
	// works.
	LeaseLost func(Message)
	// Stuck: a handler has not returned long after its context had ended.
	Stuck func(Message)

	// Captured: a message was published to the capture subject, and that was
	// acknowledged.
	Captured func(Captured)
	// CaptureFailing: it could not be, and is tried again while the message is held.
	CaptureFailing func(CaptureFailing)
	// Exhausted: the broker gave a message up that was not captured; the sweeper has
	// tried to do that.
	Exhausted func(Exhausted)
	// SweepFailing: the sweeper can not find messages that were given up.
	SweepFailing func(Trouble)

	DrainStarted func(About)
	DrainEnded   func(DrainReport)
}

// About says which consumer something is about, and when.
type About struct {
	Stream, Consumer string
	Time             time.Time
}

// Bound is the consumer that was bound.
type Bound struct {
	About
	Info *jetstream.ConsumerInfo
}

// Trouble is something that went wrong.
type Trouble struct {
	About
	Err error
}

// Recreated is a consumer that has lost its position, or part of it.
type Recreated struct {
	About
	Info *jetstream.ConsumerInfo
	// Floor is the ack floor, a stream sequence, as it was last seen before.
	Floor uint64
}

// Floor is the ack floor of a consumer.
type Floor struct {
	About
	Sequence   uint64 // of the stream
	Delivered  uint64 // the highest stream sequence that was delivered
	AckPending int
	Since      time.Time // when the floor came to where it is
}

// Message is one delivery, and how long ago it was received.
type Message struct {
	About
	Delivery Delivery
	After    time.Duration
}

// Disposed is the end of an attempt.
type Disposed struct {
	About
	Delivery    Delivery
	Disposition Disposition
	// Took is how long the handler worked.
	Took time.Duration
	// Sent: the broker was told. It is not for a retry by its ladder, for a nak
	// after the lease had ended, and for a consumer that has been replaced.
	Sent bool
}

// Panicked is the value of a panic, with the stack.
type Panicked struct {
	About
	Delivery Delivery
	Value    any
	Stack    []byte
}

// Captured is a message that was given up and kept.
type Captured struct {
	About
	Delivery Delivery
	Subject  string
	Reason   string
	// Duplicate: the capture stream had it already.
	Duplicate bool
}

// CaptureFailing is a capture that has not succeeded yet.
type CaptureFailing struct {
	About
	Delivery Delivery
	Subject  string
	Tries    int
	Err      error
}

// Exhausted is a message that the broker gave up.
type Exhausted struct {
	About
	Sequence   uint64 // of the stream
	Deliveries uint64
	// Captured: the sweeper captured it.
	Captured bool
	Err      error // why not
}

// DrainReport says how a drain went.
type DrainReport struct {
	About
	Took time.Duration
	// Held messages were still with a handler in the end, and Asked ones may have
	// been sent to an inbox that is closed. Both come again after the ack wait;
	// both are zero if the drain had the time that it needs.
	Held, Asked int
}

// Clean says that nothing was left behind.
func (r DrainReport) Clean() bool { return r.Held == 0 && r.Asked == 0 }
