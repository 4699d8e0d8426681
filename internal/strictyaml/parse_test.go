package strictyaml_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/internal/strictyaml"
)

// outline writes a tree on one line: members with the place of their key, and
// values with theirs.
func outline(n *strictyaml.Node) string {
	at := fmt.Sprintf("@%d:%d", n.Line, n.Col)
	switch n.Kind {
	case strictyaml.Mapping:
		parts := make([]string, len(n.Pairs))
		for i, p := range n.Pairs {
			parts[i] = fmt.Sprintf("%s@%d:%d: %s", p.Key, p.Line, p.Col, outline(p.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}" + at
	case strictyaml.List:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			parts[i] = outline(item)
		}
		return "[" + strings.Join(parts, ", ") + "]" + at
	case strictyaml.String:
		return fmt.Sprintf("%q%s", n.Value, at)
	case strictyaml.Int, strictyaml.Float, strictyaml.Bool, strictyaml.Null:
	}
	return fmt.Sprintf("%s(%s)%s", n.Kind, n.Value, at)
}

func outlines(docs []*strictyaml.Node) string {
	lines := make([]string, len(docs))
	for i, n := range docs {
		lines[i] = outline(n)
	}
	return strings.Join(lines, "\n")
}

func TestParse(t *testing.T) {
	for _, tc := range []struct{ name, file, in, want string }{
		{"places", "f.yaml", "a: 1\nb:\n- x\n- {c: d}\n", `{a@1:1: a whole number(1)@1:4, b@2:1: ["x"@3:3, {c@4:4: "d"@4:7}@4:3]@3:1}@1:1`},
		{"columns count characters", "f.yaml", "ä: {ö: ü}\n", `{ä@1:1: {ö@1:5: "ü"@1:8}@1:4}@1:1`},
		{"documents, and empty ones", "f.yaml", "---\na: 1\n---\n---\n# nothing\n---\nb: 2\n", "{a@2:1: a whole number(1)@2:4}@2:1\n{b@7:1: a whole number(2)@7:4}@7:1"},
		{"alias", "f.yaml", "a: &x {k: v}\nb: *x\n", `{a@1:1: {k@1:8: "v"@1:11}@1:4, b@2:1: {k@1:8: "v"@1:11}@1:4}@1:1`},
		{"merge key", "f.yaml", "a: &x {k: v, l: w}\nb:\n  <<: *x\n  l: own\n", `{a@1:1: {k@1:8: "v"@1:11, l@1:14: "w"@1:17}@1:4, b@2:1: {l@4:3: "own"@4:6, k@1:8: "v"@1:11}@3:3}@1:1`},
		{"merge list, the first wins", "f.yaml", "a: &x {k: 1}\nb: &y {k: 2, l: 3}\nc: {<<: [*x, *y]}\n", `{a@1:1: {k@1:8: a whole number(1)@1:11}@1:4, b@2:1: {k@2:8: a whole number(2)@2:11, l@2:14: a whole number(3)@2:17}@2:4, c@3:1: {k@1:8: a whole number(1)@1:11, l@2:14: a whole number(3)@2:17}@3:4}@1:1`},
		{"YAML 1.1 booleans are text", "f.yaml", "[yes, No, on, OFF, y, true, False]", `["yes"@1:2, "No"@1:7, "on"@1:11, "OFF"@1:15, "y"@1:20, true or false(true)@1:23, true or false(False)@1:29]@1:1`},
		{"numbers", "f.yaml", "[1, 0x1f, 1_000, 1.5, 1e3, .inf, '1', 30s]", `[a whole number(1)@1:2, a whole number(0x1f)@1:5, a whole number(1_000)@1:11, a number(1.5)@1:18, a number(1e3)@1:23, a number(.inf)@1:28, "1"@1:34, "30s"@1:39]@1:1`},
		{"nothing", "f.yaml", "a:\nb: ~\nc: null\nd: ''\n", `{a@1:1: nothing()@1:3, b@2:1: nothing(~)@2:4, c@3:1: nothing(null)@3:4, d@4:1: ""@4:4}@1:1`},
		{"times are text", "f.yaml", "a: 2025-06-01\n", `{a@1:1: "2025-06-01"@1:4}@1:1`},
		{"byte order mark", "f.yaml", "\ufeffa: 1\n", `{a@1:1: a whole number(1)@1:4}@1:1`},
		{"byte order mark before JSON", "f.json", "\ufeff{\"a\": 1}", `{a@1:2: a whole number(1)@1:7}@1:1`},
		{"CRLF", "f.yaml", "a: x\r\nb:\r\n- y\r\n", `{a@1:1: "x"@1:4, b@2:1: ["y"@3:3]@3:1}@1:1`},
		{"JSON", "f.json", "{\n\t\"a\": [1, -2.5, \"ä\", {\"b\": null}],\n\t\"c\": true\n}\n", `{a@2:2: [a whole number(1)@2:8, a number(-2.5)@2:11, "ä"@2:17, {b@2:23: nothing()@2:28}@2:22]@2:7, c@3:2: true or false(true)@3:7}@1:1`},
		{"flow style that begins like JSON", "f.yaml", "{a: 1, 'b': [x]}", `{a@1:2: a whole number(1)@1:5, b@1:8: ["x"@1:14]@1:13}@1:1`},
		{"tabs after content", "f.yaml", "a:\tx\nb: 1\t# c\n", `{a@1:1: "x"@1:4, b@2:1: a whole number(1)@2:4}@1:1`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, err := strictyaml.Parse(tc.file, []byte(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, outlines(docs)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseMistakes(t *testing.T) {
	for _, tc := range []struct{ name, file, in, want string }{
		{"empty", "f.yaml", " \n\t\n", "f.yaml: the file is empty"},
		{"only a mark", "f.yaml", "\ufeff", "f.yaml: the file is empty"},
		{"only comments", "f.yaml", "# a\n---\n# b\n", "f.yaml: the file has no document"},
		{"only nulls", "f.yaml", "---\n~\n---\nnull\n", "f.yaml: the file has no document"},
		{"binary", "f.yaml", "a\x00b", "f.yaml: a binary file, not YAML or JSON"},
		{"broken UTF-8", "f.yaml", "a: 1\nä: \xff\n", "f.yaml:2:4: not valid UTF-8"},
		{"broken UTF-8 behind a mark", "f.yaml", "\ufeffa: \xff\n", "f.yaml:1:4: not valid UTF-8"},
		{"too large", "f.yaml", strings.Repeat("#", strictyaml.MaxSize+1), "f.yaml: the file has 16 MB, declarations are read up to 16 MB"},
		{"every duplicate", "f.yaml", "a: 1\nb: {c: 1, c: 2}\na: 2\na: 3\n", "f.yaml:2:11: b.c: the key is already set on line 2\nf.yaml:3:1: a: the key is already set on line 1\nf.yaml:4:1: a: the key is already set on line 1"},
		{"duplicate in JSON", "f.json", "{\"a\": 1,\n \"a\": 2}", "f.json:2:2: a: the key is already set on line 1"},
		{"duplicate in JSON in a YAML file", "f.yaml", "{\"a\": 1,\n \"a\": 2}", "f.yaml:2:2: a: the key is already set on line 1"},
		{"key that is a list", "f.yaml", "? [a]\n: 1\n", "f.yaml:1:3: a key must be text"},
		{"merge of text", "f.yaml", "a:\n  <<: x\n", "f.yaml:2:7: a: << wants a mapping to merge, have text (\"x\")"},
		{"tab as indentation", "f.yaml", "a:\n\tb: 1\n", "f.yaml:2:2: not YAML: found character that cannot start any token"},
		{"alias of nothing", "f.yaml", "a: *x\n", "f.yaml:1:1: not YAML: unknown anchor 'x' referenced"},
		{"template", "f.yaml", "a: {{ .Values.x }}\n", "f.yaml:1:5: a: a key must be text (an unrendered template? give natsmig what helm template prints)"},
		{"template that is no YAML", "f.yaml", "a: 1\n{{- if .Values.x }}\nb: 2\n{{- end }}\n", "f.yaml:2:1: not YAML: could not find expected ':' (an unrendered template? give natsmig what helm template prints)"},
		{"JSON with a word that is none", "f.json", "{\"a\": [1, 2,\n {\"b\": tru}]}", "f.json:2:11: not JSON: invalid character '}' in literal true (expecting 'e')"},
		{"JSON with a control character", "f.json", "{\"a\": [],\n \"b\": \"\t\"}", "f.json:2:8: not JSON: invalid character '\\t' in string literal"},
		{"JSON that ends early", "f.json", "{\"a\": [1,", "f.json:1:10: not JSON: the file ends in the middle"},
		{"JSON with a comma too many", "f.json", "{\n  \"a\": 1,,\n}", "f.json:2:10: not JSON: invalid character ',' looking for beginning of object key string"},
		{"something behind the JSON", "f.json", "{}\n{}", "f.json:2:1: not JSON: something follows the JSON value"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			docs, err := strictyaml.Parse(tc.file, []byte(tc.in))
			if err == nil {
				t.Fatalf("no error, but %s", outlines(docs))
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestParseBounds has small files that would come to very much.
func TestParseBounds(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", "))
	}
	for _, tc := range []struct{ name, file, in string }{
		{"alias bomb", "f.yaml", bomb},
		{"alias of itself", "f.yaml", "a: &a [*a, *a]\n"},
		{"merge of itself", "f.yaml", "a: &a {<<: *a, b: *a}\n"},
		{"deep YAML", "f.yaml", strings.Repeat("[", 9000) + strings.Repeat("]", 9000)},
		{"deep JSON", "f.json", strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)},
		{"very deep JSON", "f.json", strings.Repeat("[", 1<<20)},
		{"very deep YAML", "f.yaml", strings.Repeat("- ", 1<<18)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			began := time.Now()
			_, err := strictyaml.Parse(tc.file, []byte(tc.in))
			if _, ok := errors.AsType[*strictyaml.PosError](err); !ok {
				t.Fatalf("error %v, want a mistake with its place", err)
			}
			if !strings.Contains(err.Error(), "nested") && !strings.Contains(err.Error(), "depth") && !strings.Contains(err.Error(), "end") {
				t.Errorf("error %v does not tell what is too much", err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
