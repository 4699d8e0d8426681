package audit

import (
	"slices"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/timingcontract"
)

// A ConsumerPass is what a rule may look at of one consumer.
type ConsumerPass struct {
	Cell         *CellView
	Stream       *StreamView          // nil: the broker has no such stream
	StreamConfig *broker.StreamConfig // as the request would find it; nil: none
	Live         *ConsumerView        // nil: the broker has no such consumer
	Declaration  *Declaration         // nil: nothing is declared
	LiveOnly     bool                 // there are no declarations at all
	Sent         *broker.ConsumerConfig
	Result       broker.Result[broker.ConsumerConfig]
	Before       *timingcontract.Envelope // nil: nothing live
	After        *timingcontract.Envelope // nil: nothing afterwards
	Breaches     []timingcontract.Breach  // of the timing contract afterwards
	Entry        *Entry
	Taken        time.Time
	// History are the consumer's configs in earlier snapshots, oldest first.
	History []*broker.ConsumerConfig

	judge *judge
	rule  *Rule
}

// Report adds a finding. The rule's code and severity, and the position of the
// field, are filled in where they are left out.
func (p *ConsumerPass) Report(f Finding) { p.judge.report(p.rule, p.Entry, p.Declaration, f) }

// Stored is the config that the broker would hold afterwards: the live one
// where nothing changes, nil where there would be none and where nobody knows.
func (p *ConsumerPass) Stored() *broker.ConsumerConfig { return p.Result.Stored }

// Handler is the declared handler, or nil.
func (p *ConsumerPass) Handler() *timingcontract.Handler {
	if p.Declaration == nil {
		return nil
	}
	return p.Declaration.Handler
}

func (c *comparer) consumer(d *Declaration) Entry {
	e := c.entry(d)
	p := c.pass(d, &e)
	if e.Outcome == broker.Unknown {
		return e
	}
	c.describe(p)
	c.applyRules(p)
	return e
}

// pass finds out about a declared consumer and asks the model. Where nobody can
// tell, the entry says so.
func (c *comparer) pass(d *Declaration, e *Entry) *ConsumerPass {
	p := &ConsumerPass{Cell: c.cell, Stream: c.cell.Stream(d.Stream), Declaration: d, Entry: e, judge: c.judge, Taken: c.taken}
	if p.Stream != nil {
		p.Live, p.StreamConfig = p.Stream.Consumer(d.Consumer), p.Stream.Config
	}
	if after, ok := c.after[d.Stream]; ok {
		p.StreamConfig = after
	}
	if e.Reason = c.cannotTell(p, d); e.Reason != "" {
		e.Outcome = broker.Unknown
		return p
	}
	p.History = c.consumerHistory(d.Stream, d.Consumer)
	c.predict(p)
	return p
}

// cannotTell says what keeps the outcome unknown, or "".
func (c *comparer) cannotTell(p *ConsumerPass, d *Declaration) string {
	switch {
	case p.StreamConfig == nil || p.Live == nil:
		return c.unseen(d.Stream, d.Consumer)
	case p.Live.Bad != nil:
		return p.Live.Bad.Error()
	case len(p.Live.Unknown) > 0:
		return "the live config has fields that the model does not know: " + join(p.Live.Unknown)
	case p.Stream != nil && len(p.Stream.Unknown) > 0:
		return "the stream's config has fields that the model does not know: " + join(p.Stream.Unknown)
	}
	return ""
}

// predict asks the model.
func (c *comparer) predict(p *ConsumerPass) {
	var live *broker.LiveConsumer
	var held *broker.ConsumerConfig
	if p.Live != nil {
		held = p.Live.Config
		live = &broker.LiveConsumer{Config: held, Bound: p.Live.State.PushBound}
	}
	req, sends := p.Declaration.SentConsumer(held)
	if !sends {
		p.Result = broker.Result[broker.ConsumerConfig]{Outcome: broker.Untouched, Stored: held}
		return
	}
	p.Sent = &req.Config
	p.Result = c.cell.Broker.Consumer(p.brokerStream(), live, req)
}

func (p *ConsumerPass) brokerStream() *broker.Stream {
	if p.StreamConfig == nil {
		return nil
	}
	s := &broker.Stream{Config: p.StreamConfig, Peers: p.Cell.configs}
	if p.Stream != nil {
		s.Consumers = p.Stream.Siblings
	}
	return s
}

func (c *comparer) describe(p *ConsumerPass) {
	userOnly := func(after *broker.ConsumerConfig) { after.Metadata = p.userMetadata(p.Result.Stored) }
	if describe(p.Entry, &p.Result, userOnly, func() []Field { return c.consumerFields(p) }) {
		p.markLosses()
		p.timing()
		c.breaches(p)
	}
}

// userMetadata is the metadata of a config without the server's own. That of the
// live config is known.
func (p *ConsumerPass) userMetadata(c *broker.ConsumerConfig) map[string]string {
	if p.Live != nil && c == p.Live.Config {
		return p.Live.metadata
	}
	return broker.UserMetadata(c.Metadata)
}

func (c *comparer) consumerFields(p *ConsumerPass) []Field {
	replicas := 1
	if p.StreamConfig != nil {
		replicas = p.StreamConfig.Replicas
	}
	used := 0
	canonical := func(cfg *broker.ConsumerConfig) *broker.ConsumerConfig {
		if cfg == nil {
			return nil
		}
		n := &c.scratch[used]
		used++
		*n = *cfg
		n.Metadata = p.userMetadata(cfg)
		*n = n.Canonical(replicas)
		return n
	}
	d := p.Declaration
	f := fate[broker.ConsumerConfig]{
		fields:   broker.ConsumerFields(),
		declared: canonical(&d.Request.Config), chosen: filtersAsOne(d.Declared),
		outcome: p.Result.Outcome, refused: atFault(&p.Result, p.Live), dropped: p.Result.Dropped, bad: d.Request.Bad,
		note: d.noteOn, follows: consumerFollows(p.StreamConfig),
	}
	if p.Live != nil {
		f.live = canonical(p.Live.Config)
	}
	if f.base = canonical(d.LastApplied); f.base == nil && len(p.History) > 0 {
		f.base = p.History[len(p.History)-1]
	}
	if f.after = f.live; p.Live == nil || p.Result.Stored != p.Live.Config {
		f.after = canonical(p.Result.Stored)
	}
	if f.outcome == broker.Reject { // nothing else looks at what was asked
		f.asked = canonical(p.Result.Asked)
	}
	if (d.Writer == Merge || d.Writer == Bind) && p.Live != nil {
		bare := c.cell.Broker.Consumer(p.brokerStream(), nil, &broker.ConsumerRequest{Config: d.Request.Config})
		f.bare = canonical(bare.Asked)
	}
	return f.classify()
}

// atFault lists the fields that a refusal is about. For a ladder that is too
// long they are two. A filter can stand in either of its fields: where one is
// refused, the other is not another change that is lost.
func atFault(res *broker.Result[broker.ConsumerConfig], live *ConsumerView) []string {
	if res.Error != nil && res.Error.ErrCode == 10116 {
		return []string{"backoff", "max_deliver"}
	}
	if live == nil {
		return res.Refused
	}
	one, many := live.Config.FilterSubject != "", len(live.Config.FilterSubjects) > 0
	switch {
	case one && slices.Contains(res.Refused, "filter_subjects"):
		return append(slices.Clone(res.Refused), "filter_subject")
	case many && slices.Contains(res.Refused, "filter_subject"):
		return append(slices.Clone(res.Refused), "filter_subjects")
	}
	return res.Refused
}

// filtersAsOne makes a chosen filter count as chosen in both of its fields,
// because the canonical form moves it between them.
func filtersAsOne(chosen broker.FieldSet) broker.FieldSet {
	one, _ := broker.ConsumerFieldIndex("filter_subject")
	many, _ := broker.ConsumerFieldIndex("filter_subjects")
	if chosen.Has(one) || chosen.Has(many) {
		chosen.Add(one)
		chosen.Add(many)
	}
	return chosen
}

// consumerFollows says why the broker stores something else than what was
// declared.
func consumerFollows(stream *broker.StreamConfig) func(int, *broker.ConsumerConfig, *broker.ConsumerConfig) string {
	wait, _ := broker.ConsumerFieldIndex("ack_wait")
	idle, _ := broker.ConsumerFieldIndex("inactive_threshold")
	return func(i int, d, after *broker.ConsumerConfig) string {
		switch {
		case i == wait && len(after.Backoff) > 0:
			return "follows backoff[0]"
		case i == idle && stream != nil && after.InactiveThreshold > 0 &&
			after.InactiveThreshold == stream.ConsumerLimits.InactiveThreshold && d.InactiveThreshold == 0:
			return "inherited from the stream's consumer_limits"
		}
		return ""
	}
}
