package report

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/natsmig/natsmig/audit"
)

// TestGoldenRehearsals writes the rehearsals under testdata/rehearsals as
// [TestGolden] does reports.
func TestGoldenRehearsals(t *testing.T) {
	goldenArchives(t, "testdata/rehearsals/*.txtar", func(t *testing.T, data []byte, o Options) string {
		t.Helper()
		return rehearsalWritten(t, readRehearsal(t, data), o)
	})
}

// readRehearsal reads one, and counts it.
func readRehearsal(t *testing.T, data []byte) *audit.Rehearsal {
	t.Helper()
	var r audit.Rehearsal
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	r.Finish()
	return &r
}

func rehearsalWritten(t *testing.T, r *audit.Rehearsal, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := WriteRehearsal(&b, r, o); err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return b.String()
}

// TestRehearsalHoldsNothingRaw has names and words that want to act on the
// reader's terminal, or to break out of their place.
func TestRehearsalHoldsNothingRaw(t *testing.T) {
	evil := "a\x1b[31m|b`<b>\u202e@all\nä"
	r := &audit.Rehearsal{
		BrokerVersion: evil, Cells: []audit.RehearsedCell{{Cell: evil, BrokerVersion: evil, Servers: 1, Notes: []string{evil}}},
		Entries: []audit.Rehearsed{
			{
				Stream: evil, Writer: audit.Writer(evil), Notes: []string{evil}, Effects: []audit.Effect{{Name: evil}},
				Differences: []audit.Difference{{Field: evil, Model: evil, Broker: map[string]any{evil: evil}}},
				Evidence:    &audit.Evidence{Stream: map[string]any{evil: evil}, Request: json.RawMessage(`{"a":"` + "\u202e```" + `"}`)},
			},
			{Stream: evil, Consumer: evil, Skipped: evil},
			{Stream: evil, Consumer: evil, Agrees: true, Broker: &audit.Answer{Outcome: "reject", Client: evil}},
		},
	}
	r.Finish()
	for _, f := range []Format{Table, ASCII, Markdown} {
		out := rehearsalWritten(t, r, Options{Format: f, Width: 80})
		for _, c := range out {
			if c != '\n' && !strconv.IsPrint(c) || f == ASCII && c > unicode.MaxASCII {
				t.Fatalf("%s holds %q:\n%s", f, c, out)
			}
		}
		if f != Markdown {
			continue
		}
		outside := checkTables(t, withoutFences(out))
		if strings.Contains(outside, "<b>") || strings.Contains(outside, "@all") && !strings.Contains(outside, "@<!-- -->all") {
			t.Errorf("markup got through:\n%s", outside)
		}
	}
}
