package engine

import "time"

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
// result tells. The error is the client's, such as that of a closed connection.
func (e *Engine) Settle(d *Delivery, disposition string) (sent bool, err error) {
	e.mu.Lock()
	e.sureLocked()
	e.held--
	sent = disposition != ""
	if sent && d.identity != e.identity {
		e.counts.Stale++
		sent = false
	}
	if sent {
		e.counts.Settled++
	}
	if e.held == 0 && e.draining {
		e.poke()
	}
	reply, body := e.askLocked()
	e.mu.Unlock()
	switch {
	case sent && disposition == Ack && body != nil:
		// Acknowledges and asks in one message (processAck, consumer.go:2884).
		err = e.nc.PublishRequest(d.Msg.Reply, reply, body)
	case sent:
		payload := e.ack
		if disposition != Ack {
			payload = []byte(disposition)
		}
		err = e.nc.Publish(d.Msg.Reply, payload)
		fallthrough
	default:
		if body != nil {
			e.publishPull(reply, body)
		}
	}
	if body != nil {
		e.topUp()
	}
	return sent, err
}

// Release gives a delivery back without a disposition.
func (e *Engine) Release(d *Delivery) { _, _ = e.Settle(d, "") }

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
	for {
		e.mu.Lock()
		reply, body := e.askLocked()
		e.mu.Unlock()
		if body == nil {
			return
		}
		e.publishPull(reply, body)
	}
}

func (e *Engine) publishPull(reply string, body []byte) {
	if err := e.nc.PublishRequest(e.next, reply, body[nxt:]); err != nil {
		e.mu.Lock()
		e.troubleLocked(err)
		e.mu.Unlock()
	}
}

// askLocked opens a pull in the account if one is due; the caller sends it. While
// messages are on their way, it waits until half of the callers are free, so that
// a pull is worth its request.
func (e *Engine) askLocked() (reply string, body []byte) {
	if !e.bound || e.draining || e.epoch == nil {
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
