package report

import (
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter/renderer"

	"github.com/natsmig/natsmig/audit"
)

// A comment is a Markdown report in the making. GitHub shows it in a pull
// request: the table of entries first, then one section for each, and what has
// nothing to say behind a fold.
type comment struct {
	strings.Builder
	all     bool
	several bool // more than one cell
}

func writeMarkdown(r *audit.Report, o Options) (string, error) {
	c := &comment{all: o.All, several: severalCells(r)}
	var loud, quiet []*audit.Entry
	for _, e := range entries(r) {
		if o.All || speaks(e) {
			loud = append(loud, e)
		} else {
			quiet = append(quiet, e)
		}
	}
	c.head(r)
	if err := c.overview(loud); err != nil {
		return "", err
	}
	for _, e := range loud {
		if err := c.entry(e); err != nil {
			return "", fmt.Errorf("entry %s: %w", e.Name(), err)
		}
	}
	c.folded(fold(quiet, c.several))
	c.tool(r.Tool)
	return c.String(), nil
}

// tool tells what is to be said about the audit itself.
func (c *comment) tool(fs []audit.Finding) {
	if len(fs) > 0 {
		c.WriteString("\nAbout this audit:\n\n")
	}
	for i := range fs {
		c.finding(&fs[i], nil)
	}
}

// head tells the verdict, what could not be checked, and of what.
func (c *comment) head(r *audit.Report) {
	fmt.Fprintf(c, "**%s** %s\n", inline(strings.ToUpper(string(r.Verdict))), inline(headline(r)))
	for i, d := range doubts(r) {
		if i == 0 {
			c.WriteString("\nUnknown:\n\n")
		}
		fmt.Fprintf(c, "- %s: %s\n", code(d.subject), plain(d.reason))
	}
	var facts []string
	if cs := cells(r); len(cs) > 0 {
		facts = append(facts, "Cells: "+inline(strings.Join(cs, ", ")))
	}
	if at := r.Summary.TakenAt; at != nil {
		facts = append(facts, "snapshot of "+at.UTC().Format("2006-01-02T15:04:05Z"))
	}
	if len(facts) > 0 {
		fmt.Fprintf(c, "\n%s.\n", strings.Join(facts, "; "))
	}
}

// overview is one row for each entry that speaks.
func (c *comment) overview(loud []*audit.Entry) error {
	rows := make([][]string, len(loud))
	for i, e := range loud {
		rows[i] = []string{c.name(e), inline(string(e.Outcome)), inline(string(e.Writer)), counted(e)}
	}
	return c.table([]string{"entry", "outcome", "writer", "findings"}, rows)
}

// table writes nothing where there are no rows.
func (c *comment) table(header []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	table, err := draw(renderer.NewMarkdown(), header, rows)
	c.WriteString("\n" + table)
	return err
}

func (c *comment) name(e *audit.Entry) string {
	if c.several && e.Cell != "" {
		return code(e.Cell) + " " + code(e.Name())
	}
	return code(e.Name())
}

// folded lists the entries that have nothing to say.
func (c *comment) folded(groups []group) {
	for _, g := range groups {
		fmt.Fprintf(c, "\n<details>\n<summary>%s</summary>\n\n", inline(g.title()))
		for _, name := range g.names {
			fmt.Fprintf(c, "- %s\n", code(name))
		}
		c.WriteString("\n</details>\n")
	}
}
