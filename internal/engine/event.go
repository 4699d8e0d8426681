package engine

import (
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A Kind is what an event is about.
type Kind string

// The kinds of events.
const (
	// Bound: the durable answers, and is asked for messages. Info is set.
	Bound Kind = "bound"
	// Failed: an attempt to set up failed, and another one follows. Err is set.
	Failed Kind = "failed"
	// Disturbed: delivery was interrupted in a way that is expected to pass, and is
	// being looked into. Err is set.
	Disturbed Kind = "disturbed"
	// Alive: the durable is bound, and a look found it as it should be, or it was
	// heard again after a silence. Info is set.
	Alive Kind = "alive"
	// Lost: the durable that was bound is gone, or is another one. Err is set.
	Lost Kind = "lost"
	// Recreated: the durable is not the one that was bound before. Info is set;
	// Floor is the last floor of its predecessor.
	Recreated Kind = "recreated"
	// RolledBack: the ack floor went back although the consumer is the same. Info is
	// set; Floor is where it had been.
	RolledBack Kind = "rolled-back"
	// Gap: messages were delivered that did not arrive here, with Config.Exclusive.
	// They come again after the ack wait, or after Engine.Reset. Err is set.
	Gap Kind = "gap"
	// Denied: the server does not let this connection publish or subscribe to what
	// delivery needs. Err is set.
	Denied Kind = "denied"
	// Disconnected and Reconnected are about the connection. Away is told for as long
	// as it is not there, every Config.Heartbeat. Disconnected and Away have Err.
	Disconnected Kind = "disconnected"
	Away         Kind = "away"
	Reconnected  Kind = "reconnected"
	// Throttled: the server refuses pulls because of a limit of the consumer. Err
	// is set.
	Throttled Kind = "throttled"
)

// An Event is something that happened to the delivery.
type Event struct {
	Kind  Kind
	Time  time.Time
	Err   error
	Info  *jetstream.ConsumerInfo
	Floor uint64
}

// Errors that an event can carry, beside those of the client library.
var (
	// ErrSilent: neither message nor heartbeat came in time.
	ErrSilent = errors.New("no heartbeat")
	// ErrReplaced: the consumer of this name is not the one that was bound.
	ErrReplaced = errors.New("consumer was deleted and created again")
)
