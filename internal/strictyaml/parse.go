package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// MaxSize is the largest file that [Parse] reads, in bytes.
const MaxSize = 16 << 20

// maxNodes bounds what aliases can blow a small file up to, maxDepth how deep a
// file may be nested.
const (
	maxNodes = 100_000
	maxDepth = 200
)

// byteOrderMark is what some editors and shells begin a file with.
var byteOrderMark = []byte("\ufeff")

// Parse reads a file of YAML documents, or of JSON. Empty documents are left
// out; a file without any other is an error. Every duplicate key is told. A byte
// order mark at the start is passed over and counts as no column.
//
// Documents that could be read are returned beside the error, without what it
// is about, so that the caller can tell its own mistakes together with it.
func Parse(file string, data []byte) ([]*Node, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if err := checkText(file, data); err != nil {
		return nil, err
	}
	if t := bytes.TrimSpace(data); t[0] == '{' || t[0] == '[' {
		if n, err := parseJSON(file, data); err == nil || jsonOnly(file) {
			return documents(n), err
		}
	}
	return parseYAML(file, data)
}

func documents(n *Node) []*Node {
	if n == nil {
		return nil
	}
	return []*Node{n}
}

// jsonOnly says whether a file can be nothing else than JSON. Elsewhere what
// begins like JSON may be YAML's flow style.
func jsonOnly(file string) bool {
	return strings.HasSuffix(file, ".json") || strings.HasSuffix(file, ".tfstate")
}

// checkText refuses what is no text before a parser gets lost in it.
func checkText(file string, data []byte) error {
	whole := &Errors{File: file}
	switch {
	case len(data) > MaxSize:
		whole.Add(nil, "", "the file has %d MB, declarations are read up to %d MB", len(data)>>20, MaxSize>>20)
	case bytes.IndexByte(data, 0) >= 0:
		whole.Add(nil, "", "a binary file, not YAML or JSON")
	case !utf8.Valid(data):
		line, col := position(data, invalidAt(data))
		whole.Add(&Node{Line: line, Col: col}, "", "not valid UTF-8")
	case len(bytes.TrimSpace(data)) == 0:
		whole.Add(nil, "", "the file is empty")
	}
	return whole.Err()
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// position turns a byte offset into a line and a column in characters.
func position(data []byte, offset int) (line, col int) {
	before := data[:min(max(offset, 0), len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

func parseYAML(file string, data []byte) (docs []*Node, err error) {
	defer func() { // yaml.v3 panics on some malformed input
		if r := recover(); r != nil {
			docs, err = nil, &PosError{File: file, Msg: fmt.Sprintf("not YAML: %v", r)}
		}
	}()
	errs := &Errors{File: file}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			addSyntax(errs, data, err)
			break
		}
		b := &builder{errs: errs, hint: templateHint(data)}
		if n := b.build(doc.Content[0], "", 0); n != nil && n.Kind != Null {
			docs = append(docs, n)
		}
	}
	if errs.Len() == 0 && len(docs) == 0 {
		errs.Add(nil, "", "the file has no document")
	}
	return docs, errs.Err()
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// lineBreaks writes what YAML takes for the end of a line as a newline.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// addSyntax gives a syntax error a place. yaml.v3 tells the line only.
func addSyntax(errs *Errors, data []byte, err error) {
	m := yamlLine.FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0])
	if m == nil {
		errs.Add(nil, "", "not YAML: %v", err)
		return
	}
	line, _ := strconv.Atoi(m[1])
	lines := strings.Split(lineBreaks.Replace(string(data)), "\n")
	line = min(max(line, 1), len(lines))
	text := lines[line-1]
	col := len(text) - len(strings.TrimLeft(text, " \t")) + 1
	errs.Add(&Node{Line: line, Col: col}, "", "not YAML: %s%s", m[2], templateHint(data))
}

// templateHint says what a file with template actions in it needs.
func templateHint(data []byte) string {
	if !bytes.Contains(data, []byte("{{")) {
		return ""
	}
	return " (an unrendered template? give natsmig what helm template prints)"
}

// builder turns yaml.v3's nodes into ours.
type builder struct {
	errs  *Errors
	alias int // how many aliases we are inside of
	nodes int // made of aliases
	full  bool
	hint  string // what to add to mistakes that a template makes
}

func (b *builder) build(y *yaml.Node, path string, depth int) *Node {
	if y.Kind == yaml.AliasNode {
		y = y.Alias
		b.alias++
		defer func() { b.alias-- }()
	}
	n := &Node{Line: y.Line, Col: y.Column}
	if b.alias > 0 {
		b.nodes++
	}
	if b.nodes > maxNodes || depth > maxDepth {
		if !b.full {
			b.full = true
			b.errs.Add(n, path, "too large or too deeply nested")
		}
		return nil
	}
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = Mapping
		b.buildPairs(n, y, path, depth)
	case yaml.SequenceNode:
		n.Kind = List
		for i, item := range y.Content {
			if v := b.build(item, fmt.Sprintf("%s[%d]", path, i), depth+1); v != nil {
				n.Items = append(n.Items, v)
			}
		}
	default:
		n.Kind, n.Value = scalarKind(y), y.Value
	}
	return n
}

func (b *builder) buildPairs(n *Node, y *yaml.Node, path string, depth int) {
	seen := map[string]int{}
	var merged []Pair
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		if key.Tag == "!!merge" {
			if m := b.build(value, path, depth+1); m != nil {
				merged = append(merged, b.merge(m, path)...)
			}
			continue
		}
		p := Pair{Key: key.Value, Line: key.Line, Col: key.Column}
		if key.Kind != yaml.ScalarNode {
			b.errs.AddKey(p, path, "a key must be text%s", b.hint)
			continue
		}
		if first, ok := seen[p.Key]; ok {
			b.errs.AddKey(p, join(path, p.Key), "the key is already set on line %d", first)
			continue
		}
		seen[p.Key] = key.Line
		if p.Value = b.build(value, join(path, p.Key), depth+1); p.Value != nil {
			n.Pairs = append(n.Pairs, p)
		}
	}
	for _, p := range merged {
		if _, ok := seen[p.Key]; !ok {
			seen[p.Key] = p.Line
			n.Pairs = append(n.Pairs, p)
		}
	}
}

// merge lists the members that a merge key brings in.
func (b *builder) merge(n *Node, path string) []Pair {
	switch n.Kind {
	case Mapping:
		return n.Pairs
	case List:
		var all []Pair
		for _, item := range n.Items {
			all = append(all, b.merge(item, path)...)
		}
		return all
	case String, Int, Float, Bool, Null:
	}
	b.errs.Add(n, path, "<< wants a mapping to merge, have %s", n.describe())
	return nil
}

func scalarKind(y *yaml.Node) Kind {
	switch y.ShortTag() {
	case "!!int":
		return Int
	case "!!float":
		return Float
	case "!!bool":
		return Bool
	case "!!null":
		return Null
	}
	return String
}
