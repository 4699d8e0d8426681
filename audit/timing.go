package audit

import (
	"slices"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/timingcontract"
)

// contract is the timing contract of a config with the declared handler.
func contract(c *broker.ConsumerConfig, h *timingcontract.Handler) timingcontract.Contract {
	k := timingcontract.Contract{Ladder: c.Backoff, AckWait: c.AckWait, MaxDeliver: c.MaxDeliver}
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
	p.Before, p.After = envelope(live, p.Handler()), envelope(stored, p.Handler())
	if p.Before == nil && p.After == nil {
		return
	}
	same := live != nil && stored != nil && sameTiming(live, stored)
	if same && p.Result.Outcome != broker.Untouched {
		return
	}
	if !same {
		p.Before = envelope(live, withoutReserve(p.Handler()))
	}
	p.Entry.Envelope = &EnvelopeChange{Before: view(p.Before), After: view(p.After)}
}

// withoutReserve is the handler as it is before the change: a reserve comes with
// the deploy that raises max_deliver for it.
func withoutReserve(h *timingcontract.Handler) *timingcontract.Handler {
	if h == nil || h.Reserve == 0 {
		return h
	}
	n := *h
	n.Reserve = 0
	return &n
}

func sameTiming(a, b *broker.ConsumerConfig) bool {
	return a.AckWait == b.AckWait && a.MaxDeliver == b.MaxDeliver && a.AckPolicy == b.AckPolicy && slices.Equal(a.Backoff, b.Backoff)
}

// envelope is nil for a consumer that nobody has to acknowledge to.
func envelope(c *broker.ConsumerConfig, h *timingcontract.Handler) *timingcontract.Envelope {
	if c == nil || c.AckPolicy == broker.AckNone || c.AckPolicy == "" || c.AckPolicy == broker.AckFlowControl {
		return nil
	}
	e := contract(c, h).Envelope()
	return &e
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
	return v
}

// Duration writes d as Go does, without the zero units at its end: 30s, 2m,
// 41h12m30s.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
