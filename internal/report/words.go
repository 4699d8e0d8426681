package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// count writes a number with its noun: 1 error, 2 errors.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// headline sums r up, without the verdict.
func headline(r *audit.Report) string {
	s := &r.Summary
	var things []string
	if s.Consumers > 0 || s.Streams == 0 {
		things = append(things, count(s.Consumers, "consumer"))
	}
	if s.Streams > 0 {
		things = append(things, count(s.Streams, "stream"))
	}
	line := strings.Join(things, " and ") + " in " + count(s.Cells, "cell")
	if outcomes := outcomeCounts(s); outcomes != "" {
		line += ": " + outcomes
	}
	line += "; " + findingCounts(s.Findings)
	if s.Excused > 0 {
		line += fmt.Sprintf(" (and %d excused)", s.Excused)
	}
	if n := len(r.Unknown); n > 0 {
		line += "; " + count(n, "part") + " could not be checked"
	}
	return line
}

// outcomeCounts lists the outcomes that occur, the gravest first.
func outcomeCounts(s *audit.Summary) string {
	var parts []string
	for _, c := range []struct {
		n    int
		word string
	}{
		{s.Reject, "reject"}, {s.Unknown, "unknown"}, {s.Create, "create"},
		{s.Update, "update"}, {s.Untouched, "untouched"}, {s.Noop, "noop"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	return strings.Join(parts, ", ")
}

func findingCounts(n map[audit.Severity]int) string {
	var parts []string
	if n[audit.Error] > 0 {
		parts = append(parts, count(n[audit.Error], "error"))
	}
	if n[audit.Warning] > 0 {
		parts = append(parts, count(n[audit.Warning], "warning"))
	}
	if n[audit.Info] > 0 {
		parts = append(parts, fmt.Sprintf("%d info", n[audit.Info]))
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}

// cells names the cells of r and the broker versions seen in each.
func cells(r *audit.Report) []string {
	versions := map[string][]string{}
	for _, e := range entries(r) {
		versions[e.Cell] = append(versions[e.Cell], e.BrokerVersion)
	}
	var words []string
	for _, cell := range slices.Sorted(maps.Keys(versions)) {
		slices.Sort(versions[cell])
		words = append(words, strings.Join(versionWords(cell, slices.Compact(versions[cell])), " "))
	}
	return words
}

// versionWords leaves out what is not known: a cell need not have a name, as
// where it is the only one.
func versionWords(cell string, versions []string) []string {
	var words []string
	if cell != "" {
		words = append(words, cell)
	}
	if v := strings.Join(slices.DeleteFunc(versions, func(v string) bool { return v == "" }), ", "); v != "" {
		words = append(words, "nats-server "+v)
	}
	return words
}

// severalCells tells whether an entry needs its cell's name.
func severalCells(r *audit.Report) bool {
	seen := map[string]bool{}
	for _, e := range entries(r) {
		seen[e.Cell] = true
	}
	for _, u := range r.Unknown {
		seen[u.Cell] = true
	}
	return len(seen) > 1
}

// place is a position as file:line:col, with the parts that are known.
func place(p audit.Position) string {
	s := p.File
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
		if p.Col > 0 {
			s += fmt.Sprintf(":%d", p.Col)
		}
	}
	return s
}

// origin is who applies the declaration of e, and where it stands.
func origin(e *audit.Entry) string {
	var words []string
	if e.Writer != "" {
		words = append(words, string(e.Writer))
	}
	if e.Position != nil && place(*e.Position) != "" {
		words = append(words, place(*e.Position))
	}
	if len(words) == 0 {
		return "not declared"
	}
	return strings.Join(words, ", ")
}

// A doubt is something that is not known, and why.
type doubt struct{ subject, reason string }

// doubts lists the parts that could not be checked, then the entries whose
// outcome is unknown, without saying anything twice.
func doubts(r *audit.Report) []doubt {
	several := severalCells(r)
	var ds []doubt
	for _, u := range r.Unknown {
		ds = append(ds, doubt{path(u.Cell, u.Stream, u.Consumer), u.Reason})
	}
	for _, e := range entries(r) {
		if e.Outcome != broker.Unknown || slices.Contains(ds, doubt{path(e.Cell, e.Stream, e.Consumer), e.Reason}) {
			continue
		}
		if several {
			ds = append(ds, doubt{path(e.Cell, e.Stream, e.Consumer), e.Reason})
		} else {
			ds = append(ds, doubt{e.Name(), e.Reason})
		}
	}
	return ds
}

// path joins the parts that are there.
func path(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "/")
}
