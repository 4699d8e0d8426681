package audit

import (
	"slices"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
)

// A StreamPass is what a rule may look at of one stream.
type StreamPass struct {
	Cell        *CellView
	Live        *StreamView  // nil: the broker has no such stream
	Declaration *Declaration // nil: nothing is declared
	Result      broker.Result[broker.StreamConfig]
	Entry       *Entry
	Taken       time.Time
	// OthersDeclared says that a declaration of some stream is for this cell.
	OthersDeclared bool
	// History are the stream's configs in earlier snapshots, oldest first.
	History []*broker.StreamConfig

	judge *judge
	rule  *Rule
}

// Report adds a finding, as [ConsumerPass.Report] does.
func (p *StreamPass) Report(f Finding) { p.judge.report(p.rule, p.Entry, p.Declaration, f) }

func (c *comparer) stream(d *Declaration) Entry {
	e := c.entry(d)
	p := &StreamPass{Cell: c.cell, Live: c.cell.Stream(d.Stream), Declaration: d, Entry: &e, judge: c.judge, Taken: c.taken}
	if e.Reason = c.cannotTellStream(p, d); e.Reason != "" {
		e.Outcome = broker.Unknown
		return e
	}
	p.History = c.streamHistory(d.Stream)
	c.predictStream(p)
	c.describeStream(p)
	if p.Result.Stored != nil {
		c.after[d.Stream] = p.Result.Stored
	}
	c.applyStreamRules(p)
	return e
}

func (c *comparer) cannotTellStream(p *StreamPass, d *Declaration) string {
	switch {
	case p.Live == nil:
		return c.unseen(d.Stream, "")
	case p.Live.Assumed:
		return "the snapshot has no config of the stream"
	case len(p.Live.Unknown) > 0:
		return "the live config has fields that the model does not know: " + join(p.Live.Unknown)
	}
	return ""
}

func (c *comparer) predictStream(p *StreamPass) {
	var live *broker.StreamConfig
	var consumers []broker.Sibling
	if p.Live != nil {
		live, consumers = p.Live.Config, p.Live.Siblings
	}
	req, sends := p.Declaration.SentStream(live)
	if !sends {
		p.Result = broker.Result[broker.StreamConfig]{Outcome: broker.Untouched, Stored: live}
		return
	}
	p.Result = c.cell.Broker.Stream(live, c.cell.peers(p.Declaration.Stream), consumers, req)
}

func (c *comparer) describeStream(p *StreamPass) {
	userOnly := func(after *broker.StreamConfig) { after.Metadata = broker.UserMetadata(after.Metadata) }
	if describe(p.Entry, &p.Result, userOnly, func() []Field { return c.streamFields(p) }) {
		tellSources(p)
		markLosses(p)
	}
}

func (c *comparer) streamFields(p *StreamPass) []Field {
	canonical := func(cfg *broker.StreamConfig) *broker.StreamConfig {
		if cfg == nil {
			return nil
		}
		n := cfg.Canonical()
		return &n
	}
	d := p.Declaration
	f := fate[broker.StreamConfig]{
		fields:   broker.StreamFields(),
		declared: canonical(&d.StreamRequest.Config), chosen: d.Declared,
		after: canonical(p.Result.Stored), asked: canonical(p.Result.Asked),
		outcome: p.Result.Outcome, refused: p.Result.Refused, dropped: p.Result.Dropped, bad: d.StreamRequest.Bad,
		note: d.noteOn, follows: func(int, *broker.StreamConfig, *broker.StreamConfig) string { return "" },
	}
	if p.Live != nil {
		f.live = canonical(p.Live.Config)
	}
	if f.base = canonical(d.LastAppliedStream); f.base == nil && len(p.History) > 0 {
		f.base = p.History[len(p.History)-1]
	}
	if d.Writer == Merge && p.Live != nil {
		bare := c.cell.Broker.Stream(nil, nil, nil, &broker.StreamRequest{Config: d.StreamRequest.Config})
		f.bare = canonical(bare.Asked)
	}
	return f.classify()
}

// tellSources says which sources come and go, because the lists as a whole are
// hard to read.
func tellSources(p *StreamPass) {
	if p.Live == nil || p.Result.Stored == nil {
		return
	}
	for i := range p.Entry.Fields {
		if f := &p.Entry.Fields[i]; f.Name == "sources" && f.Note == "" {
			was, next := sourceNames(p.Live.Config), sourceNames(p.Result.Stored)
			f.Note = strings.TrimSpace(signed("+", next, was) + " " + signed("-", was, next))
		}
	}
}

func sourceNames(c *broker.StreamConfig) []string {
	var names []string
	for _, s := range c.Sources {
		if s == nil { // a null in JSON
			continue
		}
		name := s.Name
		if s.FilterSubject != "" {
			name += " (filter " + s.FilterSubject + ")"
		}
		names = append(names, name)
	}
	return names
}

// signed lists the names that the others lack, with a sign before each.
func signed(sign string, names, others []string) string {
	var out []string
	for _, n := range names {
		if !slices.Contains(others, n) {
			out = append(out, sign+" "+n)
		}
	}
	return strings.Join(out, " ")
}

// markLosses marks the fields by whose change a stream loses redundancy or
// messages.
func markLosses(p *StreamPass) {
	if p.Entry.Outcome != broker.Update || p.Live == nil || p.Result.Stored == nil {
		return
	}
	for i := range p.Entry.Fields {
		f := &p.Entry.Fields[i]
		if f.Class == Change || f.Class == SilentReset || f.Class == Clamp {
			if p.loses(f.Name) {
				f.Class = Destructive
			}
		}
	}
}

// loses says whether changing the field throws something away. With discard new
// 2.9 does, and later lines refuse what is published instead (filestore.go:5975
// of 2.15.3). Before 2.14 a stream without consumers keeps what it holds when it
// becomes an interest stream.
func (p *StreamPass) loses(field string) bool {
	live, was, next, v := p.Live, p.Live.Config, p.Result.Stored, p.Cell.Broker.Version
	deletes := next.Discard == broker.DiscardOld || !v.AtLeast(10)
	switch field {
	case "num_replicas":
		return next.Replicas < was.Replicas
	case "max_age":
		return next.MaxAge > 0 && (was.MaxAge == 0 || next.MaxAge < was.MaxAge) && live.holdsMessages()
	case "max_msgs":
		return deletes && shrinks(was.MaxMsgs, next.MaxMsgs, live, live.State.Messages)
	case "max_bytes":
		return deletes && shrinks(was.MaxBytes, next.MaxBytes, live, live.State.Bytes)
	case "max_msgs_per_subject":
		return next.MaxMsgsPer > 0 && (was.MaxMsgsPer <= 0 || next.MaxMsgsPer < was.MaxMsgsPer) && live.holdsMessages()
	case "retention":
		return next.Retention == broker.InterestRetention && live.holdsMessages() && (len(live.Consumers) > 0 || v.AtLeast(14))
	}
	return false
}

func (s *StreamView) holdsMessages() bool { return !s.Stated || s.State.Messages > 0 }

func shrinks(was, next int64, live *StreamView, held uint64) bool {
	return next > 0 && (was <= 0 || next < was) && (!live.Stated || held > uint64(next))
}

func join(names []string) string { return strings.Join(slices.Sorted(slices.Values(names)), ", ") }
