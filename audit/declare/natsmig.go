package declare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/internal/strictyaml"
)

// kinds are the kinds of natsmig's own documents.
var kinds = []string{"Consumers", "Streams", "Policy"}

// natsmig reads a document of natsmig's own.
func (r *reader) natsmig(n *strictyaml.Node) {
	o := r.errs.Object(n, "")
	var version, kind string
	o.Text("apiVersion", &version)
	if version != "natsmig/v1" {
		r.errs.Add(n.Get("apiVersion"), "apiVersion", "%q is not known: this version reads natsmig/v1", version)
		return
	}
	o.Text("kind", &kind)
	switch kind {
	case "Consumers":
		r.consumers(o)
	case "Streams":
		r.streams(o)
	case "Policy":
		r.policy(o)
	case "":
		r.errs.Add(n, "", "kind is missing: want one of %v", kinds)
	default:
		r.errs.Add(n.Get("kind"), "kind", "unknown kind %q: want one of %v%s", kind, kinds, strictyaml.Suggest(kind, kinds))
	}
}

// head is what stands once for all the things of a document.
type head struct {
	writer audit.Writer
	target audit.Target
}

func (r *reader) head(o *strictyaml.Object) head {
	h := head{writer: r.writer(o, audit.Replace)}
	t := o.Object("target")
	t.Text("cell", &h.target.Cell)
	t.Text("cluster", &h.target.Cluster)
	t.Text("domain", &h.target.Domain)
	t.Text("account", &h.target.Account)
	t.Done()
	return h
}

func (r *reader) writer(o *strictyaml.Object, preset audit.Writer) audit.Writer {
	w := string(preset)
	var words []string
	for _, known := range audit.Writers() {
		words = append(words, string(known))
	}
	o.OneOf("writer", &w, words)
	return audit.Writer(w)
}

func (r *reader) consumers(o *strictyaml.Object) {
	h := r.head(o)
	var stream string
	o.Text("stream", &stream)
	list := o.Node("consumers")
	o.Done()
	if stream == "" {
		r.errs.Add(o.Here(), "stream", "is missing: name the stream that the consumers are on")
	}
	r.each(o, list, "consumers", func(item *strictyaml.Node, path string) {
		r.consumer(r.errs.Object(item, path), item, stream, h)
	})
}

// each walks a list that must be there and not be empty.
func (r *reader) each(o *strictyaml.Object, list *strictyaml.Node, key string, do func(*strictyaml.Node, string)) {
	switch {
	case list == nil:
		r.errs.Add(o.Here(), key, "is missing: want a list")
	case list.Kind != strictyaml.List:
		r.errs.Add(list, key, "want a list, have %s", list.Kind)
	case len(list.Items) == 0:
		r.errs.Add(list, key, "the list is empty")
	default:
		for i, item := range list.Items {
			do(item, fmt.Sprintf("%s[%d]", key, i))
		}
	}
}

func (r *reader) consumer(o *strictyaml.Object, item *strictyaml.Node, stream string, h head) {
	if !o.There() {
		return
	}
	b := r.draft(false)
	var durable, name string
	o.Text("durable", &durable)
	o.Text("name", &name)
	r.config(o, b)
	r.identity(b, item, durable, name)
	r.misplaced(o, b)
	writer := r.writer(o, h.writer)
	handler := r.handler(o, b)
	var because map[string]string
	o.Texts("because", &because)
	o.Done(b.names()...)
	if b.members["durable_name"] == nil && b.members["name"] == nil || stream == "" {
		return // told already
	}
	d, err := b.declaration(stream)
	if err != nil {
		r.errs.Add(item, "", "%v", err)
		return
	}
	d.Writer, d.Target, d.Handler, d.Because = writer, h.target, handler, because
	d.Origin, d.Position = audit.FromNatsmig, r.position(item)
	r.set.Declarations = append(r.set.Declarations, d)
}

// config reads a configuration in wire names.
func (r *reader) config(o *strictyaml.Object, b *draft) {
	n := o.Node("config")
	if n == nil {
		return
	}
	c := r.errs.Object(n, o.Path("config"))
	for _, p := range c.Rest() {
		if _, ok := b.kind(p.Key); !ok {
			r.errs.AddKey(p, o.Path("config"), "unknown key %q%s", p.Key, strictyaml.Suggest(p.Key, b.names()))
			continue
		}
		b.set(p.Key, p.Value, c.Path(p.Key))
	}
}

// identity names the consumer: durable makes a durable, name alone does not.
func (r *reader) identity(b *draft, item *strictyaml.Node, durable, name string) {
	at := r.position(item)
	switch {
	case durable != "":
		b.claim("durable_name", durable, item, at)
	case name != "":
		b.claim("name", name, item, at)
	case b.members["durable_name"] == nil && b.members["name"] == nil && scalarOrNone(item.Get("durable")) && scalarOrNone(item.Get("name")):
		r.errs.Add(item, "", "durable is missing: name the consumer")
	}
}

func scalarOrNone(n *strictyaml.Node) bool {
	return n == nil || n.Kind != strictyaml.Mapping && n.Kind != strictyaml.List
}

// misplaced tells the fields of a configuration that stand beside it.
func (r *reader) misplaced(o *strictyaml.Object, b *draft) {
	for _, p := range o.Rest() {
		if _, ok := b.kind(p.Key); ok {
			o.Node(p.Key)
			r.errs.AddKey(p, o.Path(p.Key), "belongs into config")
		}
	}
}

// claim sets a name, unless the config says another.
func (b *draft) claim(field, value string, item *strictyaml.Node, at audit.Position) {
	if have, ok := b.members[field]; ok && string(have) != fmt.Sprintf("%q", value) {
		b.r.errs.Add(item, "", "the consumer is called %q here and %s in config.%s", value, have, field)
		return
	}
	b.put(field, value, at)
}

func (r *reader) streams(o *strictyaml.Object) {
	h := r.head(o)
	list := o.Node("streams")
	o.Done()
	r.each(o, list, "streams", func(item *strictyaml.Node, path string) {
		r.stream(r.errs.Object(item, path), item, h)
	})
}

func (r *reader) stream(o *strictyaml.Object, item *strictyaml.Node, h head) {
	if !o.There() {
		return
	}
	b := r.draft(true)
	var name string
	o.Text("name", &name)
	r.config(o, b)
	if name != "" {
		b.claim("name", name, item, r.position(item))
	}
	r.misplaced(o, b)
	writer := r.writer(o, h.writer)
	var because map[string]string
	o.Texts("because", &because)
	o.Done(b.names()...)
	if b.members["name"] == nil {
		r.errs.Add(item, "", "name is missing: name the stream")
		return
	}
	d, err := b.declaration("")
	if err != nil {
		r.errs.Add(item, "", "%v", err)
		return
	}
	d.Writer, d.Target, d.Because = writer, h.target, because
	d.Origin, d.Position = audit.FromNatsmig, r.position(item)
	r.set.Declarations = append(r.set.Declarations, d)
}

// sortedKeys lists a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
