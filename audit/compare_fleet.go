package audit

import "github.com/natsmig/natsmig/audit/broker"

// undeclared adds an entry for each live consumer that nobody declared, on
// streams that a declaration names. What is not ours is not our business.
func (c *comparer) undeclared(out []Entry, s *StreamView) []Entry {
	if !c.mentioned[s.Name] {
		return out
	}
	for _, live := range s.Consumers {
		if c.declared[s.Name][live.Name] {
			continue
		}
		e := c.liveEntry(s, live.Name)
		p := &ConsumerPass{Cell: c.cell, Stream: s, StreamConfig: s.Config, Live: live, LiveOnly: c.liveOnly, Entry: &e, judge: c.judge, Taken: c.taken, History: c.consumerHistory(s.Name, live.Name)}
		if live.Bad != nil {
			e.Outcome, e.Reason = broker.Unknown, live.Bad.Error()
		} else {
			p.Result = broker.Result[broker.ConsumerConfig]{Outcome: broker.Untouched, Stored: live.Config}
			p.Before = p.envelope(live.Config, nil)
			p.After = p.Before
			c.breaches(p)
			c.applyRules(p)
		}
		if e.Outcome == broker.Unknown || len(e.Findings) > 0 || live.Config.Durable != "" {
			out = append(out, e)
		}
	}
	return out
}

func (c *comparer) liveEntry(s *StreamView, consumer string) Entry {
	return Entry{
		Cell: c.cell.Name, Stream: s.Name, Consumer: consumer, BrokerVersion: c.cell.Broker.Version.String(),
		Outcome: broker.Untouched, Fields: []Field{}, Findings: []Finding{},
	}
}

// undeclaredStream is the entry of a live stream that nobody declared, where
// others of the cell are, and of one whose consumers are declared when a rule
// has something to say about it.
func (c *comparer) undeclaredStream(s *StreamView) (Entry, bool) {
	for _, d := range c.streams {
		if d.Stream == s.Name {
			return Entry{}, false
		}
	}
	if len(c.streams) == 0 && !c.mentioned[s.Name] {
		return Entry{}, false
	}
	e := c.liveEntry(s, "")
	p := &StreamPass{Cell: c.cell, Live: s, Entry: &e, judge: c.judge, Taken: c.taken, OthersDeclared: len(c.streams) > 0, History: c.streamHistory(s.Name)}
	p.Result = broker.Result[broker.StreamConfig]{Outcome: broker.Untouched, Stored: s.Config}
	c.applyStreamRules(p)
	return e, len(e.Findings) > 0
}
