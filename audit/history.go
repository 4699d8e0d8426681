package audit

import (
	"fmt"

	"github.com/natsmig/natsmig/audit/broker"
)

// past yields the cell as earlier snapshots saw it, oldest first.
func (c *comparer) past(yield func(*CellView)) {
	for _, f := range c.since {
		for _, cell := range f.Cells {
			if cell.Name == c.cell.Name {
				yield(cell)
			}
		}
	}
}

func (c *comparer) streamHistory(name string) (all []*broker.StreamConfig) {
	c.past(func(cell *CellView) {
		if s := cell.Stream(name); s != nil && !s.Assumed {
			n := s.Config.Canonical()
			all = append(all, &n)
		}
	})
	return all
}

func (c *comparer) consumerHistory(stream, name string) (all []*broker.ConsumerConfig) {
	c.past(func(cell *CellView) {
		s := cell.Stream(stream)
		if s == nil {
			return
		}
		if k := s.Consumer(name); k != nil && k.Bad == nil {
			n := k.Config.Canonical(s.Config.Replicas)
			all = append(all, &n)
		}
	})
	return all
}

var flapping = &Rule{
	Code: "NM406", Severity: Warning,
	Title: "a value flips back and forth: two writers",
	Doc: `Over several snapshots (--since) a field leaves a value and comes back to it: somebody edits it
and somebody else, often a controller, puts it back. One owner should apply the declaration, and
nobody else.`,
	Stream: func(p *StreamPass) {
		if p.Live == nil || len(p.History) < 2 {
			return
		}
		now := p.Live.Config.Canonical()
		flips(broker.StreamFields(), append(p.History, &now), p.Report)
	},
	Consumer: func(p *ConsumerPass) {
		if p.Live == nil || p.Live.Bad != nil || len(p.History) < 2 {
			return
		}
		now := p.Live.Config.Canonical(p.Stream.Config.Replicas)
		flips(broker.ConsumerFields(), append(p.History, &now), p.Report)
	},
}

// flips reports the fields that leave a value and return to it.
func flips[C any](fields []broker.Field[C], configs []*C, report func(Finding)) {
	for _, f := range fields {
		for i := 2; i < len(configs); i++ {
			a, b, c := configs[i-2], configs[i-1], configs[i]
			if f.Same(a, c) && !f.Same(a, b) {
				report(Finding{
					Field: f.Name, Have: f.Get(c),
					Message: fmt.Sprintf("%s: %s -> %s -> %s over %d snapshots: two writers", f.Name, Show(f.Get(a)), Show(f.Get(b)), Show(f.Get(c)), len(configs)),
					Fix:     "let one owner apply it",
				})
				break
			}
		}
	}
}
