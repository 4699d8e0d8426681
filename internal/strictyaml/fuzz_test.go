package strictyaml_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/natsmig/natsmig/internal/strictyaml"
)

// FuzzParse looks for panics, for places outside the file, and for duplicate
// keys that are not told.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a: 1\nb: [x, {c: d}]\n", "a: &x {k: v}\nb: {<<: *x}\n", "a: &a [*a, *a]\n", "\ufeffa: 1\r\nb: 2\r\n",
		`{"a": [1, -2.5e3, "ä", null, true], "b": {"c": "d"}}`, "{a: 1, a: 2}", "? [a]\n: b\n", "a: !!binary aGk=\n",
		"a: |\n  x\n  y\nb: >-\n  z\n", "--- a\n--- b\n...\n", "a: {{ .x }}\n", "%YAML 1.1\n---\na: 1\n", "a: 1\u0085b: 2\u2028c: 3\n",
		"a: !!int x\n", "a: !!float 'y'\n", "'a\\u0000b': 1\n", "{\"a\":1}\n{\"a\":2}\n", "<<: x\n", "- - - a\n", "[[[[[[", "a: \"\\uD800\"\n",
	} {
		f.Add("f.yaml", []byte(seed))
		f.Add("f.json", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if len(data) > 1<<16 {
			t.Skip("large files only take long")
		}
		docs, err := strictyaml.Parse(name, data)
		if err != nil {
			for _, e := range unwrap(err) {
				inside(t, data, e.Line, e.Col, "mistake "+e.Msg)
			}
			return
		}
		if len(docs) == 0 {
			t.Error("no documents and no mistake")
		}
		for _, n := range docs {
			check(t, data, n)
		}
	})
}

// unwrap lists the mistakes of an error.
func unwrap(err error) []*strictyaml.PosError {
	switch e := err.(type) { //nolint:errorlint // the very types that Parse returns
	case *strictyaml.PosError:
		return []*strictyaml.PosError{e}
	case interface{ Unwrap() []error }:
		var all []*strictyaml.PosError
		for _, one := range e.Unwrap() {
			all = append(all, unwrap(one)...)
		}
		return all
	}
	return nil
}

func check(t *testing.T, data []byte, n *strictyaml.Node) {
	inside(t, data, n.Line, n.Col, "node "+n.Value)
	if n.Line == 0 {
		t.Errorf("node %q without a place", n.Value)
	}
	seen := map[string]bool{}
	for _, p := range n.Pairs {
		inside(t, data, p.Line, p.Col, "key "+p.Key)
		if seen[p.Key] {
			t.Errorf("key %q is in the tree twice", p.Key)
		}
		seen[p.Key] = true
		check(t, data, p.Value)
	}
	for _, item := range n.Items {
		check(t, data, item)
	}
}

// breaks are what YAML takes for the end of a line.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// inside wants a place that the file has. Line 0 is the file as a whole; the end
// of a line, and the line after the last, count as inside.
func inside(t *testing.T, data []byte, line, col int, what string) {
	t.Helper()
	if line == 0 && col == 0 {
		return
	}
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	if !within(breaks.Replace(text), line, col) && !within(text, line, col) { // JSON knows newlines only
		t.Errorf("%s at %d:%d: not in the file", what, line, col)
	}
}

func within(text string, line, col int) bool {
	lines := strings.Split(text, "\n")
	switch {
	case line < 1 || line > len(lines)+1 || col < 1:
		return false
	case line > len(lines) || !utf8.ValidString(text):
		return true
	}
	return col <= utf8.RuneCountInString(lines[line-1])+1
}
