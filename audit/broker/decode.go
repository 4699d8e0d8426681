package broker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Decoded is a configuration read from the API's own JSON.
type Decoded[C any] struct {
	Config C
	Fields FieldSet // the fields that the JSON names, whatever their value
	// Inner are names further down that not every broker knows, such as
	// sources.consumer, whatever their value.
	Inner   []string
	Unknown []string // names that no supported broker knows, sorted
	// Err is what a strict broker (2.12 and later) answers to this JSON: 10025.
	// Nil for JSON that every broker reads. Brokers before 2.12 answer it too,
	// unless Bad is one of Unknown.
	Err *APIError
	// Bad is the field that Err is about.
	Bad string
}

// DecodeConsumer reads a consumer's configuration as a broker reads it: names in
// any case, the last of two members wins. JSON that is no object is an error; a
// field that a broker would refuse is not, it is in Err.
func DecodeConsumer(raw []byte) (Decoded[ConsumerConfig], error) {
	return decode(raw, consumerFields, consumerIndex, (*ConsumerConfig).fill)
}

// DecodeStream reads a stream's configuration. Errors are as with
// [DecodeConsumer].
func DecodeStream(raw []byte) (Decoded[StreamConfig], error) {
	d, err := decode(raw, streamFields, streamIndex, (*StreamConfig).fill)
	if err == nil && bytes.Contains(bytes.ToLower(raw), []byte(`"consumer"`)) {
		d.Inner = sourceConsumers(raw)
	}
	return d, err
}

// sourceConsumers finds the consumers that sources and mirrors name: a strict
// broker of 2.12 minds the name even where another member of the same name
// takes the value's place.
func sourceConsumers(raw []byte) (names []string) {
	for name, value := range members(raw) {
		if field := strings.ToLower(name); field == "sources" || field == "mirror" {
			var sources []json.RawMessage
			if json.Unmarshal(value, &sources) != nil {
				sources = []json.RawMessage{value}
			}
			if slices.ContainsFunc(sources, hasConsumer) {
				names = append(names, field+".consumer")
			}
		}
	}
	return names
}

func hasConsumer(source json.RawMessage) bool {
	if !bytes.HasPrefix(bytes.TrimSpace(source), []byte("{")) {
		return false
	}
	for name := range members(source) {
		if strings.EqualFold(name, "consumer") {
			return true
		}
	}
	return false
}

func decode[C any](raw []byte, fields []Field[C], index map[string]int, fill func(*C)) (Decoded[C], error) {
	var d Decoded[C]
	var names map[string]json.RawMessage
	if err := json.Unmarshal(raw, &names); err != nil {
		return d, fmt.Errorf("read configuration: %w", err)
	}
	for name := range names {
		if i, ok := findField(fields, index, name); ok {
			d.Fields.Add(i)
		} else {
			d.Unknown = append(d.Unknown, name)
		}
	}
	d.strict(raw)
	slices.Sort(d.Unknown)
	if len(d.Unknown) > 0 {
		d.Err, d.Bad = unknownField(d.Unknown[0]), d.Unknown[0]
	}
	if err := json.Unmarshal(raw, &d.Config); err != nil {
		d.Err, d.Bad = invalidJSON(err.Error()), ""
		if bad, ferr := d.salvage(raw, fields, index); ferr != nil {
			d.Err, d.Bad = invalidJSON(ferr.Error()), bad
		}
	}
	fill(&d.Config)
	return d, nil
}

// findField finds a field as encoding/json does: by its name, or by its name in
// another case.
func findField[C any](fields []Field[C], index map[string]int, name string) (int, bool) {
	if i, ok := index[name]; ok {
		return i, true
	}
	i := slices.IndexFunc(fields, func(f Field[C]) bool { return strings.EqualFold(f.Name, name) })
	return i, i >= 0
}

// strict adds a name that is unknown further down, as in placement.
func (d *Decoded[C]) strict(raw []byte) {
	var c C
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&c)
	if err == nil {
		return
	}
	quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
	if name, qerr := strconv.Unquote(quoted); ok && qerr == nil && !slices.Contains(d.Unknown, name) {
		d.Unknown = append(d.Unknown, name)
	}
}

// salvage reads member by member what can be read, and finds a member that can
// not: of several the one that the oldest broker knows, since a broker does not
// mind the values of names that it does not know.
func (d *Decoded[C]) salvage(raw []byte, fields []Field[C], index map[string]int) (bad string, worst error) {
	var c C
	oldest := math.MaxInt
	for name, value := range members(raw) {
		err := json.Unmarshal(fmt.Appendf(nil, "{%q:%s}", name, value), &c)
		if i, ok := findField(fields, index, name); ok && err != nil && fields[i].Since < oldest {
			oldest, bad, worst = fields[i].Since, fields[i].Name, err
		}
	}
	d.Config = c
	return bad, worst
}

// members lists the members of an object, those of the same name too.
func members(raw []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		if _, err := dec.Token(); err != nil {
			return
		}
		for dec.More() {
			name, err := dec.Token()
			var value json.RawMessage
			if err != nil || dec.Decode(&value) != nil || !yield(fmt.Sprint(name), value) {
				return
			}
		}
	}
}

func unknownField(name string) *APIError {
	return invalidJSON(fmt.Sprintf("json: unknown field %q", name))
}

func invalidJSON(why string) *APIError {
	return &APIError{Code: 400, ErrCode: 10025, Description: "invalid JSON: " + why}
}
