package report

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/tools/txtar"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// nasty is what text from outside is made of in these tests.
var nasty = []string{
	"|", `\`, "`", "```", "\n", "\r\n", "\x1b[2J", "\x1b]0;t\x07", "\u0085", "\x7f", "\xff", "\u202e", "\u200d", "\u2028",
	"<b>", "</details>", "<!--", "&amp;", "*", "_", "[x](y)", "@team", "#12", "#### ", "- ", "~~~", "$", " ", "\t", "a", "é", "日本", "🙂",
}

// A source makes random reports of nasty text.
type source struct{ *rand.Rand }

func newSource(t *testing.T) source {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if v := os.Getenv("SEED"); v != "" {
		seed, _ = strconv.ParseUint(v, 10, 64)
	}
	t.Logf("SEED=%d", seed)
	return source{rand.New(rand.NewPCG(seed, 0))}
}

func (s source) text() string {
	var b strings.Builder
	for range s.IntN(6) {
		b.WriteString(nasty[s.IntN(len(nasty))])
	}
	return b.String()
}

func (s source) value() any {
	return []any{nil, s.text(), s.IntN(1e9), []any{s.text(), s.IntN(9)}, map[string]any{s.text(): s.text()}}[s.IntN(5)]
}

func (s source) entry() audit.Entry {
	e := audit.Entry{
		Cell: s.text(), Stream: s.text(), Consumer: s.text(), BrokerVersion: s.text(), Writer: audit.Writer(s.text()),
		Outcome: []broker.Outcome{broker.Update, broker.Reject, broker.Unknown, broker.Noop}[s.IntN(4)], Reason: s.text(),
		Error:    &broker.APIError{Description: s.text()},
		Position: &audit.Position{File: s.text(), Line: 1},
		Envelope: &audit.EnvelopeChange{After: &audit.EnvelopeView{LastAttempt: s.text(), Capture: s.text()}},
		Because:  map[string]string{"a": s.text()},
	}
	for range s.IntN(4) {
		e.Fields = append(e.Fields, audit.Field{Name: s.text() + "a", Have: s.value(), Declared: s.value(), After: s.value(), Class: audit.Class(s.text()), Note: s.text()})
	}
	for range s.IntN(3) {
		e.Findings = append(e.Findings, audit.Finding{Code: s.text(), Severity: audit.Severity(s.text()), Field: "a", Message: s.text(), Fix: s.text(), Have: s.value(), Excused: s.text()})
	}
	return e
}

func (s source) report() *audit.Report {
	r := &audit.Report{Verdict: audit.Verdict(s.text()), Unknown: []audit.Unknown{{Cell: s.text(), Reason: s.text()}}}
	for range 1 + s.IntN(4) {
		r.Consumers = append(r.Consumers, s.entry())
	}
	return r
}

// TestNothingRaw wants no character in a form for people that does not print,
// whatever the report holds, and ASCII alone where that is promised.
func TestNothingRaw(t *testing.T) {
	s := newSource(t)
	for range 300 {
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
	for range 300 {
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
	ar, err := txtar.ParseFile("testdata/fleet.txtar")
	if err != nil {
		t.Fatal(err)
	}
	r := readReport(t, ar.Files[0].Data)
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
	ar, err := txtar.ParseFile("testdata/fleet.txtar")
	if err != nil {
		t.Fatal(err)
	}
	r := readReport(t, ar.Files[0].Data)
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

func containsTrimmed(lines []string, want string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) == want {
			return true
		}
	}
	return false
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
