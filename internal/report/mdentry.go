package report

import (
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit"
)

// entry writes the section of e.
func (c *comment) entry(e *audit.Entry) error {
	fmt.Fprintf(c, "\n#### %s %s\n\n(%s)\n", c.name(e), inline(string(e.Outcome)), inline(origin(e)))
	if e.Error != nil {
		fmt.Fprintf(c, "\n**Refused:** %s\n", plain(refusal(e)))
	}
	if e.Reason != "" {
		fmt.Fprintf(c, "\n**Unknown:** %s\n", plain(e.Reason))
	}
	c.moves(e)
	if err := c.table(c.fields(e)); err != nil {
		return err
	}
	if d := defaults(e, c.all); d != "" {
		fmt.Fprintf(c, "\nThe server fills in %s.\n", plain(d))
	}
	if len(e.Findings) > 0 || len(reasons(e, c.all)) > 0 {
		c.WriteByte('\n')
	}
	for i := range e.Findings {
		c.finding(&e.Findings[i], e.Position)
	}
	for _, field := range reasons(e, c.all) {
		fmt.Fprintf(c, "- because %s: %s\n", code(field), plain(e.Because[field]))
	}
	return nil
}

// moves is what changes, as lines that can be searched for and copied.
func (c *comment) moves(e *audit.Entry) {
	var lines []string
	for _, ch := range changes(e, c.all, "…") {
		lines = append(lines, clean(changePrefix(e)+ch.String(), false))
	}
	for _, line := range envelopeLines(e.Envelope) {
		lines = append(lines, clean("envelope: "+line, false))
	}
	if len(lines) > 0 {
		c.WriteString("\n" + fenced(lines))
	}
}

func (c *comment) fields(e *audit.Entry) (header []string, rows [][]string) {
	fs := telling(e, c.all)
	for i := range fs {
		f := &fs[i]
		row := []string{code(f.Name)}
		for _, v := range fieldValues(e, f) {
			row = append(row, valueCode(v))
		}
		rows = append(rows, append(row, inline(string(f.Class)), plain(f.Note)))
	}
	return []string{"field", "live", "declared", "after", "class", "note"}, rows
}

// valueCode writes a value as code, and one that is not there without.
func valueCode(v string) string {
	if v == absent || v == uncertain {
		return v
	}
	return code(shorten(v, "…", maxValue))
}

// finding writes one item of a list. Its further lines belong to the item.
func (c *comment) finding(f *audit.Finding, told *audit.Position) {
	lines := []string{fmt.Sprintf("- **%s** %s %s", inline(string(f.Severity)), inline(f.Code), plain(sentence(f)))}
	if v := expectation(f); v != "" {
		lines = append(lines, inline(v))
	}
	switch {
	case f.Excused != "":
		lines = append(lines, "excused: "+plain(f.Excused))
	case f.Fix != "":
		lines = append(lines, "fix: "+plain(f.Fix))
	}
	if at := place(f.Position); at != "" && (told == nil || *told != f.Position) {
		lines = append(lines, code(at))
	}
	c.WriteString(strings.Join(lines, "<br>\n  ") + "\n")
}

// counted counts the findings of e that are not excused.
func counted(e *audit.Entry) string {
	n := map[audit.Severity]int{}
	for _, f := range e.Findings {
		if f.Excused == "" {
			n[f.Severity]++
		}
	}
	if len(n) == 0 {
		return "-"
	}
	return findingCounts(n)
}
