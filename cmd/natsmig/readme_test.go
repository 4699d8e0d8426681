package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// shownRun is a command in a document and the block that shows what it prints.
var shownRun = regexp.MustCompile("(?s)<!-- run( 8)?: natsmig (.*?) -->\n```console\n(.*?)```\n")

// TestDocumentsShowWhatIsPrinted runs the commands of the documents, from the
// root of the module. A document may show the first eight lines alone. UPDATE=1
// rewrites the blocks.
func TestDocumentsShowWhatIsPrinted(t *testing.T) {
	t.Chdir("../..")
	shown := 0
	for _, doc := range []string{"README.md", "docs/guide-preflight.md", "docs/guide-rehearse.md", "docs/guide-adopt.md", "docs/guide-timing.md", "docs/declarations.md"} {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		now := shownRun.ReplaceAllStringFunc(string(text), func(block string) string {
			shown++
			m := shownRun.FindStringSubmatch(block)
			var out, errs bytes.Buffer
			run(t.Context(), strings.Fields(m[2]), &out, &errs)
			printed := out.String() + errs.String()
			if m[1] != "" {
				lines := strings.SplitAfter(printed, "\n")
				printed = strings.Join(lines[:min(8, len(lines))], "") + "…\n"
			}
			return "<!-- run" + m[1] + ": natsmig " + m[2] + " -->\n```console\n$ natsmig " + m[2] + "\n" + printed + "```\n"
		})
		if now == string(text) {
			continue
		}
		if os.Getenv("UPDATE") == "" {
			t.Errorf("%s does not show what the command prints; UPDATE=1 rewrites it to\n%s", doc, now)
		} else if err := os.WriteFile(doc, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if shown == 0 {
		t.Error("no document shows a command")
	}
}
