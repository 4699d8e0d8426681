// Package strictyaml reads YAML and JSON into trees in which every key and value
// knows its place, and reads such trees into Go values, telling every mistake at
// once.
//
// [Parse] makes the trees. An [Object] takes a mapping apart: each key is asked
// for by name and kind, and [Object.Done] reports the keys that nobody asked
// for, with the name that was probably meant. Mistakes collect in [Errors].
//
// The package does not write YAML, and knows no types of its callers.
package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A Node is a value in a file.
type Node struct {
	Kind  Kind
	Value string  // of a scalar, as written (unquoted)
	Pairs []Pair  // of a mapping, in order
	Items []*Node // of a list
	Line  int     // from 1
	Col   int     // from 1, in characters
}

// A Pair is one member of a mapping.
type Pair struct {
	Key       string
	Line, Col int
	Value     *Node
}

// A Kind is what a node is.
type Kind string

// The kinds of node.
const (
	Mapping Kind = "a mapping"
	List    Kind = "a list"
	String  Kind = "text"
	Int     Kind = "a whole number"
	Float   Kind = "a number"
	Bool    Kind = "true or false"
	Null    Kind = "nothing"
)

// Get finds a member of a mapping, nil when there is none or n is no mapping.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Pairs {
		if n.Pairs[i].Key == key {
			return n.Pairs[i].Value
		}
	}
	return nil
}

// Text is the text of a member, "" when it is not there or no scalar.
func (n *Node) Text(key string) string {
	if v := n.Get(key); v != nil {
		return v.Value
	}
	return ""
}

// Has says whether a mapping has the member.
func (n *Node) Has(key string) bool { return n.Get(key) != nil }

// A PosError is a mistake in a file, at the place where it is.
type PosError struct {
	File      string
	Line, Col int    // both from 1; Line 0 means the file as a whole
	Path      string // for example consumers[1].ack_wait; may be empty
	Msg       string
}

// Error implements error.
func (e *PosError) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Col)
	}
	if e.Path != "" {
		where += ": " + e.Path
	}
	return where + ": " + e.Msg
}

// Errors collects the mistakes of one file.
type Errors struct {
	File string
	list []*PosError
}

// Add notes a mistake at a node; a nil node means the file as a whole.
func (e *Errors) Add(n *Node, path, format string, args ...any) {
	p := &PosError{File: e.File, Path: path, Msg: fmt.Sprintf(format, args...)}
	if n != nil {
		p.Line, p.Col = n.Line, n.Col
	}
	e.list = append(e.list, p)
}

// AddKey notes a mistake at the key of a pair.
func (e *Errors) AddKey(p Pair, path, format string, args ...any) {
	e.Add(&Node{Line: p.Line, Col: p.Col}, path, format, args...)
}

// Include takes up the mistakes that [Parse] returned.
func (e *Errors) Include(err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range all.Unwrap() {
			e.Include(err)
		}
	} else if one, ok := errors.AsType[*PosError](err); ok {
		e.list = append(e.list, one)
	}
}

// Len counts the mistakes.
func (e *Errors) Len() int { return len(e.list) }

// Err joins the mistakes in the order of the file, nil when there are none.
func (e *Errors) Err() error {
	slices.SortStableFunc(e.list, func(a, b *PosError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	errs := make([]error, len(e.list))
	for i, p := range e.list {
		errs[i] = p
	}
	return errors.Join(errs...)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
