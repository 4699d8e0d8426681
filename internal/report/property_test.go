package report

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/natsmig/natsmig/audit"
)

// TestNothingRaw wants no character in a form for people that does not print,
// whatever the report holds, and ASCII alone where that is promised.
func TestNothingRaw(t *testing.T) {
	s := newSource(t)
	for range 40 {
		r := s.report()
		for _, f := range []Format{Table, ASCII, Markdown} {
			out := written(t, r, Options{Format: f, Width: s.IntN(120), All: s.IntN(2) == 0})
			for _, c := range out {
				if c != '\n' && !strconv.IsPrint(c) || f == ASCII && c > unicode.MaxASCII {
					t.Fatalf("%s holds %q:\n%s", f, c, out)
				}
			}
		}
	}
}

// TestMarkdownHolds wants every row of a table to have as many columns as its
// header, and no more headings and folds than there are entries and groups.
func TestMarkdownHolds(t *testing.T) {
	s := newSource(t)
	for range 40 {
		r := s.report()
		out := written(t, r, Options{Format: Markdown, All: true})
		outside := checkTables(t, withoutFences(out))
		if n := strings.Count("\n"+outside, "\n#"); n != len(r.Consumers) {
			t.Fatalf("%d headings, want %d:\n%s", n, len(r.Consumers), out)
		}
		outside = regexp.MustCompile("`[^`\n]*`").ReplaceAllString(outside, "") // code shows what it holds
		for _, tag := range []string{"<b>", "<details>", "</details>", "&amp;"} {
			if strings.Contains(outside, tag) {
				t.Fatalf("%s got through:\n%s", tag, out)
			}
		}
	}
}

// withoutFences drops fenced code, by the rule that only a fence of the same
// length or longer ends a block.
func withoutFences(md string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(md) {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && len(ticks) >= len(fence) && strings.TrimSpace(line) == ticks:
			fence = ""
		case fence == "":
			b.WriteString(line)
		}
	}
	return b.String()
}

func checkTables(t *testing.T, md string) string {
	t.Helper()
	want := 0
	for line := range strings.Lines(md) {
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			want = 0
			if n > 0 {
				t.Fatalf("a bar outside of a table: %q in\n%s", line, md)
			}
		case want == 0:
			want = n
		case n != want:
			t.Fatalf("%d bars, want %d: %q in\n%s", n, want, line, md)
		}
	}
	return md
}

// TestWidth wants lines within the width, save those that are never wrapped:
// headings, changes and places.
func TestWidth(t *testing.T) {
	r := readFleet(t)
	for width := 72; width <= 200; width++ {
		out := written(t, r, Options{Width: width})
		for line := range strings.Lines(out) {
			line = strings.TrimSuffix(line, "\n")
			whole := strings.Contains(line, " -> ") || strings.HasSuffix(line, ")") || strings.HasPrefix(line, "      at ")
			if columns(line) > width && !whole {
				t.Errorf("width %d: %d columns: %s", width, columns(line), line)
			}
		}
		for _, f := range r.Consumers[5].Fields {
			if !strings.Contains(out, "│ "+f.Name+" ") {
				t.Errorf("width %d: the table lost %s", width, f.Name)
			}
		}
	}
}

// TestChangesCanBeFound wants each change of the fleet on a line of its own, in
// every format for people and at every width.
func TestChangesCanBeFound(t *testing.T) {
	r := readFleet(t)
	for _, o := range []Options{{}, {Width: 20}, {Format: ASCII}, {Format: Markdown}} {
		lines := strings.Split(written(t, r, o), "\n")
		for _, want := range []string{
			"max_ack_pending 65536 -> 1000", "max_deliver 8 -> 7", "not stored: max_waiting 1024 -> 512",
			"backoff [30s 2m 10m 1h 4h 12h 24h] -> [30s 2m 5m 12m 20m]",
			"filter_subjects - -> [hooks.push.> hooks.pull_request.>]",
		} {
			if !containsTrimmed(lines, want) {
				t.Errorf("%+v: no line %q", o, want)
			}
		}
	}
}

func readFleet(t *testing.T) *audit.Report {
	t.Helper()
	ar, err := txtar.ParseFile("testdata/fleet.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return readReport(t, ar.Files[0].Data)
}

func containsTrimmed(lines []string, want string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) == want {
			return true
		}
	}
	return false
}

// TestColorOnlyColors wants the same characters with color and without.
func TestColorOnlyColors(t *testing.T) {
	s := newSource(t)
	sequence := regexp.MustCompile("\x1b\\[[0-9]+m")
	for range 40 {
		r, width := s.report(), s.IntN(120)
		for _, f := range []Format{Table, ASCII, Markdown} {
			plain := written(t, r, Options{Format: f, Width: width})
			colored := written(t, r, Options{Format: f, Width: width, Color: true})
			if diff := cmp.Diff(plain, sequence.ReplaceAllString(colored, "")); diff != "" {
				t.Fatalf("%s (-plain +colored):\n%s", f, diff)
			}
			if f != Markdown && plain == colored {
				t.Fatalf("%s has no color:\n%s", f, plain)
			}
		}
	}
}

// TestWriteOnlyReads wants the report untouched, and the same output twice.
func TestWriteOnlyReads(t *testing.T) {
	s := newSource(t)
	for range 50 {
		r := s.report()
		before, _ := json.Marshal(r)
		for _, f := range Formats() {
			o := Options{Format: f, Width: 80}
			if first, second := written(t, r, o), written(t, r, o); first != second {
				t.Errorf("%s differs:\n%s\n%s", f, first, second)
			}
		}
		if after, _ := json.Marshal(r); string(after) != string(before) {
			t.Errorf("before %s\nafter %s", before, after)
		}
	}
}
