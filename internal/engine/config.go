package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A Provision says what is done about the durable before it is bound.
type Provision string

// The ways to provision.
const (
	// BindOnly takes the durable as it is. It must exist.
	BindOnly Provision = "bind"
	// CreateOrUpdate makes the durable what Config.Consumer says.
	CreateOrUpdate Provision = "create-or-update"
	// CreateIfMissing creates the durable where there is none, and otherwise takes
	// it as it is.
	CreateIfMissing Provision = "create-if-missing"
)

// A Recreate says what is done when a durable that was bound is gone, or another
// one is in its place.
type Recreate string

// The policies.
const (
	// Never waits for somebody to look: a durable that is created again has lost
	// its position.
	Never Recreate = "never"
	// FromFloor creates it again behind the last ack floor that was seen, so that
	// messages come twice rather than not at all.
	FromFloor Recreate = "from-floor"
	// Afresh creates it again as Config.Consumer says, and takes one that somebody
	// else created.
	Afresh Recreate = "afresh"
)

// Config says which durable, and how it is kept alive.
type Config struct {
	Stream string
	// Consumer is the durable. With BindOnly only its name is used.
	Consumer  jetstream.ConsumerConfig
	Provision Provision // zero: BindOnly
	Recreate  Recreate  // zero: Never
	// Exclusive says that nobody else uses the durable, so that a delivery which is
	// not the next one means that others were lost on their way. Such are told by Gap.
	Exclusive bool
	// InFlight is how many messages callers hold or have asked for, at most.
	// Zero: 1.
	InFlight int
	// Expires is how long one pull stays open, and so how long a drain of an idle
	// consumer takes at most: there is no request that ends a pull. Zero: 5 s.
	Expires time.Duration
	// Heartbeat is how often the server is asked for a sign of life on an idle
	// pull. Two that are missed are looked into. Zero: half of Expires.
	Heartbeat time.Duration
	// Inspect is how often the consumer is looked at when nothing is wrong: its
	// identity and its floor. Zero: 30 s.
	Inspect time.Duration
	// Timeout bounds each request to the API. Zero: 5 s.
	Timeout time.Duration
	// On is told what happens, one event at a time. Nil: nobody is.
	On func(Event)
	// Retry says how long to wait before the next attempt to set up, the error of
	// the last one at hand. Nil: one second.
	Retry func(error) time.Duration
}

func (c Config) withDefaults() Config {
	set(&c.Provision, BindOnly)
	set(&c.Recreate, Never)
	set(&c.InFlight, 1)
	set(&c.Expires, 5*time.Second)
	set(&c.Heartbeat, c.Expires/2)
	set(&c.Inspect, 30*time.Second)
	set(&c.Timeout, 5*time.Second)
	if c.On == nil {
		c.On = func(Event) {}
	}
	if c.Retry == nil {
		c.Retry = func(error) time.Duration { return time.Second }
	}
	return c
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// durable is the consumer's name.
func (c *Config) durable() string {
	if c.Consumer.Durable != "" {
		return c.Consumer.Durable
	}
	return c.Consumer.Name
}

// check reports everything that is wrong with the configuration, joined.
func (c *Config) check() error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	wrong(c.Stream == "", "no stream")
	wrong(c.durable() == "", "no durable")
	wrong(c.InFlight < 1, "%d messages in flight", c.InFlight)
	wrong(c.Expires < 0 || c.Inspect < 0 || c.Timeout < 0, "a negative duration")
	// The server refuses a heartbeat above half the expiry (consumer.go:4161,
	// nats-server 2.15.3).
	wrong(c.Heartbeat < 0 || c.Heartbeat > c.Expires/2, "a heartbeat of %v on pulls of %v: at most half of it", c.Heartbeat, c.Expires)
	return errors.Join(errs...)
}
