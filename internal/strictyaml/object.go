package strictyaml

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/natsmig/natsmig/internal/spell"
)

// An Object takes a mapping apart. Each method asks for one key, leaves the
// target alone when the key is not there or is null, and notes a mistake when
// its value is of the wrong kind.
type Object struct {
	node  *Node
	path  string
	errs  *Errors
	asked []string
}

// Object takes n apart, and notes a mistake when it is no mapping. The path is
// what mistakes are told with.
func (e *Errors) Object(n *Node, path string) *Object {
	if n != nil && n.Kind != Mapping {
		e.Add(n, path, "want a mapping, have %s", n.describe())
		n = nil
	}
	return &Object{node: n, path: path, errs: e}
}

func (n *Node) describe() string {
	switch n.Kind {
	case String, Int, Float, Bool:
		return fmt.Sprintf("%s (%s)", n.Kind, shorten(n.Value))
	default:
		return string(n.Kind)
	}
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return strconv.Quote(string(r[:37]) + "...")
	}
	return strconv.Quote(s)
}

// Path is the path of a member.
func (o *Object) Path(key string) string { return join(o.path, key) }

// Node asks for a member as it is, nil when it is not there or is null.
func (o *Object) Node(key string) *Node {
	o.asked = append(o.asked, key)
	if n := o.node.Get(key); n != nil && n.Kind != Null {
		return n
	}
	return nil
}

// Object asks for a mapping.
func (o *Object) Object(key string) *Object { return o.errs.Object(o.Node(key), o.Path(key)) }

// There says whether there is anything to take apart.
func (o *Object) There() bool { return o.node != nil }

// Text asks for text. A number or a boolean is taken as it is written.
func (o *Object) Text(key string, to *string) {
	n := o.Node(key)
	if n == nil {
		return
	}
	if n.Kind == Mapping || n.Kind == List {
		o.errs.Add(n, o.Path(key), "want text, have %s", n.describe())
		return
	}
	*to = n.Value
}

// Int asks for a whole number.
func (o *Object) Int(key string, to *int) {
	if n := o.Node(key); n != nil {
		v, err := strconv.ParseInt(n.Value, 0, 64)
		if n.Kind != Int || err != nil {
			o.errs.Add(n, o.Path(key), "want a whole number, have %s", n.describe())
			return
		}
		*to = int(v)
	}
}

// Duration asks for a duration, as [ParseDuration] reads it.
func (o *Object) Duration(key string, to *time.Duration) {
	if n := o.Node(key); n != nil {
		o.duration(n, o.Path(key), to)
	}
}

// Durations asks for a list of durations.
func (o *Object) Durations(key string, to *[]time.Duration) {
	n := o.Node(key)
	if n == nil {
		return
	}
	if n.Kind != List {
		o.errs.Add(n, o.Path(key), "want a list of durations, have %s", n.describe())
		return
	}
	for i, item := range n.Items {
		var d time.Duration
		o.duration(item, fmt.Sprintf("%s[%d]", o.Path(key), i), &d)
		*to = append(*to, d)
	}
}

func (o *Object) duration(n *Node, path string, to *time.Duration) {
	d, err := ParseDuration(n)
	if err != nil {
		o.errs.Add(n, path, "%v", err)
		return
	}
	*to = d
}

// ParseDuration reads a duration written as Go does, or an integer number of
// nanoseconds as on the wire.
func ParseDuration(n *Node) (time.Duration, error) {
	switch n.Kind {
	case Int:
		if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return time.Duration(v), nil
		}
	case String:
		if d, err := time.ParseDuration(n.Value); err == nil {
			return d, nil
		}
	default: // refused below, as a number or a text that does not parse is
	}
	return 0, fmt.Errorf("want a duration such as 30s or 1h30m, or nanoseconds, have %s", n.describe())
}

// Texts asks for a mapping from text to text.
func (o *Object) Texts(key string, to *map[string]string) {
	n := o.Node(key)
	if n == nil {
		return
	}
	m := o.errs.Object(n, o.Path(key))
	if !m.There() {
		return
	}
	*to = make(map[string]string, len(n.Pairs))
	for _, p := range n.Pairs {
		var v string
		m.Text(p.Key, &v)
		(*to)[p.Key] = v
	}
}

// OneOf asks for one of some words.
func (o *Object) OneOf(key string, to *string, words []string) {
	var v string
	n := o.Node(key)
	o.Text(key, &v)
	if n == nil || v == "" {
		return
	}
	if !slices.Contains(words, v) {
		o.errs.Add(n, o.Path(key), "%s is not one of %v%s", shorten(v), words, Suggest(v, words))
		return
	}
	*to = v
}

// Done reports every key that nobody asked for. Known names further keys that
// may be suggested.
func (o *Object) Done(known ...string) {
	for _, p := range o.Rest() {
		o.errs.AddKey(p, o.path, "unknown key %s%s", shorten(p.Key), Suggest(p.Key, slices.Concat(o.asked, known)))
	}
}

// Rest lists the pairs that nobody asked for.
func (o *Object) Rest() []Pair {
	if o.node == nil {
		return nil
	}
	var rest []Pair
	for _, p := range o.node.Pairs {
		if !slices.Contains(o.asked, p.Key) {
			rest = append(rest, p)
		}
	}
	return rest
}

// Suggest is `; did you mean "x"?` for the known word that was probably meant,
// or "".
func Suggest(word string, known []string) string {
	if near := spell.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// Here is the mapping itself, for mistakes about what it lacks; nil when there
// is none.
func (o *Object) Here() *Node { return o.node }

// Near is the known word that was probably meant, or "".
func Near(word string, known []string) string { return spell.Nearest(word, known) }
