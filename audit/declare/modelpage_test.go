package declare_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const modelPage = "../../docs/broker-model.md"

// TestModelPage keeps docs/broker-model.md to what the model answers. UPDATE=1
// rewrites it.
func TestModelPage(t *testing.T) {
	got := modelPageText(t)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(modelPage, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(modelPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is stale, UPDATE=1 rewrites it (-want +got):\n%s", modelPage, diff)
	}
}

func modelPageText(t *testing.T) string {
	t.Helper()
	b := &strings.Builder{}
	b.WriteString("# x\n")
	writeOmitted(t, b, "Consumers", false)
	writeOmitted(t, b, "Streams", true)
	writeUnknown(t, b)
	b.WriteString("\n")
	writeUnread(t, b)
	for _, f := range questionFiles {
		b.WriteString("\n\n"+f.name+"\n\n")
		if strings.Contains(f.name, "defaults") {
		writeDefaults(t, b, f.name, f.stream)
		} else if !strings.Contains(f.name, "fields") {
		writeRefusals(t, b, f.name, f.stream)
		}
	}
	b.WriteString("\n\ncluster\n\n")
	writeClustered(t, b)
	return b.String()
}

// writeOmitted writes what becomes of each field that is left out.
func writeOmitted(t *testing.T, b *strings.Builder, title string, stream bool) {
	t.Helper()
	all, by := omissions(t, stream), appliers(t, stream)
	fmt.Fprintf(b, "\n### %s\n\n", title)
	table(b, "field", "known", "live value", "left out with `replace`", "left out with NACK")
	for i := range all {
		o := &all[i]
		row(b, code(o.Field)+o.companions(), o.since(), code(o.live(t)), cell(o.ask(t, by[0])), cell(o.ask(t, by[1])))
	}
	b.WriteString("\n")
	for _, a := range by[2:] {
		writeUniform(t, b, all, a)
	}
}

// writeUniform writes a writer that does the same to nearly every field.
func writeUniform(t *testing.T, b *strings.Builder, all []omission, by applier) {
	t.Helper()
	count := map[string]int{}
	says := make([]string, len(all))
	for i := range all {
		says[i] = cell(all[i].ask(t, by))
		count[says[i]]++
	}
	usual := says[0]
	for s, n := range count {
		if n > count[usual] || n == count[usual] && s < usual {
			usual = s
		}
	}
	fmt.Fprintf(b, "With `%s`: %s", by.name, usual)
	var others []string
	for i := range all {
		if says[i] != usual {
			others = append(others, fmt.Sprintf("%s %s", code(all[i].Field), says[i]))
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(b, "; but %s", strings.Join(slices.Compact(others), "; "))
	}
	b.WriteString(".\n\n")
}

func table(b *strings.Builder, heads ...string) {
	row(b, heads...)
	row(b, slices.Repeat([]string{"---"}, len(heads))...)
}

func row(b *strings.Builder, cells ...string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}
