package engine

import (
	"time"

	"github.com/nats-io/nats.go"
)

// Next waits for a message. Every message must be given to Settle or Release.
// False: there will be none any more, since the engine has drained or ended.
// Callers are what reads statuses and heartbeats, too: as long as anything is
// asked for, one of them should be in Next.
func (e *Engine) Next() (d Delivery, ok bool) {
	for {
		m := e.receive(&d)
		if m == nil {
			e.in <- nil // the next one's turn
			return d, false
		}
		if s, is := readStatus(m); is {
			e.hear(m, s)
			continue
		}
		if d.Msg != nil {
			return d, true
		}
		// Somebody published to the inbox.
	}
}

// receive takes the next message from the channel and, if it is a delivery, enters
// it in the account before another message is taken, so that they are seen in the
// order in which they came. Of the callers that find none, one has the place at the
// channel, and the others wait for it.
func (e *Engine) receive(d *Delivery) *nats.Msg {
	e.mu.Lock()
	if !e.parked && len(e.in) > 0 {
		m := <-e.in
		e.arrivedLocked(m, d)
		e.place.passed()
		e.mu.Unlock()
		return m
	}
	e.place.take()
	var m *nats.Msg
	if len(e.in) > 0 {
		m = <-e.in
	} else {
		e.parked = true
		e.mu.Unlock()
		m = <-e.in
		e.mu.Lock()
		e.parked = false
	}
	e.arrivedLocked(m, d)
	e.place.leave(len(e.in) > 0 || m == nil)
	e.mu.Unlock()
	return m
}

// arrivedLocked enters a message that was received.
func (e *Engine) arrivedLocked(m *nats.Msg, d *Delivery) {
	*d = Delivery{}
	if m != nil && parseReply(d, m.Reply) == nil {
		d.Msg, d.Received = m, time.Now()
		e.takeLocked(d)
	}
}

// takeLocked enters a delivery in the account. Deliveries are counted upwards, so
// one with a lower number comes from another consumer, or from one that lost its
// state: which of the two must be known before anything is settled.
func (e *Engine) takeLocked(d *Delivery) {
	if e.epoch != nil && e.epoch.sub == d.Msg.Sub {
		e.epoch.pulls.got()
		e.heard = d.Received
		if e.draining || !e.muted.IsZero() {
			e.poke()
		}
	}
	if d.ConsumerSeq <= e.last && e.suspect == nil {
		e.suspect = make(chan struct{})
		e.troubleLocked(ErrReplaced)
	}
	e.gapLocked(d)
	e.last = d.ConsumerSeq
	e.held++
	e.counts.Delivered++
	e.sureLocked()
	d.identity = e.identity
}

// sureLocked waits until it is known whose deliveries these are.
func (e *Engine) sureLocked() {
	for e.suspect != nil {
		sure := e.suspect
		e.mu.Unlock()
		<-sure
		e.mu.Lock()
	}
}

// hear reads a status.
func (e *Engine) hear(m *nats.Msg, s status) {
	v, err := s.judge()
	e.mu.Lock()
	if e.epoch == nil || e.epoch.sub != m.Sub {
		e.mu.Unlock()
		return // of an epoch that is over
	}
	e.heard = time.Now()
	if v != goOn {
		e.epoch.pulls.ended(s.pull, s.left)
	}
	if v == look || v == refused {
		e.troubleLocked(err)
	}
	if e.draining || !e.muted.IsZero() {
		e.poke()
	}
	e.mu.Unlock()
	if v == pullOver {
		e.topUp()
	}
}

// troubleLocked has the supervisor look at the consumer.
func (e *Engine) troubleLocked(err error) {
	e.trouble = err
	e.poke()
}
