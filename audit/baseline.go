package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// BaselineSchema names the JSON form of a [Baseline].
const BaselineSchema = "natsmig.baseline.v1"

// A Baseline lists findings that were there when a team began, so that only new
// ones count. It knows a finding by its place and its code, not by its words.
type Baseline struct {
	Schema   string          `json:"schema"`
	Findings []BaselineEntry `json:"findings"`
}

// A BaselineEntry is one known finding.
type BaselineEntry struct {
	Cell     string `json:"cell"`
	Stream   string `json:"stream"`
	Consumer string `json:"consumer,omitempty"`
	Code     string `json:"code"`
	Field    string `json:"field,omitempty"`
}

// ReadBaseline reads a baseline file. The name is used in errors.
func ReadBaseline(name string, data []byte) (*Baseline, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if err := checkJSON(name, data); err != nil {
		return nil, err
	}
	var b Baseline
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return nil, fmt.Errorf("%s: read baseline: %w", name, err)
	}
	if b.Schema != BaselineSchema {
		return nil, fmt.Errorf("%s: schema is %q, want %q", name, b.Schema, BaselineSchema)
	}
	return &b, nil
}

// NewBaseline lists the findings of a report that are errors or warnings and
// that no excuse covers. Refusals are not in it: no baseline makes a broker
// accept what it refuses.
func NewBaseline(r *Report) *Baseline {
	b := &Baseline{Schema: BaselineSchema, Findings: []BaselineEntry{}}
	for _, e := range slices.Concat(r.Streams, r.Consumers) {
		for _, f := range e.Findings {
			if f.Code == refused.Code || f.Code == streamRefused.Code {
				continue
			}
			if f.Severity == Info || f.Excused != "" && f.Excused != inBaseline {
				continue
			}
			if n := baselineEntry(&e, &f); !slices.Contains(b.Findings, n) {
				b.Findings = append(b.Findings, n)
			}
		}
	}
	slices.SortFunc(b.Findings, func(x, y BaselineEntry) int {
		return cmp.Or(cmp.Compare(x.Cell, y.Cell), cmp.Compare(x.Stream, y.Stream), cmp.Compare(x.Consumer, y.Consumer),
			cmp.Compare(x.Code, y.Code), cmp.Compare(x.Field, y.Field))
	})
	return b
}

func baselineEntry(e *Entry, f *Finding) BaselineEntry {
	return BaselineEntry{e.Cell, e.Stream, e.Consumer, f.Code, f.Field}
}

// Write writes the baseline as JSON.
func (b *Baseline) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(b)
}
