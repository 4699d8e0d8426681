package declare_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// A refusalRow is one way to be refused, and the lines that refuse so.
type refusalRow struct {
	field, label string
	err          broker.APIError
	minors       []int
}

// refusals asks the questions of a file, and lists what lines refuse in the order
// of the questions, which is the broker's. JSON that a line can not read is left
// to a table of its own.
func refusals(t *testing.T, file string, stream bool) []refusalRow {
	t.Helper()
	var rows []refusalRow
	for _, q := range questions(t, file) {
		for _, v := range broker.Lines() {
			r := q.ask(stream, v)
			if r == nil || r.err == nil || r.err.ErrCode == 10025 {
				continue
			}
			next := refusalRow{r.field, q.Label, *r.err, nil}
			i := slices.IndexFunc(rows, func(o refusalRow) bool { return o.field == next.field && o.label == next.label && o.err == next.err })
			if i < 0 {
				i, rows = len(rows), append(rows, next)
			}
			if !slices.Contains(rows[i].minors, v.Minor) {
				rows[i].minors = append(rows[i].minors, v.Minor)
			}
		}
	}
	return rows
}

func writeRefusals(t *testing.T, b *strings.Builder, file string, stream bool) {
	t.Helper()
	table(b, "field", "err_code", "lines", "the broker says")
	for _, r := range refusals(t, file, stream) {
		field := code(r.field)
		if r.field == "" {
			field = "–"
		}
		if r.label != "" {
			field += "<br>" + r.label
		}
		row(b, field, fmt.Sprintf("%d (%d)", r.err.ErrCode, r.err.Code), spans(r.minors), code(r.err.Description))
	}
}

// spans writes lines, whether they follow each other or not.
func spans(minors []int) string {
	var all []string
	lines := broker.Lines()
	for len(minors) > 0 {
		at := slices.IndexFunc(lines, func(v broker.Version) bool { return v.Minor == minors[0] })
		n := 1
		for n < len(minors) && lines[at+n].Minor == minors[n] {
			n++
		}
		all, minors = append(all, span(minors[:n])), minors[n:]
	}
	return strings.Join(all, ", ")
}

// writeDefaults writes what becomes of a value that a request leaves out, or
// that is out of bounds.
func writeDefaults(t *testing.T, b *strings.Builder, file string, stream bool) {
	t.Helper()
	table(b, "field", "where", "asked for", "stored")
	for _, q := range questions(t, file) {
		stored := onLines(func(v broker.Version) string {
			switch r := q.ask(stream, v); {
			case r == nil || len(r.dropped) > 0 || r.err != nil && r.err.ErrCode == 10025:
				return "" // it takes a field that the line does not know
			case r.err != nil:
				return fmt.Sprintf("refused %d", r.err.ErrCode)
			default:
				return code(r.stored)
			}
		})
		row(b, code(q.Field), q.Label, q.asked(stream), cell(stored))
	}
}

// asked shows the request's value of the question's field.
func (q *question) asked(stream bool) string {
	raw, ok := q.Ask[q.Field]
	if !ok || string(raw) == "null" {
		return "left out"
	}
	var shown string
	if one := (doc{q.Field: raw}); stream {
		shown = showField(broker.StreamFields(), q.Field, &streamRequest(one, "").Config)
	} else {
		shown = showField(broker.ConsumerFields(), q.Field, &consumerRequest(one, "").Config)
	}
	if shown == audit.Show(nil) {
		return code(string(raw))
	}
	return code(shown)
}

// writeUnknown writes, for what some line does not know, what that line does
// with it.
func writeUnknown(t *testing.T, b *strings.Builder) {
	t.Helper()
	lines := broker.Lines()
	heads := []string{"", "known"}
	for _, v := range lines[:len(lines)-1] {
		heads = append(heads, v.Line())
	}
	table(b, heads...)
	for _, stream := range []bool{false, true} {
		for _, o := range omissions(t, stream) {
			if o.since() == "all" {
				continue
			}
			q := o.question
			q.Ask, q.Live = o.Live, nil
			writeUnknownRow(b, &q, code(o.Field), stream)
		}
	}
	for _, file := range []string{"values.jsonl", "parts.jsonl"} {
		for _, q := range questions(t, file) {
			writeUnknownRow(b, &q, code(q.Label), file == "parts.jsonl")
		}
	}
}

func writeUnknownRow(b *strings.Builder, q *question, name string, stream bool) {
	cells := []string{name, ""}
	lines := broker.Lines()
	for _, v := range lines {
		r, says := q.ask(stream, v), "known"
		switch {
		case r.err != nil && r.err.ErrCode == 10025:
			says = "refused 10025"
		case slices.ContainsFunc(r.dropped, func(d string) bool { return d == q.Field || strings.HasPrefix(d, q.Field+".") }):
			says = "dropped"
		case cells[1] == "":
			cells[1] = v.Line() + "+"
		}
		cells = append(cells, says)
	}
	row(b, cells[:len(cells)-1]...)
}

// writeUnread writes how lines answer JSON that no line can read.
func writeUnread(t *testing.T, b *strings.Builder) {
	t.Helper()
	table(b, "request", "answer")
	for _, q := range questions(t, "unread.jsonl") {
		row(b, code(string(q.Ask.raw())), cell(onLines(func(v broker.Version) string {
			if r := q.ask(false, v); r.err != nil {
				return fmt.Sprintf("refused %d, %s", r.err.ErrCode, code(r.err.Description))
			}
			return "dropped"
		})))
	}
}

// writeClustered asks every question of both kinds of server, and writes the
// answers that differ.
func writeClustered(t *testing.T, b *strings.Builder) {
	t.Helper()
	table(b, "request", "standalone", "cluster")
	seen := map[string]bool{}
	for _, file := range questionFiles {
		for _, q := range questions(t, file.name) {
			if q.Ask == nil {
				q.Ask = doc{q.Field: json.RawMessage("null")}
			}
			one := func(clustered bool) string {
				q.Clustered = clustered
				return cell(onLines(func(v broker.Version) string { return q.ask(file.stream, v).brief() }))
			}
			alone, many := one(false), one(true)
			text := q.brief(file.stream)
			if alone != many && alone != "" && many != "" && !seen[text] {
				seen[text] = true
				row(b, text, alone, many)
			}
		}
	}
}

func (r *reply) brief() string {
	switch {
	case r == nil:
		return ""
	case r.err != nil:
		return fmt.Sprintf("refused %d", r.err.ErrCode)
	case r.stored != "":
		return "accepted, " + code(r.stored)
	}
	return "accepted"
}

// brief is the question in a few words: what it is laid over the plain documents.
func (q *question) brief(stream bool) string {
	kind := "consumer "
	if stream {
		kind = "stream "
	}
	text := string(q.Ask.raw())
	if q.Live != nil {
		text = string(q.Live.raw()) + "<br>then " + text
	}
	return kind + code(strings.ReplaceAll(text, "<br>then ", "`<br>then `"))
}

// questionFiles are the files of testdata/model, and whether they are about
// streams.
var questionFiles = []struct {
	name   string
	stream bool
}{
	{"consumer-fields.jsonl", false},
	{"consumer-refusals.jsonl", false},
	{"consumer-creates.jsonl", false},
	{"consumer-updates.jsonl", false},
	{"consumer-defaults.jsonl", false},
	{"stream-fields.jsonl", true},
	{"stream-refusals.jsonl", true},
	{"stream-creates.jsonl", true},
	{"stream-updates.jsonl", true},
	{"stream-defaults.jsonl", true},
}
