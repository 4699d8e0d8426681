package engine

import (
	"time"

	"github.com/nats-io/nats.go"
)

// Next waits for a message. Every message must be given to Settle or Release.
// False: there will be none any more, since the engine has drained or ended.
// Callers are what reads statuses and heartbeats, too: as long as anything is
// asked for, one of them should be in Next.
func (e *Engine) Next() (Delivery, bool) {
	for {
		m := e.receive()
		if m == nil {
			e.in <- nil // the next one's turn
			return Delivery{}, false
		}
		if s, ok := readStatus(m); ok {
			e.hear(m, s)
			continue
		}
		d := Delivery{Msg: m, Received: time.Now()}
		if err := parseReply(&d, m.Reply); err != nil {
			continue // somebody published to the inbox
		}
		e.take(&d)
		return d, true
	}
}

// receive takes the next message from the channel. Of the callers that find none,
// one waits at the channel, and the others wait for its place: a caller that comes
// back soon takes what has arrived meanwhile, and nobody is woken for it.
func (e *Engine) receive() *nats.Msg {
	select {
	case m := <-e.in:
		return m
	default:
	}
	e.baton <- struct{}{}
	m := <-e.in
	<-e.baton
	return m
}

// take enters a delivery in the account. Deliveries are counted upwards, so one
// with a lower number comes from another consumer, or from one that lost its
// state: which of the two must be known before anything is settled.
func (e *Engine) take(d *Delivery) {
	e.mu.Lock()
	defer e.mu.Unlock()
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
