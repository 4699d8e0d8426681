package engine

import (
	"errors"
	"time"

	"github.com/nats-io/nats.go"
)

// The dispositions, as the broker reads them.
const (
	Ack      = "+ACK"
	Nak      = "-NAK"
	Term     = "+TERM"
	Progress = "+WPI"
)

// Settle sends a disposition, and asks for as many messages as callers are free
// to take. An empty disposition sends none, so that the broker's ladder decides.
// Not sent either: one for a consumer that has been replaced since, of which the
// result tells.
func (e *Engine) Settle(d *Delivery, disposition string) (sent bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sureLocked()
	e.held--
	sent = disposition != ""
	if sent && d.identity != e.identity {
		e.counts.Stale++
		sent = false
	}
	reply, body := e.askLocked()
	switch {
	case sent && disposition == Ack && body != nil:
		// Acknowledges and asks in one message (processAck, consumer.go:2884).
		e.counts.Settled++
		e.outbox = append(e.outbox, out{d.Msg.Reply, reply, body})
		reply, body = e.askLocked()
	case sent:
		e.counts.Settled++
		e.outbox = append(e.outbox, out{subject: d.Msg.Reply, data: e.payload(disposition)})
	}
	e.pullLocked(reply, body)
	e.sendLocked()
	return sent
}

func (e *Engine) payload(disposition string) []byte {
	if disposition == Ack {
		return e.ack
	}
	return []byte(disposition)
}

// Release gives a delivery back without a disposition.
func (e *Engine) Release(d *Delivery) { e.Settle(d, "") }

// Progress restarts the broker's clock for a delivery. False: it was not sent,
// since the consumer has been replaced.
func (e *Engine) Progress(d *Delivery) (sent bool, err error) {
	e.mu.Lock()
	e.sureLocked()
	stale := d.identity != e.identity
	e.mu.Unlock()
	if stale {
		return false, nil
	}
	return true, e.nc.Publish(d.Msg.Reply, []byte(Progress))
}

// topUp asks for messages until nobody is free, or enough is asked for.
func (e *Engine) topUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pullLocked(e.askLocked())
	e.sendLocked()
}

// pullLocked puts a request for messages into the outbox, and those that are due
// beside it.
func (e *Engine) pullLocked(reply string, body []byte) {
	for ; body != nil; reply, body = e.askLocked() {
		e.outbox = append(e.outbox, out{e.next, reply, body[nxt:]})
	}
}

// out is a message that is to be sent.
type out struct {
	subject, reply string
	data           []byte
}

func (o *out) publish(nc *nats.Conn) error {
	if o.reply == "" {
		return nc.Publish(o.subject, o.data)
	}
	return nc.PublishRequest(o.subject, o.reply, o.data)
}

// sendLocked sends what is in the outbox, unless another caller is at it, who
// takes this along: publishing waits for the connection's writes, and callers that
// wait for that would hold messages meanwhile.
func (e *Engine) sendLocked() {
	if e.sending {
		return
	}
	e.sending = true
	for len(e.outbox) > 0 {
		all := e.outbox
		e.outbox = e.spare[:0]
		e.mu.Unlock()
		var failed error
		for _, o := range all {
			failed = errors.Join(failed, o.publish(e.nc)) // nothing is lost: messages come again, and so do pulls
		}
		clear(all)
		e.mu.Lock()
		e.spare = all
		if failed != nil {
			e.troubleLocked(failed)
		}
	}
	e.sending = false
	if e.draining {
		e.poke()
	}
}

// askLocked opens a pull in the account if one is due; the caller sends it. While
// messages are on their way, it waits until half of the callers are free, so that
// a pull is worth its request.
func (e *Engine) askLocked() (reply string, body []byte) {
	if !e.bound || e.denied || e.draining || e.epoch == nil {
		return "", nil
	}
	p := e.epoch.pulls
	free := e.c.InFlight - e.held - p.asked
	if free < 1 || p.asked > 0 && free < e.c.InFlight/2 {
		return "", nil
	}
	now := time.Now()
	if p.asked == 0 {
		e.waiting = now // nothing was to be heard before
	}
	e.counts.Pulls++
	return p.ask(min(free, e.epoch.maxBatch), now)
}
