package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/natsmig/natsmig/audit"
)

// TestGolden writes the report of every archive under testdata in the forms that
// its other sections name. UPDATE=1 rewrites those sections.
//
// A section's name is the format, followed by what is not zero in the options:
// table.80.color.all, for example. Escape bytes are kept as ␛.
func TestGolden(t *testing.T) {
	goldenArchives(t, "testdata/*.txtar", func(t *testing.T, data []byte, o Options) string {
		t.Helper()
		return written(t, readReport(t, data), o)
	})
}

// goldenArchives compares what write makes of each archive's first section.
func goldenArchives(t *testing.T, pattern string, write func(*testing.T, []byte, Options) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no test archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(ar.Files) < 2 {
				t.Fatal("want a report and at least one form of it")
			}
			for i := range ar.Files[1:] {
				want := &ar.Files[i+1]
				checkForm(t, want, write(t, ar.Files[0].Data, optionsOf(t, want.Name)))
			}
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(file, txtar.Format(ar), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func readReport(t *testing.T, data []byte) *audit.Report {
	t.Helper()
	var r audit.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func checkForm(t *testing.T, want *txtar.File, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, "\x1b", "␛")
	if os.Getenv("UPDATE") != "" {
		want.Data = []byte(got)
	}
	if diff := cmp.Diff(string(want.Data), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", want.Name, diff)
	}
}

func optionsOf(t *testing.T, name string) Options {
	t.Helper()
	words := strings.Split(name, ".")
	o := Options{Format: Format(words[0]), Color: slices.Contains(words, "color"), All: slices.Contains(words, "all")}
	for _, word := range words {
		if n, err := strconv.Atoi(word); err == nil {
			o.Width = n
		}
	}
	return o
}

func written(t *testing.T, r *audit.Report, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, r, o); err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return b.String()
}
