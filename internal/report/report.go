package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/natsmig/natsmig/audit"
)

// A Format is a form that a report can be written in. Its values are the words
// that the --output flag takes.
type Format string

// The formats.
const (
	Table    Format = "table"    // for a terminal: box-drawing characters
	ASCII    Format = "ascii"    // the same, for logs
	Markdown Format = "markdown" // for a pull request: GitHub's flavor
	JSON     Format = "json"     // for programs: natsmig.report.v1
)

// Formats lists the formats.
func Formats() []Format { return []Format{Table, ASCII, Markdown, JSON} }

// Options say how to write. The zero Options write a table, as wide as it
// comes, without color, and fold what has nothing to say.
type Options struct {
	Format Format // empty: Table
	Color  bool   // of table and ascii only
	Width  int    // columns of the terminal, for table and ascii; 0: unlimited
	All    bool   // also spell out the entries and fields with nothing to say
}

// Write writes r to w. It fails on a format that is not in [Formats], on an
// Entry.After that is not JSON (in the JSON format), and when w does.
func Write(w io.Writer, r *audit.Report, o Options) error {
	out, err := render(r, o)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, out); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func render(r *audit.Report, o Options) (string, error) {
	switch o.Format {
	case Table, "":
		return writeText(r, o, style{color: o.Color, width: o.Width})
	case ASCII:
		return writeText(r, o, style{color: o.Color, width: o.Width, ascii: true})
	case Markdown:
		return writeMarkdown(r, o)
	case JSON:
		return writeJSON(r)
	default:
		return "", fmt.Errorf("unknown format %q: want %s", o.Format, oneOf(Formats()))
	}
}

// oneOf spells a choice: a, b or c.
func oneOf(formats []Format) string {
	words := make([]string, len(formats))
	for i, f := range formats {
		words[i] = string(f)
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
