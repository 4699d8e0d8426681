package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
)

// Options say how to judge. The zero Options judge by the rules' own severities
// and fail on errors.
type Options struct {
	// FailOn is the lowest severity that fails. Empty: error.
	FailOn Severity
	// Policy changes severities and excuses findings. Nil: none.
	Policy *Policy
	// Baseline holds findings that do not count. Nil: none.
	Baseline *Baseline
	// Now decides whether an excuse has run out. Zero: excuses do not run out.
	Now time.Time
	// Since are earlier snapshots of the same cells, oldest first.
	Since []*Fleet
}

// Compare says what would become of every declared consumer and stream, and
// what the rules have to say. Without any declaration it judges what is live. It asks nobody: the same input gives the same
// report. The error tells declarations that are for none of the cells, or for
// the same thing twice.
func Compare(f *Fleet, declarations []*Declaration, o Options) (*Report, error) {
	if err := checkTargets(f, declarations); err != nil {
		return nil, err
	}
	r := &Report{Schema: ReportSchema, Consumers: []Entry{}, Streams: []Entry{}, Unknown: []Unknown{}, Tool: []Finding{}}
	judge := newJudge(o)
	for _, cell := range f.Cells {
		c := &comparer{cell: cell, rules: Rules(), judge: judge, since: o.Since, taken: f.TakenAt, liveOnly: len(declarations) == 0}
		for _, d := range declarations {
			if d.Target.Matches(cell) {
				c.add(d)
			}
		}
		if err := c.twice(); err != nil {
			return nil, err
		}
		c.run(r)
	}
	if !f.TakenAt.IsZero() {
		r.Summary.TakenAt = &f.TakenAt
	}
	judge.finish(r, f)
	return r, nil
}

// comparer compares one cell.
type comparer struct {
	cell    *CellView
	rules   []*Rule
	judge   *judge
	since   []*Fleet
	taken   time.Time
	streams []*Declaration
	durable []*Declaration
	// liveOnly: there are no declarations at all, so what is live is judged by
	// itself, and nothing is "not declared".
	liveOnly bool

	// scratch holds the canonical forms of the consumer at hand. Entries keep values
	// of their fields, never the forms.
	scratch [6]broker.ConsumerConfig

	version   string                          // of the cell's broker
	after     map[string]*broker.StreamConfig // of the declared streams
	mentioned map[string]bool                 // streams that a declaration names
	declared  map[string]map[string]bool      // consumers declared, by stream
}

func (c *comparer) add(d *Declaration) {
	if d.Consumer == "" {
		c.streams = append(c.streams, d)
	} else {
		c.durable = append(c.durable, d)
	}
}

// twice finds two declarations of one thing.
func (c *comparer) twice() error {
	seen := map[string]*Declaration{}
	for _, d := range slices.Concat(c.streams, c.durable) {
		first, ok := seen[d.Name()]
		if ok {
			return &DuplicateError{Name: d.Name(), First: first.Position, Second: d.Position}
		}
		seen[d.Name()] = d
	}
	return nil
}

// A DuplicateError says that two declarations are for the same thing.
type DuplicateError struct {
	Name          string
	First, Second Position
}

// Error implements error.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%s%s is declared twice, first at %s", e.Second.prefix(), e.Name, cmp.Or(e.First.String(), "another place"))
}

// String writes the position as file:line:col, "" for the zero Position.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

func (p Position) prefix() string {
	if s := p.String(); s != "" {
		return s + ": "
	}
	return ""
}

func (c *comparer) run(r *Report) {
	c.index()
	c.tellMissing(r)
	firstStream, firstConsumer := len(r.Streams), len(r.Consumers)
	r.Consumers = slices.Grow(r.Consumers, len(c.durable))
	for _, d := range c.streams {
		r.Streams = append(r.Streams, c.stream(d))
	}
	for _, d := range c.durable {
		r.Consumers = append(r.Consumers, c.consumer(d))
	}
	for _, s := range c.cell.Streams {
		if e, ok := c.undeclaredStream(s); ok {
			r.Streams = append(r.Streams, e)
		}
		r.Consumers = c.undeclared(r.Consumers, s)
	}
	order := func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Consumer, b.Consumer))
	}
	slices.SortStableFunc(r.Streams[firstStream:], order)
	slices.SortStableFunc(r.Consumers[firstConsumer:], order)
}

func (c *comparer) index() {
	c.version, c.after = c.cell.Broker.Version.String(), map[string]*broker.StreamConfig{}
	c.mentioned, c.declared = map[string]bool{}, map[string]map[string]bool{}
	if c.liveOnly {
		for _, s := range c.cell.Streams {
			c.mentioned[s.Name] = true
		}
	}
	for _, d := range c.streams {
		c.mentioned[d.Stream] = true
	}
	for _, d := range c.durable {
		c.mentioned[d.Stream] = true
		if c.declared[d.Stream] == nil {
			c.declared[d.Stream] = map[string]bool{}
		}
		c.declared[d.Stream][d.Consumer] = true
	}
}

// tellMissing passes on what the cell did not let be seen.
func (c *comparer) tellMissing(r *Report) {
	for _, m := range c.cell.Missing {
		r.Unknown = append(r.Unknown, Unknown{Cell: c.cell.Name, Stream: m.Stream, Reason: m.What + ": " + m.Reason})
	}
	if !c.cell.Complete && len(c.cell.Missing) == 0 {
		r.Unknown = append(r.Unknown, Unknown{Cell: c.cell.Name, Reason: "the snapshot says that it is not complete"})
	}
}

// hides says whether a stream, or a consumer of it, may exist though the
// snapshot lacks it. It can not where it was asked for by name.
func (m *Missing) hides(stream, consumer string) bool {
	switch m.Stream {
	case "":
		return m.What != theAccount && !slices.Contains(m.Asked, stream)
	case stream:
		return consumer == "" || !slices.Contains(m.Asked, consumer)
	}
	return false
}

// unseen says why something that the snapshot lacks may exist all the same, or
// "".
func (c *comparer) unseen(stream, consumer string) string {
	for _, m := range c.cell.Missing {
		if m.hides(stream, consumer) {
			return m.What + " could not be read: " + m.Reason
		}
	}
	if !c.cell.Complete && len(c.cell.Missing) == 0 {
		return "the snapshot says that it is not complete"
	}
	return ""
}

func (c *comparer) entry(d *Declaration) Entry {
	pos := d.Position
	e := Entry{
		Cell: c.cell.Name, Stream: d.Stream, Consumer: d.Consumer, BrokerVersion: c.version,
		Writer: cmp.Or(d.Writer, Replace), Because: d.Because, Fields: []Field{}, Findings: []Finding{},
	}
	if pos != (Position{}) {
		e.Position = &pos
	}
	return e
}

// describe writes a result into its entry. UserOnly takes the server's own
// metadata out of a copy of what would be stored. False: nobody knows what would
// become of the fields.
func describe[C any](e *Entry, res *broker.Result[C], userOnly func(*C), fields func() []Field) bool {
	e.Outcome, e.Error, e.Reason = res.Outcome, res.Error, res.Reason
	if e.Outcome == broker.Unknown {
		return false
	}
	if e.Outcome != broker.Reject && res.Stored != nil {
		after := *res.Stored
		userOnly(&after)
		e.After = &after
	}
	if all := fields(); all != nil {
		e.Fields = all
	}
	return true
}
