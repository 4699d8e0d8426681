package report

import (
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit"
)

func rehearsalText(r *audit.Rehearsal, s style) (string, error) {
	p := &page{style: s}
	verdict := strings.ToUpper(p.text(string(r.Verdict)))
	p.wrapped(p.paint(verdictPaint(r.Verdict), verdict)+"  ", columns(verdict)+2, p.text(rehearsalHeadline(r)))
	for _, m := range skips(r) {
		p.line(yellow, "skipped", m.String())
	}
	p.line("", "cells", strings.Join(rehearsedCells(r), ", "))
	for _, m := range remarks(r) {
		p.line(dim, "note", m.String())
	}
	for _, x := range effects(r) {
		p.line("", "effect", x)
	}
	if err := p.differences(r); err != nil {
		return "", err
	}
	p.folded(agreed(r))
	err := p.appeal(r)
	return p.String(), err
}

// line writes text behind a word.
func (p *page) line(c paint, word, text string) {
	p.prose(p.paint(c, word)+"  ", columns(word)+2, text)
}

func (p *page) differences(r *audit.Rehearsal) error {
	rows := differenceRows(r)
	if len(rows) == 0 {
		return nil
	}
	for _, row := range rows {
		for i := range row {
			row[i] = p.text(row[i])
		}
	}
	table, err := p.boxes(differenceHeader, rows, 0)
	p.WriteString("\n" + table)
	return err
}

// appeal asks for a bug report, and gives what belongs into it.
func (p *page) appeal(r *audit.Rehearsal) error {
	texts, more, err := evidence(r)
	if err != nil || len(texts) == 0 {
		return err
	}
	p.WriteByte('\n')
	p.wrapped(p.paint(red, "bug")+"  ", 5, bugAppeal)
	for _, text := range texts {
		p.WriteByte('\n')
		for line := range strings.Lines(text) {
			p.WriteString(p.text(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	if more > 0 {
		fmt.Fprintf(p, "\nand %d more: -o json has them\n", more)
	}
	return nil
}
