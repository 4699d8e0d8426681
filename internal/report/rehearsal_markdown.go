package report

import (
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit"
)

func rehearsalMarkdown(r *audit.Rehearsal) (string, error) {
	c := &comment{several: len(r.Cells) > 1}
	fmt.Fprintf(c, "**%s** %s\n", inline(strings.ToUpper(string(r.Verdict))), inline(rehearsalHeadline(r)))
	c.list("Skipped", skips(r))
	fmt.Fprintf(c, "\nCells: %s.\n", inline(strings.Join(rehearsedCells(r), ", ")))
	c.list("Notes", remarks(r))
	for i, x := range effects(r) {
		if i == 0 {
			c.WriteString("\nEffects:\n\n")
		}
		fmt.Fprintf(c, "- %s\n", plain(x))
	}
	rows := differenceRows(r)
	for _, row := range rows {
		row[0], row[1], row[2], row[3], row[4] = code(row[0]), code(row[1]), valueCode(row[2]), valueCode(row[3]), inline(row[4])
	}
	if err := c.table(differenceHeader, rows); err != nil {
		return "", err
	}
	c.folded(agreed(r))
	err := c.appeal(r)
	return c.String(), err
}

// list writes remarks under a title, or nothing.
func (c *comment) list(title string, all []*remark) {
	for i, m := range all {
		if i == 0 {
			fmt.Fprintf(c, "\n%s:\n\n", title)
		}
		line := plain(m.text)
		if len(m.names) > 0 {
			line = m.some(code) + ": " + line
		}
		fmt.Fprintf(c, "- %s\n", line)
	}
}

// appeal asks for a bug report, and gives what belongs into it.
func (c *comment) appeal(r *audit.Rehearsal) error {
	texts, more, err := evidence(r)
	if err != nil || len(texts) == 0 {
		return err
	}
	fmt.Fprintf(c, "\n**Bug:** %s\n", plain(bugAppeal))
	for _, text := range texts {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i := range lines {
			lines[i] = clean(lines[i], false)
		}
		c.WriteString("\n" + fenced(lines))
	}
	if more > 0 {
		fmt.Fprintf(c, "\nAnd %d more: `-o json` has them.\n", more)
	}
	return nil
}
