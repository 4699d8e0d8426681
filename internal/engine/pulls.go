package engine

import (
	"strconv"
	"time"
)

// pulls is the account of what has been asked for. Messages do not say which pull
// they answer, and the server serves its pulls in turn, so the sum is kept; each
// pull's own size bounds what can be left of it.
type pulls struct {
	asked int // messages that may still come
	open  []pull
	next  int
	// replies are the inboxes of pulls, used in turn. A status of an old pull must
	// not be taken for one of a later pull, and only a few are open at a time.
	replies [64]string
	bodies  map[int][]byte // of requests, by batch
	expires time.Duration
	beat    time.Duration
}

type pull struct {
	token    string
	batch    int
	deadline time.Time
}

func newPulls(inbox string, expires, beat time.Duration) *pulls {
	p := &pulls{expires: expires, beat: beat, bodies: map[int][]byte{}}
	for i := range p.replies {
		p.replies[i] = inbox + "." + strconv.Itoa(i)
	}
	return p
}

// slack is how much later than its expiry the end of a pull may be heard of.
const slack = time.Second

// ask opens a pull and returns where its messages go and what to send.
func (p *pulls) ask(batch int, now time.Time) (reply string, body []byte) {
	if p.asked == 0 {
		p.open = p.open[:0] // all were served
	}
	if len(p.open) == len(p.replies) {
		p.open = append(p.open[:0], p.open[1:]...) // served long ago: pulls are served in turn
	}
	i := p.next % len(p.replies)
	p.next++
	reply = p.replies[i]
	p.open = append(p.open, pull{token: reply[len(reply)-digits(i):], batch: batch, deadline: now.Add(p.expires + slack)})
	p.asked += batch
	return reply, p.body(batch)
}

func digits(i int) int {
	if i < 10 {
		return 1
	}
	return 2
}

func (p *pulls) body(batch int) []byte {
	if b, ok := p.bodies[batch]; ok {
		return b
	}
	b := append([]byte(`+NXT {"batch":`), strconv.Itoa(batch)...)
	b = append(b, `,"expires":`...)
	b = strconv.AppendInt(b, p.expires.Nanoseconds(), 10)
	b = append(b, `,"idle_heartbeat":`...)
	b = strconv.AppendInt(b, p.beat.Nanoseconds(), 10)
	b = append(b, '}')
	p.bodies[batch] = b
	return b
}

// nxt is the part of a body that makes it an acknowledgment.
const nxt = len("+NXT ")

func (p *pulls) got() {
	if p.asked > 0 {
		p.asked--
	}
}

// ended takes out the pull of a status, with what it did not get. If the server
// does not say how much that is, it is as much as can be.
func (p *pulls) ended(token string, left int) {
	for i, o := range p.open {
		if o.token != token {
			continue
		}
		p.open = append(p.open[:i], p.open[i+1:]...)
		if left >= 0 {
			p.asked = max(0, p.asked-min(left, o.batch))
		}
		p.bound()
		return
	}
}

// expire takes out pulls whose end was not heard of in time.
func (p *pulls) expire(now time.Time) {
	kept := p.open[:0]
	for _, o := range p.open {
		if o.deadline.After(now) {
			kept = append(kept, o)
		}
	}
	p.open = kept
	p.bound()
}

// bound keeps what may still come within what the open pulls asked for.
func (p *pulls) bound() {
	sum := 0
	for _, o := range p.open {
		sum += o.batch
	}
	p.asked = min(p.asked, sum)
}

// forget closes the account: nothing that was asked for will come.
func (p *pulls) forget() {
	p.asked, p.open = 0, p.open[:0]
}

// within shortens the pulls that follow.
func (p *pulls) within(expires time.Duration) {
	p.expires, p.beat = expires, min(p.beat, expires/2)
	clear(p.bodies)
}
