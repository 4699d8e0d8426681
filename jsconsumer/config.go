package jsconsumer

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/engine"
	"github.com/natsmig/natsmig/timingcontract"
)

// Provision says what is done about the durable before it is bound.
type Provision = engine.Provision

// The ways to provision.
const (
	BindOnly        = engine.BindOnly
	CreateOrUpdate  = engine.CreateOrUpdate
	CreateIfMissing = engine.CreateIfMissing
)

// Recreate says what is done when a durable that was bound is gone, or another one
// is in its place. A created durable has lost its position.
type Recreate = engine.Recreate

// The policies.
const (
	Never     = engine.Never
	FromFloor = engine.FromFloor
	Afresh    = engine.Afresh
)

// GiveUp says what is done with a message after its last attempt.
type GiveUp string

// What can be done.
const (
	// Drop does nothing: the broker exhausts the message, which stays in its stream.
	Drop GiveUp = "drop"
	// Capture publishes the message to Config.Handling.Capture, waits until that is
	// stored, and acknowledges then.
	Capture GiveUp = "capture"
	// Terminate ends it: the broker sends its advisory at once.
	Terminate GiveUp = "terminate"
)

// Config says what is consumed and how. Its zero values are those of the broker or
// mean what is said.
type Config struct {
	Stream string
	// Consumer is the durable's declaration. With BindOnly only its name is used,
	// and the contract is checked against what is live.
	Consumer  jetstream.ConsumerConfig
	Provision Provision // zero: CreateOrUpdate
	Recreate  Recreate  // zero: Never

	// Workers is how many messages are handled at a time, and how many this process
	// asks for at most. Zero: 1.
	Workers int
	// Key, if set, keeps messages with the same key in order: they are handled one
	// after the other. One that waits for its key takes a worker's place.
	Key func(Delivery) string

	// Handling says how the handler behaves: the part of the timing contract that is
	// not the broker's. Budget ends the handler's context early, Heartbeat keeps the
	// lease beyond ack_wait, Reserve keeps the last deliveries for the capture.
	Handling timingcontract.Handler
	// Surroundings are what is known of the stream, for the contract. Zero: nothing
	// is.
	Surroundings timingcontract.Surroundings
	// GiveUp is what happens after the last attempt. Zero: Capture if Handling has a
	// capture subject, and otherwise Drop.
	GiveUp GiveUp
	// Advisories is a stream that stores the broker's advisories of messages that
	// were given up, subject $JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>, from where
	// the sweeper takes them however long no process was there. Zero: it hears those
	// that are sent while it is there, and looks for others as well as that can be
	// done: in a work queue all, elsewhere the one behind the ack floor.
	Advisories string
	// CaptureDiscarded captures what a handler discards, too.
	CaptureDiscarded bool

	// DrainTimeout is how long Run drains after its context is done before it ends
	// the handlers' contexts. Zero: 20 s, inside Kubernetes' 30 s.
	DrainTimeout time.Duration
	// PinAfter is how long the ack floor may stand still. Zero: 5 minutes.
	PinAfter time.Duration
	// StuckAfter is how long a handler may work on after its context has ended
	// before it is told of. Zero: 30 s.
	StuckAfter time.Duration
	// Expires, Inspect and Timeout are those of the delivery: how long a pull stays
	// open (zero: 5 s, and so long takes the drain of an idle consumer at most), how
	// often the consumer is looked at (zero: 30 s), and what bounds a request to the
	// API (zero: 5 s).
	Expires, Inspect, Timeout time.Duration

	Hooks Hooks
}

func (c Config) withDefaults() Config {
	set(&c.Provision, CreateOrUpdate)
	set(&c.Workers, 1)
	if c.GiveUp == "" {
		c.GiveUp = Drop
		if c.Handling.Capture != "" {
			c.GiveUp = Capture
		}
	}
	set(&c.DrainTimeout, 20*time.Second)
	set(&c.PinAfter, 5*time.Minute)
	set(&c.StuckAfter, 30*time.Second)
	set(&c.Inspect, min(30*time.Second, c.PinAfter/2))
	set(&c.Timeout, 5*time.Second)
	set(&c.Handling.Workers, c.Workers)
	set(&c.Handling.Prefetch, c.Workers)
	if c.Consumer.AckPolicy == jetstream.AckNonePolicy {
		c.Consumer.AckPolicy = jetstream.AckExplicitPolicy
	}
	return c
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Contract is the timing contract of the runner with a consumer's configuration:
// with that of Config.Consumer, if the durable is provisioned.
func (c Config) Contract(consumer jetstream.ConsumerConfig) timingcontract.Contract {
	return timingcontract.Contract{
		Ladder:            consumer.BackOff,
		AckWait:           consumer.AckWait,
		MaxDeliver:        consumer.MaxDeliver,
		MaxAckPending:     consumer.MaxAckPending,
		InactiveThreshold: consumer.InactiveThreshold,
		Handler:           c.Handling,
	}
}

// check reports everything that is wrong, joined; a breached contract is.
func (c *Config) check(h Handler) error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	wrong(h == nil, "no handler")
	wrong(c.Workers < 1, "%d workers", c.Workers)
	wrong(c.DrainTimeout < 0 || c.PinAfter < 0 || c.StuckAfter < 0, "a negative duration")
	wrong(c.GiveUp == Capture && c.Handling.Capture == "", "no capture subject to give messages up to")
	wrong(c.GiveUp != Capture && c.GiveUp != Drop && c.GiveUp != Terminate, "give up by %q: not one of drop, capture, terminate", c.GiveUp)
	wrong(c.CaptureDiscarded && c.Handling.Capture == "", "no capture subject for what is discarded")
	wrong(c.Consumer.AckPolicy != jetstream.AckExplicitPolicy, "ack_policy %v: single messages are settled, which takes explicit", c.Consumer.AckPolicy)
	if err := c.Handling.Check(); err != nil {
		errs = append(errs, err)
	} else if c.Provision != BindOnly {
		errs = append(errs, c.Contract(c.Consumer).Err(c.Surroundings))
	}
	return errors.Join(errs...)
}
