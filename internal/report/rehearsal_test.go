package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/natsmig/natsmig/audit"
)

// TestGoldenRehearsals writes the rehearsals under testdata/rehearsals as
// [TestGolden] does reports.
func TestGoldenRehearsals(t *testing.T) {
	files, err := filepath.Glob("testdata/rehearsals/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := readRehearsal(t, ar.Files[0].Data)
			for i := range ar.Files[1:] {
				want := &ar.Files[i+1]
				got := strings.ReplaceAll(rehearsalWritten(t, r, optionsOf(t, want.Name)), "\x1b", "␛")
				if os.Getenv("UPDATE") != "" {
					want.Data = []byte(got)
				}
				if diff := cmp.Diff(string(want.Data), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", want.Name, diff)
				}
			}
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(file, txtar.Format(ar), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
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
