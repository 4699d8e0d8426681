package report

import (
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit"
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
		{s.Reject, "reject"},
		{s.Unknown, "unknown"},
		{s.Create, "create"},
		{s.Update, "update"},
		{s.Untouched, "untouched"},
		{s.Noop, "noop"},
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
