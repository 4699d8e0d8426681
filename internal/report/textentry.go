package report

import (
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit"
)

const indent = "  "

// entry writes a heading and, indented, what there is to say about e.
func (p *page) entry(e *audit.Entry) error {
	p.WriteByte('\n')
	p.heading(e)
	p.answer(e)
	for _, c := range changes(e, p.all, p.gap()) {
		p.WriteString(indent + changePrefix(e) + p.text(c.String()) + "\n") // never wrapped: it is searched for
	}
	if err := p.fields(e); err != nil {
		return err
	}
	if d := defaults(e, p.all); d != "" {
		p.wrapped(indent+"the server fills in ", 4, p.text(d))
	}
	p.envelope(e.Envelope)
	for _, field := range reasons(e, p.all) {
		p.prose(indent+"because "+p.text(field)+": ", 4, e.Because[field])
	}
	for i := range e.Findings {
		p.finding(&e.Findings[i], e.Position)
	}
	return nil
}

func (p *page) heading(e *audit.Entry) {
	words := []string{p.paint(bold, p.text(e.Name())), p.paint(outcomePaint(e.Outcome), p.text(string(e.Outcome))), "(" + p.text(origin(e)) + ")"}
	if e.Outcome == "" {
		words = append(words[:1], words[2])
	}
	if p.several {
		words = append([]string{p.text(e.Cell)}, words...)
	}
	p.WriteString(strings.Join(words, "  ") + "\n")
}

// answer tells what the broker says to the request, or why that is not known.
func (p *page) answer(e *audit.Entry) {
	if e.Error != nil {
		p.prose(indent+p.paint(red, "refused:")+" ", 6, refusal(e))
	}
	if e.Reason != "" {
		p.prose(indent+p.paint(yellow, "unknown:")+" ", 6, e.Reason)
	}
}

// fields draws the table of fields, and under it what is to be noted.
func (p *page) fields(e *audit.Entry) error {
	fs := telling(e, p.all)
	if len(fs) == 0 {
		return nil
	}
	rows := make([][]string, len(fs))
	for i := range fs {
		rows[i] = p.fieldRow(e, &fs[i])
	}
	table, err := p.boxes([]string{"field", "live", "declared", "after", "class"}, rows, len(indent))
	if err != nil {
		return err
	}
	for line := range strings.Lines(table) {
		p.WriteString(indent + line)
	}
	for _, f := range fs {
		if f.Note != "" {
			p.prose(indent+"note "+p.text(f.Name)+": ", 4, f.Note)
		}
	}
	return nil
}

func (p *page) fieldRow(e *audit.Entry, f *audit.Field) []string {
	row := append([]string{f.Name}, fieldValues(e, f)...)
	for i := range row {
		row[i] = p.text(row[i])
	}
	return append(row, p.paint(classPaint(f.Class), p.text(string(f.Class))))
}

func (p *page) envelope(c *audit.EnvelopeChange) {
	prefix := "envelope  "
	for _, line := range envelopeLines(c) {
		p.WriteString(indent + prefix + p.text(line) + "\n")
		prefix = strings.Repeat(" ", len(prefix))
	}
}

// finding writes severity, code, field and message, then the fix and the place
// on lines of their own. A place that the heading has told is not told again.
func (p *page) finding(f *audit.Finding, told *audit.Position) {
	const hang = 6
	prefix := fmt.Sprintf("%s %s ", p.paint(severityPaint(f.Severity), p.text(string(f.Severity))), p.text(f.Code))
	if f.Excused != "" {
		prefix = p.paint(dim, "excused "+p.text(string(f.Severity)+" "+f.Code)) + " "
	}
	p.prose(indent+prefix, hang, sentence(f))
	more := strings.Repeat(" ", hang)
	if v := expectation(f); v != "" {
		p.prose(more, hang, v)
	}
	if f.Excused != "" {
		p.prose(more, hang+2, "excused: "+f.Excused)
	} else if f.Fix != "" {
		p.prose(more+p.paint(green, "fix:")+" ", hang+5, f.Fix)
	}
	if at := place(f.Position); at != "" && (told == nil || *told != f.Position) {
		p.WriteString(more + p.paint(dim, "at "+p.text(at)) + "\n")
	}
}
