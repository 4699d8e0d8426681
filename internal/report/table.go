package report

import (
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

const (
	maxValue  = 60 // characters of a value in a table, whatever the width
	minColumn = 8  // columns that a table leaves to a value
	maxLines  = 3  // lines of a value in a narrow column
)

// draw lays out cells, which are clean already, as a table. Every setting turns
// something off: tablewriter by itself upper-cases headers, trims, and wraps.
func draw(r tw.Renderer, header []string, rows [][]string) (string, error) {
	var b strings.Builder
	t := tablewriter.NewTable(&b,
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithRenderer(r),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithTrimLine(tw.Off),
	)
	t.Header(header)
	for _, row := range rows {
		if err := t.Append(row); err != nil {
			return "", fmt.Errorf("draw row %q: %w", row[0], err)
		}
	}
	if err := t.Render(); err != nil {
		return "", fmt.Errorf("draw table: %w", err)
	}
	return b.String(), nil
}

// boxes draws the table of the text formats. The first and the last column keep
// their width, and what is between them shares the rest of s.width.
func (s style) boxes(header []string, rows [][]string, indent int) (string, error) {
	limit := s.columnLimit(header, rows, indent)
	for _, row := range rows {
		for i := 1; i < len(row)-1; i++ {
			row[i] = s.narrow(row[i], limit)
		}
	}
	symbols := tw.NewSymbols(tw.StyleLight)
	if s.ascii {
		symbols = tw.NewSymbols(tw.StyleASCII)
	}
	return draw(renderer.NewBlueprint(tw.Rendition{Symbols: symbols}), header, rows)
}

// columnLimit is the largest width of the columns between the first and the
// last with which the table fits.
func (s style) columnLimit(header []string, rows [][]string, indent int) int {
	if s.width <= 0 {
		return maxValue
	}
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	last := len(widths) - 1
	room := s.width - indent - widths[0] - widths[last] - 3*len(widths) - 1
	for limit := maxValue; limit > minColumn; limit-- {
		need := 0
		for _, w := range widths[1:last] {
			need += min(w, limit)
		}
		if need <= room {
			return limit
		}
	}
	return minColumn
}

// narrow breaks a value at its spaces into at most maxLines lines of limit
// columns, and cuts the middle out of a word, or of it all, that is too long.
func (s style) narrow(v string, limit int) string {
	words := strings.Split(v, " ")
	for i := range words {
		words[i] = s.fit(words[i], limit)
	}
	lines := breakWords(strings.Join(words, " "), limit, 0)
	if len(lines) > maxLines {
		return s.fit(v, limit)
	}
	return strings.Join(lines, "\n")
}

// fit shortens v until it takes at most limit columns. Some characters take two.
func (s style) fit(v string, limit int) string {
	short := v
	for n := limit; columns(short) > limit && n > 0; n-- {
		short = shorten(v, s.gap(), n)
	}
	return short
}
