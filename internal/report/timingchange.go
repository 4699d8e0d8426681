package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/renderer"

	"github.com/natsmig/natsmig/timingcontract"
)

// A TimingChange is the timing of one consumer before and after.
type TimingChange struct {
	Cell     string      `json:"cell,omitempty"`
	Stream   string      `json:"stream"`
	Consumer string      `json:"consumer"`
	Changed  bool        `json:"changed"`
	Before   *Timing     `json:"before"` // null: there was none
	After    *Timing     `json:"after"`  // null: there will be none, see reason
	Reason   string      `json:"reason,omitempty"`
	Rows     []TimingRow `json:"rows"`
}

// A TimingRow is one figure before and after. "–" is none.
type TimingRow struct {
	Name    string `json:"name"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Changed bool   `json:"changed"`
}

// work compares the two sides.
func (c *TimingChange) work() {
	c.Rows = []TimingRow{}
	c.Changed = (c.Before == nil) != (c.After == nil)
	if c.Before == nil || c.After == nil {
		return
	}
	cmp := timingcontract.Compare(c.Before.contract, c.After.contract)
	c.Changed = cmp.Changed()
	for _, r := range cmp.Rows {
		c.Rows = append(c.Rows, TimingRow(r))
	}
}

// Name is what a person calls the consumer.
func (c *TimingChange) Name() string {
	t := Timing{Cell: c.Cell, Stream: c.Stream, Consumer: c.Consumer}
	return t.Name()
}

// WriteTimingChanges writes how timings change, those that stay only with all,
// and in JSON. It fails on a format that is not in [TimingFormats].
func WriteTimingChanges(w io.Writer, cs []TimingChange, all bool, o Options) error {
	cs = append([]TimingChange{}, cs...)
	var shown []*TimingChange
	for i := range cs {
		cs[i].work()
		if all || cs[i].Changed {
			shown = append(shown, &cs[i])
		}
	}
	return writeTiming(w, o, timingWriter{
		json: struct {
			Schema      string         `json:"schema"`
			Comparisons []TimingChange `json:"comparisons"`
		}{TimingSchema, cs},
		text:     func(s style) (string, error) { return changesText(shown, len(cs)-len(shown), s) },
		markdown: func() (string, error) { return changesMarkdown(shown, len(cs)-len(shown)) },
		svg:      func() string { return timingSVG(sides(shown)) },
	})
}

// sides are the timings to draw: before above after.
func sides(cs []*TimingChange) []Timing {
	var out []Timing
	for _, c := range cs {
		for _, side := range []struct {
			word string
			t    *Timing
		}{{"before", c.Before}, {"after", c.After}} {
			if side.t != nil {
				t := *side.t
				t.Consumer += " " + side.word
				out = append(out, t)
			}
		}
	}
	return out
}

func changesText(cs []*TimingChange, same int, s style) (string, error) {
	p := &page{style: s}
	for i, c := range cs {
		if i > 0 {
			p.WriteByte('\n')
		}
		if err := p.change(c); err != nil {
			return "", fmt.Errorf("consumer %s: %w", c.Name(), err)
		}
	}
	p.WriteString(p.text(sameText(same, len(cs) > 0)))
	return p.String(), nil
}

// sameText counts the consumers that are not shown.
func sameText(n int, others bool) string {
	if n == 0 {
		return ""
	}
	space := ""
	if others {
		space = "\n"
	}
	return space + "the timing of " + count(n, "consumer") + " stays\n"
}

func (p *page) change(c *TimingChange) error {
	p.WriteString(p.paint(bold, p.text(c.Name())) + "\n")
	for _, side := range []struct {
		word string
		t    *Timing
	}{{"before", c.Before}, {"after", c.After}} {
		if side.t == nil {
			p.wrapped("  "+side.word+"  ", 10, p.text(none(side.word, c.Reason)))
			continue
		}
		p.wrapped("  "+side.word+"  ", 10, p.text(side.t.headline()))
		if !side.t.Unbounded {
			for _, line := range p.picture(side.t) {
				p.WriteString(strings.TrimRight("  "+line, " ") + "\n")
			}
		}
	}
	if len(c.Rows) == 0 {
		return nil
	}
	var rows [][]string
	for _, r := range c.Rows {
		rows = append(rows, []string{r.Name, r.Before, r.After})
	}
	table, err := p.boxes([]string{"", "before", "after"}, rows, 2)
	if err != nil {
		return err
	}
	for line := range strings.Lines(table) {
		p.WriteString("  " + line)
	}
	return nil
}

func none(side, reason string) string {
	if side == "after" && reason != "" {
		return "none: " + reason
	}
	return "none"
}

func changesMarkdown(cs []*TimingChange, same int) (string, error) {
	var b strings.Builder
	for _, c := range cs {
		fmt.Fprintf(&b, "### %s\n\n", code(c.Name()))
		p := &page{style: style{width: markdownWidth}}
		for _, side := range []struct {
			word string
			t    *Timing
		}{{"before", c.Before}, {"after", c.After}} {
			if side.t == nil {
				fmt.Fprintf(&b, "**%s** %s\n\n", side.word, plain(none(side.word, c.Reason)))
				continue
			}
			fmt.Fprintf(&b, "**%s** %s\n\n", side.word, inline(side.t.headline()))
			if !side.t.Unbounded {
				b.WriteString(fenced(p.picture(side.t)) + "\n")
			}
		}
		var rows [][]string
		for _, r := range c.Rows {
			row := []string{inline(r.Name), inline(r.Before), inline(r.After)}
			if r.Changed {
				row[2] = "**" + row[2] + "**"
			}
			rows = append(rows, row)
		}
		if len(rows) == 0 {
			continue
		}
		table, err := draw(renderer.NewMarkdown(), []string{"", "before", "after"}, rows)
		if err != nil {
			return "", err
		}
		b.WriteString(table + "\n")
	}
	b.WriteString(strings.TrimPrefix(sameText(same, false), "\n"))
	return strings.TrimRight(b.String(), "\n") + "\n", nil
}
