package engine

import (
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An Engine keeps the delivery of one durable alive. Make one with New. Run may
// be called once.
type Engine struct {
	js   jetstream.JetStream
	nc   *nats.Conn
	c    Config
	next string         // the subject that asks for messages
	in   chan *nats.Msg // from the subscriptions of all epochs
	wake chan struct{}  // the supervisor has something to look at
	stop chan struct{}  // a drain begins
	ack  []byte         // what most dispositions are
	once sync.Once
	done sync.Once // the end was put into the channel

	events sync.Mutex

	mu       sync.Mutex
	epoch    *epoch // nil: there is no inbox
	bound    bool   // messages may be asked for
	denied   bool   // but what this connection needs for it is not permitted
	place    place  // where one caller waits for a message
	parked   bool   // it waits at the channel
	draining bool
	held     int           // deliveries that were handed out and not settled
	heard    time.Time     // the last sign of life of the inbox
	waiting  time.Time     // since when something should be heard
	muted    time.Time     // when it was found to be silent, zero once it is heard
	looked   time.Time     // when the consumer was last looked at
	seen     time.Time     // the creation time of the consumer that was last looked at
	outbox   []out         // what is to be sent
	spare    []out         // the outbox before
	sending  bool          // somebody sends it
	trouble  error         // what the supervisor should look into
	suspect  chan struct{} // closed when it is known which consumer delivers
	gap      error         // deliveries that did not arrive
	last     uint64        // consumer sequence of the last delivery
	identity uint32        // rises when the consumer is another one
	info     *jetstream.ConsumerInfo
	floor    uint64 // the highest ack floor seen, stream sequence
	counts   Counts
}

// Counts are figures since the engine was made.
type Counts struct {
	Delivered uint64 // messages that were handed out
	Settled   uint64 // dispositions that were sent
	Stale     uint64 // dispositions that were not sent, for a consumer that is gone
	Pulls     uint64 // requests for messages
	SetUps    uint64 // attempts to provision and bind
	Bound     uint64 // those of them that succeeded
}

// New makes an engine. It sends nothing. The error lists all that is wrong with
// the configuration.
func New(js jetstream.JetStream, c Config) (*Engine, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	e := &Engine{
		js:   js,
		nc:   js.Conn(),
		c:    c,
		next: fmt.Sprintf("%sCONSUMER.MSG.NEXT.%s.%s", apiPrefix(js), c.Stream, c.durable()),
		// What may come beyond InFlight: statuses, and messages of pulls that were
		// taken for dead.
		in:   make(chan *nats.Msg, 2*c.InFlight+256),
		wake: make(chan struct{}, 1),
		stop: make(chan struct{}),
		ack:  []byte(Ack),
	}
	e.place = place{mu: &e.mu, baton: make(chan struct{}, 1), alone: c.InFlight == 1}
	return e, nil
}

// Conn is the connection.
func (e *Engine) Conn() *nats.Conn { return e.nc }

// Info is what the consumer was when it was last looked at, nil before the first
// time.
func (e *Engine) Info() *jetstream.ConsumerInfo {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.info
}

// Counts are the figures so far.
func (e *Engine) Counts() Counts {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counts
}

// InFlight is how many messages are held by callers, and how many more were asked
// for.
func (e *Engine) InFlight() (held, asked int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.epoch != nil {
		asked = e.epoch.pulls.asked
	}
	return e.held, asked
}

func apiPrefix(js jetstream.JetStream) string {
	o := js.Options()
	switch {
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	case o.APIPrefix == "":
		return jetstream.DefaultAPIPrefix
	case o.APIPrefix[len(o.APIPrefix)-1] == '.':
		return o.APIPrefix
	}
	return o.APIPrefix + "."
}

// emit tells an event. Events are told one at a time.
func (e *Engine) emit(ev Event) {
	ev.Time = time.Now()
	e.events.Lock()
	defer e.events.Unlock()
	e.c.On(ev)
}

// poke makes the supervisor look.
func (e *Engine) poke() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}
