package strictyaml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// parseJSON reads one JSON value.
func parseJSON(file string, data []byte) (*Node, error) {
	p := &jsonParser{dec: json.NewDecoder(bytes.NewReader(data)), data: data, errs: &Errors{File: file}}
	p.dec.UseNumber()
	p.lines = append(p.lines, 0)
	for i, c := range data {
		if c == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	n, err := p.value("", 0)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		p.fail(err)
		n = nil
	}
	return n, p.errs.Err()
}

type jsonParser struct {
	dec   *json.Decoder
	data  []byte
	lines []int // byte offsets at which lines begin
	errs  *Errors
}

var (
	errFollows = errors.New("something follows the JSON value")
	errNested  = errors.New("too deeply nested")
)

// end refuses anything behind the value.
func (p *jsonParser) end() error {
	if _, err := p.dec.Token(); err == nil {
		return errFollows
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// fail gives a syntax error its place. The offsets of a decoder that reads
// tokens do not count the delimiters, so the whole is parsed once more.
func (p *jsonParser) fail(err error) {
	offset := p.next()
	var whole json.RawMessage
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(p.data, &whole), &syntax) && !errors.Is(err, errNested) {
		offset = int(syntax.Offset) - 1
		if !errors.Is(err, errFollows) {
			err = syntax
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err.Error() == "unexpected end of JSON input" {
		err, offset = errors.New("the file ends in the middle"), len(p.data)
	}
	p.errs.Add(p.at(offset), "", "not JSON: %v", err)
}

// at makes a node for a byte offset.
func (p *jsonParser) at(offset int) *Node {
	offset = min(max(offset, 0), len(p.data))
	line, _ := slices.BinarySearch(p.lines, offset+1)
	start := p.lines[line-1]
	return &Node{Line: line, Col: utf8.RuneCount(p.data[start:offset]) + 1}
}

// next is the offset at which the next token begins.
func (p *jsonParser) next() int {
	i := int(p.dec.InputOffset())
	for i < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[i]) >= 0 {
		i++
	}
	return i
}

func (p *jsonParser) value(path string, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, errNested
	}
	n := p.at(p.next())
	tok, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			n.Kind = Mapping
			return n, p.members(n, path, depth)
		}
		n.Kind = List
		return n, p.items(n, path, depth)
	case string:
		n.Kind, n.Value = String, t
	case json.Number:
		n.Kind, n.Value = Int, t.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Kind = Float
		}
	case bool:
		n.Kind, n.Value = Bool, fmt.Sprint(t)
	case nil:
		n.Kind = Null
	}
	return n, nil
}

func (p *jsonParser) members(n *Node, path string, depth int) error {
	seen := map[string]int{}
	for p.dec.More() {
		at := p.at(p.next())
		tok, err := p.dec.Token()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return fmt.Errorf("%v is no key", tok)
		}
		v, err := p.value(join(path, key), depth+1)
		if err != nil {
			return err
		}
		pair := Pair{Key: key, Line: at.Line, Col: at.Col, Value: v}
		if first, twice := seen[key]; twice {
			p.errs.AddKey(pair, join(path, key), "the key is already set on line %d", first)
			continue
		}
		seen[key] = at.Line
		n.Pairs = append(n.Pairs, pair)
	}
	_, err := p.dec.Token()
	return err
}

func (p *jsonParser) items(n *Node, path string, depth int) error {
	for p.dec.More() {
		v, err := p.value(fmt.Sprintf("%s[%d]", path, len(n.Items)), depth+1)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, v)
	}
	_, err := p.dec.Token()
	return err
}
