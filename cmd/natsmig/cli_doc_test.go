package main

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const manual = "../../docs/cli.md"

// TestManual holds docs/cli.md against the grammar: the tables of flags are
// written from it with UPDATE=1, and a verb or flag that is not in the page is an
// error. What stands around the tables is written by hand.
func TestManual(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	want := string(page)
	for _, block := range blocks(t) {
		want = replaceBlock(t, want, block.name, block.text)
	}
	if want == string(page) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s is not what the grammar says: UPDATE=1 go test ./cmd/natsmig rewrites it", manual)
	}
	if err := os.WriteFile(manual, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A block is a part of the page that is written from the grammar.
type block struct{ name, text string }

func grammar(t *testing.T) *kong.Application {
	t.Helper()
	k, err := kong.New(&commandLine{}, kong.Vars{"statuses": ""})
	if err != nil {
		t.Fatal(err)
	}
	return k.Model
}

func blocks(t *testing.T) []block {
	t.Helper()
	var all []block
	verbs := "| verb | what it does |\n|---|---|\n"
	connections := ""
	for _, verb := range leaves(grammar(t).Node) {
		name := verb.Path()
		verbs += fmt.Sprintf("| [`%s`](#%s) | %s |\n", name, strings.ReplaceAll(name, " ", "-"), verb.Help)
		own, common := flagTables(verb)
		all = append(all, block{name, own})
		if common == "" {
			continue
		}
		if connections != "" && common != connections {
			t.Errorf("%s has other connection flags than the verbs before it", verb.Name)
		}
		connections = common
	}
	return append(all, block{"verbs", verbs}, block{"connection", connections})
}

// leaves are the verbs that do something: some stand below another.
func leaves(n *kong.Node) []*kong.Node {
	var all []*kong.Node
	for _, child := range n.Children {
		if len(child.Children) == 0 {
			all = append(all, child)
		}
		all = append(all, leaves(child)...)
	}
	return all
}

// flagTables writes the flags of a verb, those of the connection apart.
func flagTables(verb *kong.Node) (own, connection string) {
	for _, arg := range verb.Positional {
		own += row("`"+strings.ToUpper(arg.Name)+"`", arg.Help)
	}
	for _, f := range verb.Flags {
		switch {
		case f.Name == "help" || f.Hidden:
		case f.Group != nil && f.Group.Key == "Connection":
			connection += row(flagName(f), f.Help)
		default:
			own += row(flagName(f), f.Help)
		}
	}
	const head = "| flag | meaning |\n|---|---|\n"
	if connection != "" {
		connection = head + connection
	}
	if own == "" {
		return "No flags of its own.\n", connection
	}
	return head + own, connection
}

func row(name, help string) string {
	return fmt.Sprintf("| %s | %s |\n", name, strings.ReplaceAll(help, "|", `\|`))
}

func flagName(f *kong.Flag) string {
	name := "--" + f.Name
	if !f.IsBool() {
		name += " " + f.FormatPlaceHolder()
	}
	if f.Short != 0 {
		name = fmt.Sprintf("-%c, %s", f.Short, name)
	}
	return "`" + name + "`"
}

// replaceBlock puts text between the marks of a block, which must be there.
func replaceBlock(t *testing.T, page, name, text string) string {
	t.Helper()
	start, end := fmt.Sprintf("<!-- %s: from the grammar -->\n", name), "<!-- end -->"
	before, rest, ok := strings.Cut(page, start)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for %s: it wants the lines %q and %q", manual, name, strings.TrimSpace(start), end)
	}
	return before + start + text + end + after
}

// TestManualSaysNothingElse finds verbs that are gone, and environment variables
// that the page does not tell.
func TestManualSaysNothingElse(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, b := range blocks(t) {
		known = append(known, b.name)
	}
	for _, part := range strings.Split(string(page), "<!-- ")[1:] {
		name, ok := strings.CutSuffix(strings.SplitN(part, " -->", 2)[0], ": from the grammar")
		if ok && !slices.Contains(known, name) {
			t.Errorf("%s has a block of %q, which is not in the grammar", manual, name)
		}
	}
	connections := reflect.TypeFor[connection]()
	for field := range connections.Fields() {
		_, rest, ok := strings.Cut(field.Tag.Get("help"), "(env ")
		if name, _, _ := strings.Cut(rest, ")"); ok && !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("%s does not tell of the environment variable %s", manual, name)
		}
	}
}
