package report

import (
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit"
)

// A page is a text report in the making.
type page struct {
	style
	strings.Builder
	all     bool
	several bool // more than one cell
}

func writeText(r *audit.Report, o Options, s style) (string, error) {
	p := &page{style: s, all: o.All, several: severalCells(r)}
	p.head(r)
	var quiet []*audit.Entry
	for _, e := range entries(r) {
		if !o.All && !speaks(e) {
			quiet = append(quiet, e)
			continue
		}
		if err := p.entry(e); err != nil {
			return "", fmt.Errorf("entry %s: %w", e.Name(), err)
		}
	}
	p.folded(fold(quiet, p.several))
	p.tool(r.Tool)
	return p.String(), nil
}

// tool tells what is to be said about the audit itself.
func (p *page) tool(fs []audit.Finding) {
	if len(fs) > 0 {
		p.WriteString("\nabout this audit\n")
	}
	for i := range fs {
		p.finding(&fs[i], nil)
	}
}

// head tells the verdict, what could not be checked, and of what.
func (p *page) head(r *audit.Report) {
	verdict := strings.ToUpper(p.text(string(r.Verdict)))
	p.wrapped(p.paint(verdictPaint(r.Verdict), verdict)+"  ", columns(verdict)+2, headline(r))
	for _, d := range doubts(r) {
		p.wrapped(p.paint(yellow, "unknown")+"  ", 9, p.text(d.subject)+": "+strings.Join(paragraphs(d.reason, p.ascii), " "))
	}
	if cs := cells(r); len(cs) > 0 {
		p.wrapped("cells  ", 7, p.text(strings.Join(cs, ", ")))
	}
	if at := r.Summary.TakenAt; at != nil {
		p.wrapped("snapshot  ", 10, at.UTC().Format("2006-01-02T15:04:05Z"))
	}
}

// folded names the entries that have nothing to say.
func (p *page) folded(groups []group) {
	if len(groups) > 0 {
		p.WriteByte('\n')
	}
	for _, g := range groups {
		p.wrapped("", 2, p.text(g.title())+" ("+p.text(strings.Join(g.names, ", "))+")")
	}
}
