package jsconsumer_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
)

// never is a message that fails for ever.
const never = -1

// A script says of each message how many attempts fail before it succeeds.
type script []int

var errScripted = errors.New("the script says so")

// An observer plays a script as a handler, and writes down what becomes of the
// messages: what the handler sees, what is sent to settle them, and what the broker
// says when it gives one up.
type observer struct {
	script script
	meet   int // so many first attempts wait for each other

	mu        sync.Mutex
	steps     map[int][]*step // by message, in the order of deliveries
	first     []int
	now, most int
	met       chan struct{}
	exhausted []int
}

// A step is one delivery of a message.
type step struct {
	Delivery uint64
	Handled  bool
	Settled  string // what was sent; empty: nothing
	at       time.Time
}

// observe begins to listen to what is sent about a durable.
func observe(t *testing.T, c *natstest.Client, durable string, s script, meet int) *observer {
	t.Helper()
	o := &observer{script: s, meet: meet, steps: map[int][]*step{}, met: make(chan struct{})}
	listen := func(subject string, f func(m *nats.Msg)) {
		if _, err := c.NC.Subscribe(subject, f); err != nil {
			t.Fatal(err)
		}
	}
	listen("$JS.ACK.S."+durable+".>", func(m *nats.Msg) {
		if err := o.settled(m); err != nil {
			t.Errorf("%s %s: %v", m.Subject, m.Data, err)
		}
	})
	listen("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.S."+durable, func(m *nats.Msg) {
		var advisory struct {
			Seq int `json:"stream_seq"`
		}
		if err := json.Unmarshal(m.Data, &advisory); err != nil {
			t.Error(err)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.exhausted = append(o.exhausted, advisory.Seq-1)
	})
	if err := c.NC.Flush(); err != nil { // the loop has a connection of its own, and must not be faster
		t.Fatal(err)
	}
	return o
}

// at is the step of a delivery, made if it is new. Acks and attempts come on
// connections of their own, in any order.
func (o *observer) at(message int, delivery uint64) *step {
	for _, s := range o.steps[message] {
		if s.Delivery == delivery {
			return s
		}
	}
	s := &step{Delivery: delivery}
	o.steps[message] = append(o.steps[message], s)
	slices.SortFunc(o.steps[message], func(a, b *step) int { return cmp.Compare(a.Delivery, b.Delivery) })
	return s
}

// settled reads $JS.ACK.stream.consumer.delivered.stream_seq and what follows.
func (o *observer) settled(m *nats.Msg) error {
	parts := strings.Split(m.Subject, ".")
	delivery, err := strconv.ParseUint(parts[4], 10, 64)
	seq, err2 := strconv.Atoi(parts[5])
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.at(seq-1, delivery)
	if s.Settled != "" {
		s.Settled += " and "
	}
	s.Settled += verb(m.Data)
	return nil
}

// verb is what was sent, with the delay of a nak. A +NXT acknowledges and asks for
// the next message.
func verb(data []byte) string {
	word, rest, _ := strings.Cut(string(data), " ")
	var nak struct{ Delay time.Duration }
	switch word {
	case "+NXT":
		return "+ACK"
	case "-NAK":
		if json.Unmarshal([]byte(rest), &nak) == nil {
			return word + " " + nak.Delay.String()
		}
	}
	return word
}

func (o *observer) legacy(m *nats.Msg) error {
	md, err := m.Metadata()
	if err != nil {
		return err
	}
	return o.handle(m.Data, md.NumDelivered)
}

func (o *observer) migrated(_ context.Context, d jsconsumer.Delivery) error {
	return o.handle(d.Data(), d.Attempt())
}

// handle is the handler of the script.
func (o *observer) handle(data []byte, delivery uint64) error {
	at := time.Now()
	message, err := strconv.Atoi(string(data))
	if err != nil {
		return err
	}
	meets := o.enter(message, delivery, at)
	if meets {
		<-o.met
		time.Sleep(20 * time.Millisecond) // the work, during which one too many would come in
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now--
	if fails := o.script[message]; fails == never || delivery <= uint64(fails) {
		return errScripted
	}
	return nil
}

// enter notes an attempt, and says whether it waits for others.
func (o *observer) enter(message int, delivery uint64, at time.Time) (meets bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.at(message, delivery)
	s.Handled, s.at = s.at.IsZero(), at // twice is no
	if delivery == 1 {
		o.first = append(o.first, message)
		meets = len(o.first) <= o.meet
		if len(o.first) == o.meet {
			close(o.met)
		}
	}
	o.now++
	o.most = max(o.most, o.now)
	return meets
}

// An observation is what became of the messages of a durable in the end.
type observation struct {
	Steps     map[int][]step
	First     []int // messages in the order of their first attempts
	AtOnce    int
	Exhausted []int
	Captured  map[string]int // what is in the dead-letter stream, see told
	Broker    broker
}

// broker is what it says about the durable.
type broker struct {
	AckFloor, Delivered, Deliveries  uint64
	AckPending, Redelivered, Pending int
}

// ended waits until nothing is to come any more, and tells what has been.
func (o *observer) ended(t *testing.T, c *natstest.Client, durable string) observation {
	t.Helper()
	var b broker
	natstest.Eventually(t, 40*time.Second, func() error {
		cons, err := c.JS.Consumer(t.Context(), "S", durable)
		if err != nil {
			return err
		}
		i := cons.CachedInfo()
		b = broker{
			AckFloor: i.AckFloor.Stream, Delivered: i.Delivered.Stream, Deliveries: i.Delivered.Consumer,
			AckPending: i.NumAckPending, Redelivered: i.NumRedelivered, Pending: int(i.NumPending),
		}
		if open := o.open(); len(open) > 0 || b.Pending > 0 || b.AckPending > 0 {
			return fmt.Errorf("messages %v are neither acknowledged nor exhausted: %+v", open, b)
		}
		return nil
	})
	captured := captures(t, c, durable)
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.Sort(o.exhausted)
	all := observation{Steps: map[int][]step{}, First: o.first, AtOnce: o.most, Exhausted: o.exhausted, Captured: captured, Broker: b}
	for message, steps := range o.steps {
		for _, s := range steps {
			all.Steps[message] = append(all.Steps[message], *s)
		}
	}
	return all
}

// open are the messages that have not come to an end.
func (o *observer) open() (messages []int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for message := range o.script {
		acked := slices.ContainsFunc(o.steps[message], func(s *step) bool { return s.Settled == "+ACK" })
		if !acked && !slices.Contains(o.exhausted, message) {
			messages = append(messages, message)
		}
	}
	return messages
}

// captures are the messages that were captured of a durable, and how often.
func captures(t *testing.T, c *natstest.Client, durable string) map[string]int {
	t.Helper()
	s, err := c.JS.Stream(t.Context(), "DLQ")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for seq := uint64(1); seq <= s.CachedInfo().State.LastSeq; seq++ {
		m, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		if m.Subject == "dlq."+durable {
			got[told(m.Header, string(m.Data))]++
		}
	}
	return got
}

// told is a payload with the names of its headers.
func told(h nats.Header, payload string) string {
	return strings.Join(append(slices.Sorted(maps.Keys(h)), payload), " ")
}

// waits is how long after each delivery of a message the next attempt came.
func (o *observation) waits(message int) (ds []time.Duration) {
	steps := o.Steps[message]
	for i := 1; i < len(steps) && steps[i].Handled; i++ {
		ds = append(ds, steps[i].at.Sub(steps[i-1].at))
	}
	return ds
}
