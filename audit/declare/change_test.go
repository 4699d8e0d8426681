package declare_test

import (
	"encoding/json"
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// changed declares something random for each consumer of a fleet, and for one
// that is not there, by a random writer.
func (g *fleetGen) changed(t *testing.T, f *audit.Fleet) []*audit.Declaration {
	t.Helper()
	var ds []*audit.Declaration
	for _, cell := range f.Cells {
		for _, s := range cell.Streams {
			names := []string{"fresh"}
			for _, c := range s.Consumers {
				names = append(names, c.Name)
			}
			for _, name := range names {
				d, err := audit.DeclareConsumer(s.Name, partial(t, g.consumerConfig(name, s.Config)))
				if err != nil {
					t.Fatal(err)
				}
				d.Target.Cell, d.Writer = cell.Name, pick(g, audit.Writers()...)
				ds = append(ds, d)
			}
		}
	}
	return ds
}

// partial writes a config without the members that are zero.
func partial(t *testing.T, c any) json.RawMessage {
	t.Helper()
	var all map[string]json.RawMessage
	decode(t, toJSON(t, c), &all)
	for k, v := range all {
		if string(v) == `""` || string(v) == "0" {
			delete(all, k)
		}
	}
	return toJSON(t, all)
}

// TestAppliedTwice applies random declarations in thought, and audits them over
// what the broker holds then: nothing would change any more.
func TestAppliedTwice(t *testing.T) {
	seen := map[broker.Outcome]int{}
	eachFleet(t, 80, func(t *testing.T, g *fleetGen, s *audit.Snapshot, f *audit.Fleet) {
		ds := g.changed(t, f)
		first := compare(t, f, ds, audit.Options{})
		second := compare(t, index(t, applied(t, s, first)), ds, audit.Options{})
		for i := range first.Consumers {
			was := &first.Consumers[i]
			seen[was.Outcome]++
			if was.Outcome != broker.Create && was.Outcome != broker.Update || stamps(was) {
				continue
			}
			now := entryIn(second, was.Cell, was.Stream, was.Consumer)
			if now == nil || now.Outcome == broker.Noop || now.Outcome == broker.Untouched || was.Writer == audit.Create || onWorkQueue(f, was) {
				continue
			}
			t.Errorf("%s (%s, %s): %s, and then %s %v\n%+v\nafter %s", was.Name(), was.BrokerVersion, was.Writer, was.Outcome, now.Outcome, now.Error, now.Fields, toJSON(t, was.After))
		}
	})
	for _, o := range []broker.Outcome{broker.Create, broker.Update, broker.Reject, broker.Noop, broker.Untouched} {
		if seen[o] == 0 {
			t.Errorf("no outcome was %s: %v", o, seen)
		}
	}
}

// stamps says whether the broker stamped a threshold that a second update
// clears.
func stamps(e *audit.Entry) bool {
	for i := range e.Findings {
		if e.Findings[i].Code == "NM213" {
			return true
		}
	}
	return false
}

// onWorkQueue says whether the entry's neighbors can keep it from being applied
// again: they change, too.
func onWorkQueue(f *audit.Fleet, e *audit.Entry) bool {
	for _, c := range f.Cells {
		if c.Name == e.Cell {
			return c.Stream(e.Stream).Config.Retention == broker.WorkQueueRetention
		}
	}
	return false
}

func compare(t *testing.T, f *audit.Fleet, ds []*audit.Declaration, o audit.Options) *audit.Report {
	t.Helper()
	r, err := audit.Compare(f, ds, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func entryIn(r *audit.Report, cell, stream, consumer string) *audit.Entry {
	for i := range r.Consumers {
		if e := &r.Consumers[i]; e.Cell == cell && e.Stream == stream && e.Consumer == consumer {
			return e
		}
	}
	return nil
}

// applied is the snapshot of a fleet to which a report has happened.
func applied(t *testing.T, s *audit.Snapshot, r *audit.Report) *audit.Snapshot {
	t.Helper()
	next := &audit.Snapshot{TakenAt: s.TakenAt}
	for _, c := range s.Cells {
		streams := c.Streams
		c.Streams = nil
		for _, st := range streams {
			n := audit.Stream{Config: st.Config, State: st.State}
			for i := range r.Consumers {
				if e := &r.Consumers[i]; e.Cell == c.Name && e.Stream == st.Name() {
					n.Consumers = append(n.Consumers, held(t, &st, e)...)
				}
			}
			c.Streams = append(c.Streams, n)
		}
		next.Cells = append(next.Cells, c)
	}
	return next
}

// held is what the broker holds of an entry afterwards.
func held(t *testing.T, s *audit.Stream, e *audit.Entry) []audit.Consumer {
	t.Helper()
	if e.After != nil {
		info := map[string]any{"stream_name": e.Stream, "name": e.Consumer, "config": e.After}
		return []audit.Consumer{audit.NewConsumer(toJSON(t, info))}
	}
	for _, c := range s.Consumers {
		var info struct{ Name string }
		decode(t, c.Raw(), &info)
		if info.Name == e.Consumer {
			return []audit.Consumer{c}
		}
	}
	return nil
}

// TestMergeOfNothing names what is live and leaves everything else to it.
func TestMergeOfNothing(t *testing.T) {
	eachFleet(t, 60, func(t *testing.T, _ *fleetGen, _ *audit.Snapshot, f *audit.Fleet) {
		for _, cell := range f.Cells {
			for _, s := range cell.Streams {
				name := toJSON(t, map[string]string{"name": s.Name})
				d, err := audit.DeclareStream(name)
				if err != nil {
					t.Fatal(err)
				}
				ds := []*audit.Declaration{d}
				for _, c := range s.Consumers {
					key := "durable_name"
					if c.Config.Durable == "" {
						key = "name"
					}
					d, err := audit.DeclareConsumer(s.Name, toJSON(t, map[string]string{key: c.Name}))
					if err != nil {
						t.Fatal(err)
					}
					ds = append(ds, d)
				}
				for _, d := range ds {
					d.Writer = audit.Merge
				}
				one := &audit.Fleet{TakenAt: f.TakenAt, Cells: []*audit.CellView{cell}}
				wantNoops(t, compare(t, one, ds, audit.Options{}), bytesOf(toJSON(t, s.Config)))
			}
		}
	})
}

type bytesOf []byte

func (b bytesOf) String() string { return string(b) }

// TestBaselineCoversWhatItWasMadeOf makes a baseline of random findings: with it
// none counts but refusals, and only they fail.
func TestBaselineCoversWhatItWasMadeOf(t *testing.T) {
	eachFleet(t, 60, func(t *testing.T, g *fleetGen, _ *audit.Snapshot, f *audit.Fleet) {
		ds := g.changed(t, f)
		first := compare(t, f, ds, audit.Options{FailOn: audit.Warning})
		second := compare(t, f, ds, audit.Options{FailOn: audit.Warning, Baseline: audit.NewBaseline(first)})
		n := second.Summary.Findings
		if n[audit.Error] != second.Summary.Reject || n[audit.Warning] > 0 {
			t.Errorf("%v count with a baseline of the same findings and %d refused", n, second.Summary.Reject)
		}
		if fails := second.Verdict == audit.Fail; fails != (second.Summary.Reject > 0) {
			t.Errorf("verdict %s with %d refused", second.Verdict, second.Summary.Reject)
		}
	})
}

// TestStreamAppliedTwice does with one stream after the other what
// [TestAppliedTwice] does with consumers.
func TestStreamAppliedTwice(t *testing.T) {
	seen := map[broker.Outcome]int{}
	eachFleet(t, 80, func(t *testing.T, g *fleetGen, s *audit.Snapshot, _ *audit.Fleet) {
		for i := range s.Cells[0].Streams {
			cell := s.Cells[0]
			one := &audit.Snapshot{TakenAt: s.TakenAt, Cells: []audit.Cell{cell}}
			d, err := audit.DeclareStream(partial(t, g.streamConfig(cell.Streams[i].Name())))
			if err != nil {
				t.Fatal(err)
			}
			d.Writer = pick(g, audit.Replace, audit.Merge)
			ds := []*audit.Declaration{d}
			was := streamEntry(compare(t, index(t, one), ds, audit.Options{}), d.Stream)
			seen[was.Outcome]++
			if was.Outcome != broker.Update {
				continue
			}
			cell.Streams = append([]audit.Stream{}, cell.Streams...)
			cell.Streams[i].Config = toJSON(t, was.After)
			one.Cells = []audit.Cell{cell}
			if now := streamEntry(compare(t, index(t, one), ds, audit.Options{}), d.Stream); now.Outcome != broker.Noop {
				t.Errorf("%s (%s, %s): updated, and then %s %v\n%+v\nafter %s", d.Stream, was.BrokerVersion, d.Writer, now.Outcome, now.Error, now.Fields, toJSON(t, was.After))
			}
		}
	})
	for _, o := range []broker.Outcome{broker.Update, broker.Reject} {
		if seen[o] == 0 {
			t.Errorf("no outcome was %s: %v", o, seen)
		}
	}
}

func streamEntry(r *audit.Report, name string) *audit.Entry {
	for i := range r.Streams {
		if r.Streams[i].Stream == name {
			return &r.Streams[i]
		}
	}
	return nil
}
