package declare_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/declare"
)

// An applier is who applies a declaration that leaves a field out: a writer, and
// what the tool behind it adds.
type applier struct {
	name   string
	writer audit.Writer
	nack   *audit.Declaration // nil: any other tool; otherwise a resource without settings
}

// appliers are the writers, and NACK, which merges in a way of its own.
func appliers(t *testing.T, stream bool) []applier {
	t.Helper()
	kind, spec := "Consumer", "{streamName: S, durableName: c}"
	if stream {
		kind, spec = "Stream", "{name: S}"
	}
	text := fmt.Sprintf("apiVersion: jetstream.nats.io/v1beta2\nkind: %s\nmetadata: {name: x}\nspec: %s\n", kind, spec)
	set, err := declare.Read("nack.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return []applier{
		{"replace", audit.Replace, nil},
		{"NACK", audit.Merge, set.Declarations[0]},
		{"merge", audit.Merge, nil},
		{"bind", audit.Bind, nil},
		{"create", audit.Create, nil},
	}
}

// declaration is the declaration of d as the applier would read it.
func (a *applier) declaration(t *testing.T, d doc, stream bool) *audit.Declaration {
	t.Helper()
	if a.nack != nil {
		d = a.presets(t, stream).with(d)
	}
	var made *audit.Declaration
	var err error
	if stream {
		made, err = audit.DeclareStream(d.raw())
	} else {
		made, err = audit.DeclareConsumer("S", d.raw())
	}
	if err != nil {
		t.Fatal(err)
	}
	made.Writer = a.writer
	if a.nack != nil {
		made.Origin, made.Always = audit.FromNACK, a.nack.Always
	}
	return made
}

// presets are what NACK's resource definition fills in.
func (a *applier) presets(t *testing.T, stream bool) doc {
	t.Helper()
	var all doc
	if stream {
		decode(t, toJSON(t, &a.nack.StreamRequest.Config), &all)
	} else {
		decode(t, toJSON(t, &a.nack.Request.Config), &all)
	}
	some := doc{}
	for _, n := range a.nack.Notes {
		some[n.Field] = all[n.Field]
	}
	return some
}

// An omission is a field that the request leaves out of what is live.
type omission struct {
	question
	stream bool
}

func omissions(t *testing.T, stream bool) []omission {
	t.Helper()
	name := "consumer-fields.jsonl"
	if stream {
		name = "stream-fields.jsonl"
	}
	var all []omission
	for _, q := range questions(t, name) {
		q.Ask = doc{q.Field: json.RawMessage("null")}
		all = append(all, omission{q, stream})
	}
	return all
}

// entry is what an audit says of the omission on a line; nil where the line does
// not know the field, or can not hold what should be live.
func (o *omission) entry(t *testing.T, v broker.Version, by applier) *audit.Entry {
	t.Helper()
	snapshot := audit.Stream{}
	if o.stream {
		a := o.question.stream(v)
		if a == nil {
			return nil
		}
		snapshot.Config = toJSON(t, a.live)
		for _, s := range a.siblings {
			snapshot.Consumers = append(snapshot.Consumers, info(t, s.Name, s.Config))
		}
	} else {
		a := o.consumer(v)
		if a == nil {
			return nil
		}
		snapshot.Config = toJSON(t, o.host(v).Config)
		snapshot.Consumers = []audit.Consumer{info(t, "c", a.live)}
	}
	cell := audit.Cell{Name: "x", BrokerVersion: v.String(), Complete: true, Streams: []audit.Stream{snapshot}}
	if o.Clustered {
		cell.Cluster = "C1"
	}
	base := plainConsumer
	if o.stream {
		base = plainStream
	}
	d := by.declaration(t, o.over(base, o.Ask), o.stream)
	r := compare(t, index(t, &audit.Snapshot{Cells: []audit.Cell{cell}}), []*audit.Declaration{d}, audit.Options{})
	if o.stream {
		return &r.Streams[0]
	}
	return &r.Consumers[0]
}

func info(t *testing.T, name string, config any) audit.Consumer {
	t.Helper()
	return audit.NewConsumer(toJSON(t, map[string]any{"stream_name": "S", "name": name, "config": config}))
}

// live is the telling value, as the newest line that knows it holds it.
func (o *omission) live(t *testing.T) string {
	t.Helper()
	v := broker.Newest
	if o.stream {
		return showField(broker.StreamFields(), o.Field, o.question.stream(v).live)
	}
	return showField(broker.ConsumerFields(), o.Field, o.consumer(v).live)
}

func showField[C any](fields []broker.Field[C], name string, c *C) string {
	i := slices.IndexFunc(fields, func(f broker.Field[C]) bool { return f.Name == name })
	return audit.Show(fields[i].Get(c))
}

// A change is a field that differs before and after.
type change struct {
	name        string
	have, after any
}

func changes[C any](fields []broker.Field[C], was, is *C) []change {
	var all []change
	for i := range fields {
		if f := &fields[i]; !f.Same(was, is) {
			all = append(all, change{f.Name, f.Get(was), f.Get(is)})
		}
	}
	return all
}

// becomes says in a few words what the request comes to.
func becomes(refused *broker.APIError, field string, all []change) string {
	if refused != nil {
		return fmt.Sprintf("refused %d", refused.ErrCode)
	}
	own, others := "stays", []string(nil)
	for _, c := range all {
		if c.name == field {
			own = "→ " + value(c.have, c.after)
		} else {
			others = append(others, code(c.name)+" → "+value(c.have, c.after))
		}
	}
	return strings.Join(append([]string{own}, others...), ", ")
}

// entryBecomes says what an audit's entry comes to.
func entryBecomes(e *audit.Entry, field string) string {
	if e.Outcome == broker.Unknown {
		return "not known: " + e.Reason
	}
	var all []change
	for _, f := range e.Fields {
		if !reflect.DeepEqual(f.Have, f.After) {
			all = append(all, change{f.Name, f.Have, f.After})
		}
	}
	return becomes(e.Error, field, all)
}

// value shows what a field has come to. What a broker does not write is false,
// zero or nothing, whatever it was before.
func value(have, after any) string {
	if after != nil {
		return code(audit.Show(after))
	}
	if v := reflect.ValueOf(have); v.Kind() == reflect.Bool || v.CanInt() || v.CanUint() {
		return code(audit.Show(reflect.Zero(v.Type()).Interface()))
	}
	return "removed"
}

func code(s string) string { return "`" + strings.ReplaceAll(s, "|", `\|`) + "`" }

// byLine is what some lines say, one after the other.
type byLine struct {
	minors []int
	says   string
}

// onLines groups what the lines say, lines that can not answer left out.
func onLines(ask func(broker.Version) string) []byLine {
	var all []byLine
	for _, v := range broker.Lines() {
		says := ask(v)
		if says == "" {
			continue
		}
		if n := len(all); n > 0 && all[n-1].says == says {
			all[n-1].minors = append(all[n-1].minors, v.Minor)
		} else {
			all = append(all, byLine{[]int{v.Minor}, says})
		}
	}
	return all
}

// cell writes the answers for a table, without the lines where all say the same.
func cell(all []byLine) string {
	if len(all) == 1 {
		return all[0].says
	}
	var parts []string
	for _, l := range all {
		parts = append(parts, span(l.minors)+": "+l.says)
	}
	return strings.Join(parts, "<br>")
}

// span writes lines that follow each other.
func span(minors []int) string {
	lines := broker.Lines()
	first, last := minors[0], minors[len(minors)-1]
	switch newest := lines[len(lines)-1].Minor; {
	case len(minors) == len(lines):
		return "all"
	case first == last:
		return fmt.Sprintf("2.%d", first)
	case last == newest:
		return fmt.Sprintf("2.%d+", first)
	}
	return fmt.Sprintf("2.%d–2.%d", first, last)
}

// ask is the omission's answer by line. NACK's resource has to have durableName.
func (o *omission) ask(t *testing.T, by applier) []byLine {
	t.Helper()
	if by.nack != nil && o.Field == "durable_name" {
		return []byLine{{says: "–"}}
	}
	return onLines(func(v broker.Version) string {
		if e := o.entry(t, v, by); e != nil {
			return entryBecomes(e, o.Field)
		}
		return ""
	})
}

// since is the line that first knew the field.
func (o *omission) since() string {
	if o.stream {
		return sinceOf(broker.StreamFields(), o.Field)
	}
	return sinceOf(broker.ConsumerFields(), o.Field)
}

func sinceOf[C any](fields []broker.Field[C], name string) string {
	i := slices.IndexFunc(fields, func(f broker.Field[C]) bool { return f.Name == name })
	if fields[i].Since == 0 {
		return "all"
	}
	return fmt.Sprintf("2.%d+", fields[i].Since)
}

// companions says what else the broker or the situation has that decides.
func (o *omission) companions() string {
	switch {
	case o.Clustered && o.Stream != nil:
		return " (R3 stream)"
	case len(o.Others) > 0:
		return " (with consumers)"
	}
	return ""
}
