package declare

import (
	"encoding/json"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/internal/strictyaml"
)

// bare reads a configuration without a header: what the API and the CLI print,
// or the same fields in YAML.
func (r *reader) bare(n *strictyaml.Node, path string) {
	switch {
	case n.Has("config"):
		r.info(n, path)
	case listOf(n, "consumers") != nil:
		r.each(r.errs.Object(n, path), listOf(n, "consumers"), dot(path)+"consumers", func(item *strictyaml.Node, at string) {
			r.inherit(item, n.Text("stream"))
			r.document(item, at)
		})
	case listOf(n, "streams") != nil:
		r.each(r.errs.Object(n, path), listOf(n, "streams"), dot(path)+"streams", r.document)
	case isMapping(n.Get("consumer")):
		r.document(n.Get("consumer"), dot(path)+"consumer")
	case isMapping(n.Get("consumer_info")):
		r.document(n.Get("consumer_info"), dot(path)+"consumer_info")
	case looksLikeConsumer(n):
		r.flat(n, path, false)
	case looksLikeStream(n):
		r.flat(n, path, true)
	default:
		r.errs.Add(n, path, "no stream or consumer configuration found")
	}
}

func isMapping(n *strictyaml.Node) bool { return n != nil && n.Kind == strictyaml.Mapping }

func listOf(n *strictyaml.Node, key string) *strictyaml.Node {
	if v := n.Get(key); v != nil && v.Kind == strictyaml.List {
		return v
	}
	return nil
}

// inherit gives a list's items the stream that stands beside the list.
func (r *reader) inherit(item *strictyaml.Node, stream string) {
	if stream == "" || item.Kind != strictyaml.Mapping || item.Has("stream_name") {
		return
	}
	item.Pairs = append(item.Pairs, strictyaml.Pair{
		Key: "stream_name", Line: item.Line, Col: item.Col,
		Value: &strictyaml.Node{Kind: strictyaml.String, Value: stream, Line: item.Line, Col: item.Col},
	})
}

// looksLikeConsumer wants a name and either the stream or a member that only a
// consumer has, so that nothing reads as an all-defaults config by accident.
func looksLikeConsumer(n *strictyaml.Node) bool {
	if n.Has("durable_name") {
		return true
	}
	only := 0
	for _, f := range broker.ConsumerFields() {
		if _, shared := broker.StreamFieldIndex(f.Name); !shared && n.Has(f.Name) {
			only++
		}
	}
	return n.Has("name") && only > 0
}

func looksLikeStream(n *strictyaml.Node) bool {
	only := 0
	for _, f := range broker.StreamFields() {
		if _, shared := broker.ConsumerFieldIndex(f.Name); !shared && n.Has(f.Name) {
			only++
		}
	}
	return n.Has("name") && only > 0
}

// info reads an info document or a create request: a config and what it is of.
func (r *reader) info(n *strictyaml.Node, path string) {
	config := n.Get("config")
	if !isMapping(config) || len(config.Pairs) == 0 {
		r.errs.Add(n, path, "no stream or consumer configuration found: config is no mapping with members")
		return
	}
	if stream := n.Text("stream_name"); stream != "" || looksLikeConsumer(config) {
		r.wireConsumer(config, dot(path)+"config", stream, n.Text("name"))
		return
	}
	r.wireStream(config, dot(path)+"config")
}

// flat reads a configuration whose members stand at the top of the document,
// with the stream, the writer and the handler among them.
func (r *reader) flat(n *strictyaml.Node, path string, stream bool) {
	o := r.errs.Object(n, path)
	var on string
	o.Text("stream", &on)
	if on == "" {
		o.Text("stream_name", &on)
	}
	if r.isJSON() {
		if stream {
			r.wireStream(n, path)
		} else {
			r.wireConsumer(n, path, on, "")
		}
		return
	}
	h := r.head(o)
	b := r.draft(stream)
	handler := r.handler(o, b)
	var because map[string]string
	o.Texts("because", &because)
	for _, p := range o.Rest() {
		if _, ok := b.kind(p.Key); !ok {
			r.errs.AddKey(p, path, "unknown key %q%s", p.Key, strictyaml.Suggest(p.Key, b.names()))
			continue
		}
		b.set(p.Key, p.Value, o.Path(p.Key))
	}
	d, err := b.declaration(on)
	if err != nil {
		r.errs.Add(n, path, "%v", err)
		return
	}
	d.Writer, d.Target, d.Handler, d.Because = h.writer, h.target, handler, because
	d.Origin, d.Position = audit.FromNatsmig, r.position(n)
	r.set.Declarations = append(r.set.Declarations, d)
}

// notConfig are members that may stand beside a configuration's own.
var notConfig = map[string]bool{"stream": true, "stream_name": true}

// wireConsumer takes JSON as the API would get it: a name or a value that the
// broker would refuse is the broker's to refuse.
func (r *reader) wireConsumer(config *strictyaml.Node, path, stream, name string) {
	raw, at := r.raw(config, path)
	d, err := audit.DeclareConsumer(stream, raw)
	if err != nil && name != "" {
		config.Pairs = append(config.Pairs, strictyaml.Pair{
			Key: "name", Line: config.Line, Col: config.Col,
			Value: &strictyaml.Node{Kind: strictyaml.String, Value: name, Line: config.Line, Col: config.Col},
		})
		raw, at = r.raw(config, path)
		d, err = audit.DeclareConsumer(stream, raw)
	}
	if err != nil {
		r.errs.Add(config, strings.TrimSuffix(path, "."), "%v", err)
		return
	}
	d.At, d.Position = at, r.position(config)
	r.set.Declarations = append(r.set.Declarations, d)
}

func (r *reader) wireStream(config *strictyaml.Node, path string) {
	raw, at := r.raw(config, path)
	d, err := audit.DeclareStream(raw)
	if err != nil {
		r.errs.Add(config, strings.TrimSuffix(path, "."), "%v", err)
		return
	}
	d.At, d.Position = at, r.position(config)
	r.set.Declarations = append(r.set.Declarations, d)
}

// raw writes a configuration back as JSON, and tells where each member stood.
func (r *reader) raw(config *strictyaml.Node, path string) (json.RawMessage, map[string]audit.Position) {
	members := map[string]json.RawMessage{}
	at := map[string]audit.Position{}
	for _, p := range config.Pairs {
		if notConfig[p.Key] {
			continue
		}
		v, err := plain(p.Value)
		if err != nil {
			r.errs.Add(p.Value, path, "%v", err)
			continue
		}
		members[p.Key], at[p.Key] = v, audit.Position{File: r.file, Line: p.Line, Col: p.Col}
	}
	raw, err := json.Marshal(members)
	if err != nil {
		r.errs.Add(config, path, "%v", err)
	}
	return raw, at
}

// plain writes a node as JSON, nothing read into it.
func plain(n *strictyaml.Node) (json.RawMessage, error) {
	switch n.Kind {
	case strictyaml.Mapping:
		m := map[string]json.RawMessage{}
		for _, p := range n.Pairs {
			v, err := plain(p.Value)
			if err != nil {
				return nil, err
			}
			m[p.Key] = v
		}
		return json.Marshal(m)
	case strictyaml.List:
		list := make([]json.RawMessage, len(n.Items))
		for i, item := range n.Items {
			v, err := plain(item)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return json.Marshal(list)
	case strictyaml.Int, strictyaml.Float:
		if json.Valid([]byte(n.Value)) {
			return json.RawMessage(n.Value), nil
		}
	case strictyaml.String, strictyaml.Bool, strictyaml.Null: // as scalar has them
	}
	return scalar(n)
}
