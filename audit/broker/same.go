package broker

import (
	"slices"
	"strings"
)

// Differing lists the fields in which two configurations differ, in the order of
// the table.
func Differing[C any](fields []Field[C], a, b *C) []*Field[C] {
	var found []*Field[C]
	for i := range fields {
		if !fields[i].Same(a, b) {
			found = append(found, &fields[i])
		}
	}
	return found
}

func namesOf[C any](fields []*Field[C]) []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// Same says whether e and other are the same answer. The reason of invalid JSON
// is Go's and names the broker's own types, so that it does not count, and neither
// does the order in which a broker names consumers, which is that of a map.
func (e *APIError) Same(other *APIError) bool {
	if e == nil || other == nil {
		return e == other
	}
	if e.ErrCode == 10025 && other.ErrCode == 10025 {
		return e.Code == other.Code && reasoned(e) == reasoned(other)
	}
	if a, ok := strings.CutPrefix(e.Description, violates); ok {
		b, also := strings.CutPrefix(other.Description, violates)
		return also && e.Code == other.Code && e.ErrCode == other.ErrCode && sameNames(a, b)
	}
	return *e == *other
}

// violates begins the refusal of limits that live consumers exceed (stream.go:2776
// of 2.15.3).
const violates = "change to limits violates consumers: "

func sameNames(a, b string) bool {
	x, y := strings.Split(a, ", "), strings.Split(b, ", ")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// reasoned says whether a refusal of JSON tells why: brokers before 2.11 do not.
func reasoned(e *APIError) bool { return strings.HasPrefix(e.Description, "invalid JSON: ") }

// ConsumerOutcome is what has come of a request that was not refused: live is
// what the broker held before, nil for nothing, and after what it holds now.
func ConsumerOutcome(live, after *ConsumerConfig, streamReplicas int) Outcome {
	if live == nil {
		return Create
	}
	if len(changed(live, after, streamReplicas)) == 0 {
		return Noop
	}
	return Update
}

// StreamOutcome is [ConsumerOutcome] for a stream.
func StreamOutcome(live, after *StreamConfig) Outcome {
	if live == nil {
		return Create
	}
	was, is := live.Canonical(), after.Canonical()
	if len(Differing(streamFields, &was, &is)) == 0 {
		return Noop
	}
	return Update
}
