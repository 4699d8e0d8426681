package audit

import (
	"slices"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/timingcontract"
)

// Contract is the timing contract of a config as a broker stores it, with a
// handler, on a broker of the given version. A nil handler does nothing on
// failure.
func Contract(c *broker.ConsumerConfig, h *timingcontract.Handler, v broker.Version) timingcontract.Contract {
	k := timingcontract.Contract{
		Ladder: c.Backoff, AckWait: c.AckWait, MaxDeliver: c.MaxDeliver,
		MaxAckPending: c.MaxAckPending, InactiveThreshold: c.InactiveThreshold,
		Line: timingcontract.Line(v.Minor),
	}
	if h != nil {
		k.Handler = *h
	}
	return k
}

// timing works out the envelopes, and puts them into the entry where they
// change.
func (p *ConsumerPass) timing() {
	var live *broker.ConsumerConfig
	if p.Live != nil {
		live = p.Live.Config
	}
	stored := p.Stored()
	p.Before = p.envelope(live, p.Handler())
	if p.After = p.Before; stored != live {
		p.After = p.envelope(stored, p.Handler())
	}
	if p.Before == nil && p.After == nil {
		return
	}
	same := live != nil && stored != nil && sameTiming(live, stored)
	if same && p.Result.Outcome != broker.Untouched {
		return
	}
	if !same {
		p.Before = p.envelope(live, withoutReserve(p.Handler()))
	}
	p.Entry.Envelope = &EnvelopeChange{Before: view(p.Before), After: view(p.After)}
}

// withoutReserve is the handler as it is before the change: a reserve, and the
// capture that it is for, come with the deploy that raises max_deliver for it.
func withoutReserve(h *timingcontract.Handler) *timingcontract.Handler {
	if h == nil || h.Reserve == 0 {
		return h
	}
	n := *h
	n.Reserve, n.Capture = 0, ""
	return &n
}

func sameTiming(a, b *broker.ConsumerConfig) bool {
	return a.AckWait == b.AckWait && a.MaxDeliver == b.MaxDeliver && a.AckPolicy == b.AckPolicy && slices.Equal(a.Backoff, b.Backoff)
}

// envelope is nil for a consumer that nobody has to acknowledge to.
func (p *ConsumerPass) envelope(c *broker.ConsumerConfig, h *timingcontract.Handler) *timingcontract.Envelope {
	if !acknowledged(c) {
		return nil
	}
	k := Contract(c, h, p.Cell.Broker.Version)
	e := k.Envelope()
	return &e
}

// acknowledged says whether a config has retries at all.
func acknowledged(c *broker.ConsumerConfig) bool {
	return c != nil && c.AckPolicy != broker.AckNone && c.AckPolicy != "" && c.AckPolicy != broker.AckFlowControl
}

// breaches works out what the timing contract can not hold on the stream as it
// would be.
func (c *comparer) breaches(p *ConsumerPass) {
	if p.Result.Outcome == broker.Reject || !acknowledged(p.Stored()) || p.StreamConfig == nil {
		return
	}
	k := Contract(p.Stored(), p.Handler(), p.Cell.Broker.Version)
	p.Breaches = k.Breaches(c.surroundings(p))
}

// surroundings are what the consumer's stream would be, and the one that its
// handler publishes to.
func (c *comparer) surroundings(p *ConsumerPass) timingcontract.Surroundings {
	s := timingcontract.Surroundings{MaxAge: p.StreamConfig.MaxAge, Retention: string(p.StreamConfig.Retention), Consumers: 1}
	if p.Stream != nil {
		s.Consumers = len(p.Stream.Consumers)
		if p.Live == nil {
			s.Consumers++
		}
	}
	if h := p.Handler(); h != nil && h.Publishes != "" {
		s.DuplicateWindow = c.duplicateWindow(h.Publishes)
	}
	return s
}

// duplicateWindow is that of a stream as it would be, zero where nobody knows.
func (c *comparer) duplicateWindow(stream string) time.Duration {
	if after := c.after[stream]; after != nil {
		return after.Duplicates
	}
	if live := c.cell.Stream(stream); live != nil {
		return live.Config.Duplicates
	}
	return 0
}

func view(e *timingcontract.Envelope) *EnvelopeView {
	switch {
	case e == nil:
		return nil
	case e.Unbounded:
		return &EnvelopeView{Unbounded: true}
	}
	v := &EnvelopeView{
		LastAttempt: e.LastAttempt.At.String(), LastAttemptDelivery: e.LastAttempt.Delivery, Stalled: e.Stalled,
	}
	if e.Capture != nil {
		v.Capture = e.Capture.At.String()
	}
	if e.Exhausted > 0 {
		v.Exhausted = e.Exhausted.String()
	}
	if e.Residency > 0 {
		v.Residency = e.Residency.String()
	}
	return v
}

// Duration writes d as Go does, without the zero units at its end: 30s, 2m,
// 41h12m30s.
func Duration(d time.Duration) string { return timingcontract.Duration(d) }
