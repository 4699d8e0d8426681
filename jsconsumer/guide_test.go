package jsconsumer_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// quoted is a block of a document that shows declarations of a file: the file, and
// their names.
var quoted = regexp.MustCompile("(?s)<!-- code: (\\S+) ([^\n]*?) -->\n```go\n(.*?)```\n")

// TestGuidesQuoteWhatRuns holds the Go of the guides against the sources that the
// tests compile and run. UPDATE=1 rewrites the blocks.
func TestGuidesQuoteWhatRuns(t *testing.T) {
	t.Chdir("..")
	shown := 0
	for _, doc := range []string{"docs/guide-from-legacy.md"} {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		now := quoted.ReplaceAllStringFunc(string(text), func(block string) string {
			shown++
			m := quoted.FindStringSubmatch(block)
			return "<!-- code: " + m[1] + " " + m[2] + " -->\n```go\n" + declarations(t, m[1], strings.Fields(m[2])) + "```\n"
		})
		if strings.Count(now, "```go\n") != len(quoted.FindAllString(now, -1)) {
			t.Errorf("%s has Go that is quoted from nowhere", doc)
		}
		if now == string(text) {
			continue
		}
		if os.Getenv("UPDATE") == "" {
			t.Errorf("%s does not show what the sources say; UPDATE=1 rewrites it to\n%s", doc, now)
		} else if err := os.WriteFile(doc, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if shown == 0 {
		t.Error("no guide quotes a source")
	}
}

// declarations are the functions of a file that have the names, as they stand there.
func declarations(t *testing.T, file string, names []string) string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, name := range names {
		i := slices.IndexFunc(parsed.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && f.Name.Name == name
		})
		if i < 0 {
			t.Fatalf("%s has no function %s", file, name)
		}
		f := parsed.Decls[i].(*ast.FuncDecl)
		from := f.Pos()
		if f.Doc != nil {
			from = f.Doc.Pos()
		}
		parts = append(parts, string(source[set.Position(from).Offset:set.Position(f.End()).Offset])+"\n")
	}
	return strings.Join(parts, "\n")
}
