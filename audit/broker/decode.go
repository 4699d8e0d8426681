package broker

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Decoded is a configuration read from the API's own JSON.
type Decoded[C any] struct {
	Config  C
	Fields  FieldSet // the fields that the JSON names, whatever their value
	Unknown []string // names that no supported broker knows, sorted
	// Err is what a strict broker (2.12 and later) answers to this JSON: 10025.
	// Nil for JSON that every broker reads.
	Err *APIError
	// Bad is the field that Err is about.
	Bad string
}

// DecodeConsumer reads a consumer's configuration. JSON that is no object is an
// error; a field that a broker would refuse is not, it is in Err.
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
		if i, ok := index[name]; ok {
			d.Fields.Add(i)
		} else {
			d.Unknown = append(d.Unknown, name)
		}
	}
	slices.Sort(d.Unknown)
	if len(d.Unknown) > 0 {
		d.Err, d.Bad = invalidJSON(fmt.Sprintf("json: unknown field %q", d.Unknown[0])), d.Unknown[0]
	}
	if err := json.Unmarshal(raw, &d.Config); err != nil {
		if bad, ferr := badMember(members, fields); ferr != nil {
			d.Err, d.Bad = invalidJSON(ferr.Error()), bad
		} else {
			d.Err = invalidJSON(err.Error())
		}
	}
	fill(&d.Config)
	return d, nil
}

// badMember finds the first member, in the broker's order, that does not decode
// on its own, because the error for the whole does not always name it.
func badMember[C any](members map[string]json.RawMessage, fields []Field[C]) (string, error) {
	for i := range fields {
		raw, ok := members[fields[i].Name]
		if !ok {
			continue
		}
		one := fmt.Appendf(nil, "{%q:%s}", fields[i].Name, raw)
		var c C
		if err := json.Unmarshal(one, &c); err != nil {
			return fields[i].Name, err
		}
	}
	return "", nil
}

func invalidJSON(why string) *APIError {
	return &APIError{Code: 400, ErrCode: 10025, Description: "invalid JSON: " + why}
}
