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

// maxNodes bounds what aliases can blow a small file up to, maxDepth how deep it
// may be nested.
const (
	maxNodes = 2_000_000
	maxDepth = 200
)

// Parse reads a file of YAML documents, or of JSON. Empty documents are left
// out; a file without any other is an error. Every duplicate key is told.
func Parse(file string, data []byte) ([]*Node, error) {
	if err := checkText(file, data); err != nil {
		return nil, err
	}
	if t := bytes.TrimSpace(data); t[0] == '{' || t[0] == '[' {
		if n, err := parseJSON(file, data); err == nil || jsonOnly(file) {
			return []*Node{n}, err
		}
	}
	return parseYAML(file, data)
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
		b := &builder{errs: errs}
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

// addSyntax gives a syntax error a place. yaml.v3 tells the line only.
func addSyntax(errs *Errors, data []byte, err error) {
	m := yamlLine.FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0])
	if m == nil {
		errs.Add(nil, "", "not YAML: %v", err)
		return
	}
	line, _ := strconv.Atoi(m[1])
	lines := strings.Split(string(data), "\n")
	line = min(max(line, 1), len(lines))
	text := lines[line-1]
	col := len(text) - len(strings.TrimLeft(text, " \t")) + 1
	msg := "not YAML: " + m[2]
	if bytes.Contains(data, []byte("{{")) {
		msg += " (an unrendered template? give natsmig what helm template prints)"
	}
	errs.Add(&Node{Line: line, Col: col}, "", "%s", msg)
}

// builder turns yaml.v3's nodes into ours.
type builder struct {
	errs  *Errors
	nodes int
	full  bool
}

func (b *builder) build(y *yaml.Node, path string, depth int) *Node {
	for y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	n := &Node{Line: y.Line, Col: y.Column}
	b.nodes++
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
				merged = append(merged, m.Pairs...)
				for _, item := range m.Items {
					merged = append(merged, item.Pairs...)
				}
			}
			continue
		}
		p := Pair{Key: key.Value, Line: key.Line, Col: key.Column}
		if key.Kind != yaml.ScalarNode {
			b.errs.AddKey(p, path, "a key must be text")
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
