package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// WriteRehearsal writes r to w. It fails on a format that is not in [Formats],
// on a config that is not JSON, and when w does.
func WriteRehearsal(w io.Writer, r *audit.Rehearsal, o Options) error {
	out, err := renderRehearsal(r, o)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, out); err != nil {
		return fmt.Errorf("write rehearsal: %w", err)
	}
	return nil
}

func renderRehearsal(r *audit.Rehearsal, o Options) (string, error) {
	switch o.Format {
	case Table, "":
		return rehearsalText(r, style{color: o.Color, width: o.Width})
	case ASCII:
		return rehearsalText(r, style{color: o.Color, width: o.Width, ascii: true})
	case Markdown:
		return rehearsalMarkdown(r)
	case JSON:
		return indented(r)
	default:
		return "", fmt.Errorf("unknown format %q: want %s", o.Format, oneOf(Formats()))
	}
}

// bugAppeal is what stands above the evidence of a difference.
const bugAppeal = "Model and broker differ: that is a bug in natsmig. Please report it at https://github.com/natsmig/natsmig/issues/new " +
	"with the JSON that follows. It holds configurations as they are, so look at it before you post it."

// maxEvidence is how many differences are shown with all that belongs to them: it
// is long, and one bug is most often behind them all.
const maxEvidence = 1

// rehearsalHeadline sums r up, without the verdict.
func rehearsalHeadline(r *audit.Rehearsal) string {
	s := r.Summary
	if s.Entries == 0 {
		return "nothing is declared that could be rehearsed"
	}
	line := count(s.Entries, "declaration") + " rehearsed on nats-server " + r.BrokerVersion + ": "
	switch {
	case s.Agree == s.Entries && s.Entries == 1:
		return line + "the model agrees"
	case s.Agree == s.Entries:
		return line + "the model agrees on all of them"
	}
	switch {
	case s.Differ > 0:
		line += fmt.Sprintf("the model differs on %d and agrees on %d", s.Differ, s.Agree)
	default:
		line += fmt.Sprintf("the model agrees on %d", s.Agree)
	}
	if s.Skipped > 0 {
		line += fmt.Sprintf("; %d skipped", s.Skipped)
	}
	return line
}

// rehearsedCells tells each cell, and what it was rebuilt on.
func rehearsedCells(r *audit.Rehearsal) []string {
	var all []string
	for _, c := range r.Cells {
		words := strings.Join(versionWords(c.Cell, []string{c.BrokerVersion}), " ")
		all = append(all, words+" (rebuilt on "+count(c.Servers, "server")+")")
	}
	return all
}

// A remark is something that is true of several entries.
type remark struct {
	text  string
	names []string
}

// maxNames is how many names stand before a remark.
const maxNames = 4

// some names the entries, or the first of them and how many more there are.
func (m *remark) some(write func(string) string) string {
	var names []string
	for _, n := range m.names[:min(len(m.names), maxNames)] {
		names = append(names, write(n))
	}
	text := strings.Join(names, ", ")
	if more := len(m.names) - maxNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (m *remark) String() string {
	if len(m.names) == 0 {
		return m.text
	}
	return m.some(func(n string) string { return n }) + ": " + m.text
}

// remarks are the notes on cells, then those on entries, each once.
func remarks(r *audit.Rehearsal) []*remark {
	var all []*remark
	for _, c := range r.Cells {
		for _, n := range c.Notes {
			all = append(all, &remark{text: path(c.Cell) + ": " + n})
		}
	}
	return append(all, gathered(r, func(e *audit.Rehearsed) []string { return e.Notes })...)
}

// skips are the reasons for which entries were skipped.
func skips(r *audit.Rehearsal) []*remark {
	return gathered(r, func(e *audit.Rehearsed) []string {
		if e.Skipped == "" {
			return nil
		}
		return []string{e.Skipped}
	})
}

// gathered lists what texts says of the entries, each text once with all names.
func gathered(r *audit.Rehearsal, texts func(*audit.Rehearsed) []string) []*remark {
	at := map[string]*remark{}
	var all []*remark
	for i := range r.Entries {
		e := &r.Entries[i]
		for _, text := range texts(e) {
			m := at[text]
			if m == nil {
				m = &remark{text: text}
				at[text] = m
				all = append(all, m)
			}
			m.names = append(m.names, rehearsedName(r, e))
		}
	}
	return all
}

func rehearsedName(r *audit.Rehearsal, e *audit.Rehearsed) string {
	if len(r.Cells) > 1 {
		return path(e.Cell, e.Name())
	}
	return e.Name()
}

// effects tell what was done to stand-in messages.
func effects(r *audit.Rehearsal) []string {
	var all []string
	for i := range r.Entries {
		e := &r.Entries[i]
		for _, x := range e.Effects {
			all = append(all, fmt.Sprintf("%s: %s: model %d, broker %d, of %s", rehearsedName(r, e), x.Name, x.Model, x.Broker, count(int(x.Of), "stand-in")))
		}
	}
	return all
}

var differenceHeader = []string{"entry", "field", "model", "broker", "writer"}

// differenceRows is one row for each point in which an entry differs.
func differenceRows(r *audit.Rehearsal) [][]string {
	var rows [][]string
	for i := range r.Entries {
		e := &r.Entries[i]
		for _, d := range e.Differences {
			kind := d.Kind
			if kind == "" {
				kind = kindOf(d.Field)
			}
			rows = append(rows, []string{rehearsedName(r, e), d.Field, Value(kind, d.Model), Value(kind, d.Broker), string(e.Writer)})
		}
	}
	return rows
}

// agreed groups the entries on which model and broker agree, by the outcome.
func agreed(r *audit.Rehearsal) []group {
	var f folding
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Agrees && e.Broker != nil {
			f.add(sharedBy(e.Consumer, e.Cell, len(r.Cells) > 1, answered(e.Broker)), e.Name())
		}
	}
	return f.groups
}

// answered is an answer in a few words.
func answered(a *audit.Answer) string {
	what := string(a.Outcome)
	if a.Outcome == broker.Reject && a.Error != nil {
		what += ", " + a.Error.Error()
	}
	if a.Client != "" {
		what += ", and the client refuses: " + a.Client
	}
	return what
}

// evidence is the JSON of the first differences, and how many there are beside
// them.
func evidence(r *audit.Rehearsal) (texts []string, more int, err error) {
	for i := range r.Entries {
		e := r.Entries[i].Evidence
		switch {
		case e == nil:
		case len(texts) == maxEvidence:
			more++
		default:
			text, err := indented(e)
			if err != nil {
				return nil, 0, err
			}
			texts = append(texts, text)
		}
	}
	return texts, more, nil
}
