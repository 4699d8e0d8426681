package report

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/natsmig/natsmig/audit"
)

// writeJSON is encoding/json with indentation. Programs read it, so that no list
// is null and nothing is escaped for HTML.
func writeJSON(r *audit.Report) (string, error) {
	full := *r
	full.Consumers = withoutNil(r.Consumers)
	full.Streams = withoutNil(r.Streams)
	if full.Unknown == nil {
		full.Unknown = []audit.Unknown{}
	}
	if full.Tool == nil {
		full.Tool = []audit.Finding{}
	}
	if full.Summary.Findings == nil {
		full.Summary.Findings = map[audit.Severity]int{}
	}
	return indented(&full)
}

func indented(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("encode report: %w", err)
	}
	return b.String(), nil
}

// withoutNil copies es, and gives each entry the lists that it lacks.
func withoutNil(es []audit.Entry) []audit.Entry {
	es = append([]audit.Entry{}, es...)
	for i := range es {
		if es[i].Fields == nil {
			es[i].Fields = []audit.Field{}
		}
		if es[i].Findings == nil {
			es[i].Findings = []audit.Finding{}
		}
	}
	return es
}
