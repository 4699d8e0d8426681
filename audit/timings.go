package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/timingcontract"
)

// A Timing is the timing contract of one consumer, before and after its
// declaration is applied.
type Timing struct {
	Cell, Stream, Consumer string
	BrokerVersion          string
	// Handler says that a declaration states what the handler does. The contracts
	// of a consumer without one have the zero Handler.
	Handler bool
	Before  *timingcontract.Contract // nil: nothing live, or nobody has to acknowledge
	After   *timingcontract.Contract // nil: nothing afterwards, or nobody has to acknowledge
	// Surroundings are what the stream would be.
	Surroundings timingcontract.Surroundings
	// Reason says why After is nil, or "".
	Reason string
}

// Timings works out the contract of every declared consumer, and of every live
// one where nothing is declared. Order is by cell, stream and consumer. The error
// is as that of [Compare].
func Timings(f *Fleet, ds []*Declaration) ([]Timing, error) {
	if err := checkTargets(f, ds); err != nil {
		return nil, err
	}
	var all []Timing
	for _, cell := range f.Cells {
		c := &comparer{cell: cell, judge: newJudge(Options{}), liveOnly: len(ds) == 0}
		for _, d := range ds {
			if d.Target.Matches(cell) {
				c.add(d)
			}
		}
		if err := c.twice(); err != nil {
			return nil, err
		}
		c.index()
		for _, d := range c.streams {
			c.stream(d)
		}
		all = append(all, c.timings()...)
	}
	return all, nil
}

func (c *comparer) timings() []Timing {
	var all []Timing
	for _, d := range c.durable {
		e := c.entry(d)
		all = append(all, c.timingOf(c.pass(d, &e)))
	}
	for _, s := range c.cell.Streams {
		for _, live := range s.Consumers {
			if c.liveOnly && live.Bad == nil {
				e := c.liveEntry(s, live.Name)
				p := &ConsumerPass{Cell: c.cell, Stream: s, StreamConfig: s.Config, Live: live, Entry: &e}
				p.Result = broker.Result[broker.ConsumerConfig]{Outcome: broker.Untouched, Stored: live.Config}
				all = append(all, c.timingOf(p))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Timing) int {
		return strings.Compare(a.Stream+"\x00"+a.Consumer, b.Stream+"\x00"+b.Consumer)
	})
	return all
}

func (c *comparer) timingOf(p *ConsumerPass) Timing {
	e := p.Entry
	t := Timing{Cell: e.Cell, Stream: e.Stream, Consumer: e.Consumer, BrokerVersion: e.BrokerVersion, Handler: p.Handler() != nil}
	if p.StreamConfig != nil {
		t.Surroundings = c.surroundings(p)
	}
	if p.Live != nil && p.Live.Bad == nil && acknowledged(p.Live.Config) {
		k := Contract(p.Live.Config, withoutReserve(p.Handler()), c.cell.Broker.Version)
		t.Before = &k
	}
	t.Reason = p.untimed()
	if t.Reason == "" {
		k := Contract(p.Stored(), p.Handler(), c.cell.Broker.Version)
		t.After = &k
	}
	return t
}

// untimed says why a consumer would have no timing, or "".
func (p *ConsumerPass) untimed() string {
	switch {
	case p.Entry.Outcome == broker.Unknown:
		return p.Entry.Reason
	case p.Result.Outcome == broker.Unknown:
		return p.Result.Reason
	case p.Result.Outcome == broker.Reject:
		return fmt.Sprintf("the broker refuses it with err_code %d: %s", p.Result.Error.ErrCode, p.Result.Error.Description)
	case p.Stored() == nil:
		return "there would be no such consumer"
	case !acknowledged(p.Stored()):
		return "nobody has to acknowledge (ack_policy " + string(p.Stored().AckPolicy) + "): nothing is retried"
	}
	return ""
}

// DeclaredFleet is a fleet in which nothing is live but the streams that the
// declarations name, with default settings where they are not declared: what
// declarations come to by themselves. It has a cell for each target. A zero version
// is the newest.
func DeclaredFleet(ds []*Declaration, v broker.Version) *Fleet {
	if v.IsZero() {
		v = broker.Newest
	}
	var targets []Target
	for _, d := range ds {
		if d.Target != (Target{}) && !slices.Contains(targets, d.Target) {
			targets = append(targets, d.Target)
		}
	}
	if len(targets) == 0 {
		targets = []Target{{}}
	}
	f := &Fleet{}
	for _, t := range targets {
		c := &CellView{
			Name: t.Cell, Cluster: t.Cluster, Domain: t.Domain, Account: t.Account, Complete: true,
			Broker: broker.Broker{Version: v, Clustered: true}, byName: map[string]*StreamView{},
		}
		c.assumeStreams(ds)
		f.Cells = append(f.Cells, c)
	}
	return f
}

// assumeStreams adds the streams that consumers are declared on, and that are not
// declared themselves.
func (c *CellView) assumeStreams(ds []*Declaration) {
	declared := map[string]bool{"": true}
	for _, d := range ds {
		if d.Consumer == "" && d.Target.Matches(c) {
			declared[d.Stream] = true
		}
	}
	for _, d := range ds {
		if !declared[d.Stream] && d.Target.Matches(c) {
			declared[d.Stream] = true
			c.hold(&StreamView{Name: d.Stream, Config: assumedStream(d.Stream), byName: map[string]*ConsumerView{}})
		}
	}
}
