package broker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Decoded is a configuration read from the API's own JSON.
type Decoded[C any] struct {
	Config  C
	Fields  FieldSet // the fields that the JSON names, whatever their value
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
	return decode(raw, streamFields, streamIndex, (*StreamConfig).fill)
}

func decode[C any](raw []byte, fields []Field[C], index map[string]int, fill func(*C)) (Decoded[C], error) {
	var d Decoded[C]
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return d, fmt.Errorf("read configuration: %w", err)
	}
	for name := range members {
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
		if bad, ferr := badMember(raw, fields, index); ferr != nil {
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

// badMember finds the first member that does not decode on its own, because the
// error for the whole does not always name it.
func badMember[C any](raw []byte, fields []Field[C], index map[string]int) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return "", err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return "", err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return "", err
		}
		var c C
		if err := json.Unmarshal(fmt.Appendf(nil, "{%q:%s}", name, value), &c); err != nil {
			if i, ok := findField(fields, index, fmt.Sprint(name)); ok {
				return fields[i].Name, err
			}
		}
	}
	return "", nil
}

func unknownField(name string) *APIError {
	return invalidJSON(fmt.Sprintf("json: unknown field %q", name))
}

func invalidJSON(why string) *APIError {
	return &APIError{Code: 400, ErrCode: 10025, Description: "invalid JSON: " + why}
}
