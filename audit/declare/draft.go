package declare

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/internal/strictyaml"
)

// A draft is a configuration under construction: the API's JSON, member by
// member, and where each was written.
type draft struct {
	r       *reader
	stream  bool // of a stream; otherwise of a consumer
	members map[string]json.RawMessage
	at      map[string]audit.Position
}

func (r *reader) draft(stream bool) *draft {
	return &draft{r: r, stream: stream, members: map[string]json.RawMessage{}, at: map[string]audit.Position{}}
}

// kind is the kind of a field, and whether there is such a field.
func (b *draft) kind(field string) (broker.Kind, bool) {
	if b.stream {
		if i, ok := broker.StreamFieldIndex(field); ok {
			return broker.StreamFields()[i].Kind, true
		}
		return "", false
	}
	if i, ok := broker.ConsumerFieldIndex(field); ok {
		return broker.ConsumerFields()[i].Kind, true
	}
	return "", false
}

// names lists the fields that there are.
func (b *draft) names() []string {
	var names []string
	if b.stream {
		for _, f := range broker.StreamFields() {
			names = append(names, f.Name)
		}
		return names
	}
	for _, f := range broker.ConsumerFields() {
		names = append(names, f.Name)
	}
	return names
}

// set takes a value as it stands in the file. A null is as if it were left out.
func (b *draft) set(field string, n *strictyaml.Node, path string) {
	if n == nil || n.Kind == strictyaml.Null {
		return
	}
	kind, _ := b.kind(field)
	raw, err := wire(n, kind == broker.KindDuration)
	if err == nil {
		err = b.try(field, raw)
	}
	if err != nil {
		b.r.errs.Add(n, path, "%s", b.explain(field, n, err))
		return
	}
	b.put(field, raw, b.r.position(n))
}

// put takes a value that is known to be right.
func (b *draft) put(field string, value any, at audit.Position) {
	raw, ok := value.(json.RawMessage)
	if !ok {
		raw, _ = json.Marshal(value) // strings, numbers and booleans only
	}
	b.members[field], b.at[field] = raw, at
}

// try decodes one member on its own, strictly.
func (b *draft) try(field string, raw json.RawMessage) error {
	one := []byte(fmt.Sprintf("{%q:%s}", field, raw))
	dec := json.NewDecoder(strings.NewReader(string(one)))
	dec.DisallowUnknownFields()
	if b.stream {
		return dec.Decode(&broker.StreamConfig{})
	}
	return dec.Decode(&broker.ConsumerConfig{})
}

// explain says what is wrong with a value in the words of the file.
func (b *draft) explain(field string, n *strictyaml.Node, err error) string {
	if words := policyNames[field]; words != nil && n.Kind != strictyaml.Mapping && n.Kind != strictyaml.List {
		return fmt.Sprintf("%q is not one of %v%s", n.Value, words, strictyaml.Suggest(n.Value, words))
	}
	var te *json.UnmarshalTypeError
	var day *time.ParseError
	switch {
	case errors.As(err, &te):
		return mismatch(n, te)
	case errors.As(err, &day):
		return fmt.Sprintf("want a time such as 2027-01-31T12:00:00Z, have %q", n.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// mismatch says what was wanted and what is there.
func mismatch(n *strictyaml.Node, te *json.UnmarshalTypeError) string {
	want := goType(te.Type.String())
	switch have := jsonType(te.Value); {
	case n.Kind != strictyaml.Mapping && n.Kind != strictyaml.List:
		if n.Kind == strictyaml.Int && want == string(strictyaml.Int) {
			return n.Value + " is out of range"
		}
		return fmt.Sprintf("want %s, have %s (%q)", want, n.Kind, n.Value)
	case have == string(n.Kind) && (te.Field == "" || !strings.Contains(te.Field, ".")):
		return fmt.Sprintf("want %s, have %s", want, have)
	default:
		return fmt.Sprintf("want %s in it, have %s", want, have)
	}
}

// jsonType is what encoding/json calls a kind of value, in the words of the
// file.
func jsonType(v string) string {
	word, _, _ := strings.Cut(v, " ")
	switch word {
	case "object":
		return string(strictyaml.Mapping)
	case "array":
		return string(strictyaml.List)
	case "string":
		return string(strictyaml.String)
	case "bool":
		return string(strictyaml.Bool)
	}
	return string(strictyaml.Float)
}

func goType(t string) string {
	switch {
	case t == "string":
		return "text"
	case t == "bool":
		return "true or false"
	case strings.HasPrefix(t, "uint"):
		return "a whole number from 0 up"
	case strings.HasPrefix(t, "int"):
		return "a whole number"
	case strings.HasPrefix(t, "[]"):
		return "a list"
	case strings.HasPrefix(t, "map"), strings.Contains(t, "broker."):
		return "a mapping"
	}
	return t
}

var policyNames = map[string][]string{
	"deliver_policy":  broker.DeliverPolicy("").Names(),
	"ack_policy":      broker.AckPolicy("").Names(),
	"replay_policy":   broker.ReplayPolicy("").Names(),
	"priority_policy": broker.PriorityPolicy("").Names(),
	"retention":       broker.Retention("").Names(),
	"discard":         broker.Discard("").Names(),
	"storage":         broker.Storage("").Names(),
	"compression":     broker.Compression("").Names(),
	"persist_mode":    broker.PersistMode("").Names(),
}

// declaration makes the declaration, nil when the draft can not be one.
func (b *draft) declaration(stream string) (*audit.Declaration, error) {
	raw, err := json.Marshal(b.members)
	if err != nil {
		return nil, err
	}
	var d *audit.Declaration
	if b.stream {
		d, err = audit.DeclareStream(raw)
	} else {
		d, err = audit.DeclareConsumer(stream, raw)
	}
	if err != nil {
		return nil, err
	}
	d.At = b.at
	return d, nil
}

// wire writes a node as the API's JSON. Durations may be written as text where
// a duration is due.
func wire(n *strictyaml.Node, duration bool) (json.RawMessage, error) {
	switch n.Kind {
	case strictyaml.List:
		parts := make([]json.RawMessage, len(n.Items))
		for i, item := range n.Items {
			raw, err := wire(item, duration)
			if err != nil {
				return nil, fmt.Errorf("item %d: %w", i+1, err)
			}
			parts[i] = raw
		}
		return json.Marshal(parts)
	case strictyaml.Mapping:
		m := make(map[string]json.RawMessage, len(n.Pairs))
		for _, p := range n.Pairs {
			raw, err := wire(p.Value, p.Key == "inactive_threshold")
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Key, err)
			}
			m[p.Key] = raw
		}
		return json.Marshal(m)
	case strictyaml.String, strictyaml.Int, strictyaml.Float, strictyaml.Bool, strictyaml.Null: // no nodes inside
	}
	if duration {
		d, err := strictyaml.ParseDuration(n)
		if err != nil {
			return nil, err
		}
		return json.Marshal(d)
	}
	return scalar(n)
}

func scalar(n *strictyaml.Node) (json.RawMessage, error) {
	switch n.Kind {
	case strictyaml.Null:
		return json.RawMessage("null"), nil
	case strictyaml.Bool:
		return json.Marshal(strings.EqualFold(n.Value, "true"))
	case strictyaml.Int:
		if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return json.Marshal(v)
		}
		if v, err := strconv.ParseUint(n.Value, 0, 64); err == nil {
			return json.Marshal(v)
		}
	case strictyaml.Float:
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && json.Valid([]byte(n.Value)) {
			return json.Marshal(v)
		}
	case strictyaml.String, strictyaml.Mapping, strictyaml.List: // the text; the last two have none
	}
	return json.Marshal(n.Value)
}
