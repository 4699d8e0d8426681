package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// entries lists the entries of r in the report's order, streams first: a
// consumer is read knowing its stream.
func entries(r *audit.Report) []*audit.Entry {
	var es []*audit.Entry
	for i := range r.Streams {
		es = append(es, &r.Streams[i])
	}
	for i := range r.Consumers {
		es = append(es, &r.Consumers[i])
	}
	return es
}

// speaks tells whether e has something to say. An excused finding alone does
// not: the closing count has it.
func speaks(e *audit.Entry) bool {
	quiet := e.Outcome == broker.Noop || !declared(e) && (e.Outcome == broker.Untouched || e.Outcome == "")
	counts := slices.ContainsFunc(e.Findings, func(f audit.Finding) bool { return f.Excused == "" })
	return !quiet || counts || e.Error != nil || len(telling(e, false)) > 0
}

func declared(e *audit.Entry) bool { return e.Writer != "" || e.Position != nil }

// telling lists the fields of e to show: with all, those that stay as well.
func telling(e *audit.Entry, all bool) []audit.Field {
	if all {
		return e.Fields
	}
	return slices.DeleteFunc(slices.Clone(e.Fields), func(f audit.Field) bool { return f.Class == audit.Same || filled(&f) })
}

// filled tells whether the server gives f its default in something new. There
// are many of those, and none of them moves.
func filled(f *audit.Field) bool { return f.Class == audit.ServerDefault && f.Have == nil }

// defaults lists what the server fills in, unless all are shown anyway.
func defaults(e *audit.Entry, all bool) string {
	var parts []string
	for i := range e.Fields {
		if f := &e.Fields[i]; filled(f) && !all {
			parts = append(parts, f.Name+" "+Value(fieldKind(f), f.After))
		}
	}
	return strings.Join(parts, ", ")
}

// absent and uncertain stand for values that are not there and not known. A text
// that reads like one of them has quotes.
const (
	absent    = "-"
	uncertain = "?"
)

// fieldValues is what f has, what is declared, and what the broker would hold.
func fieldValues(e *audit.Entry, f *audit.Field) []string {
	values := make([]string, 0, 3)
	for _, v := range []any{f.Have, f.Declared, f.After} {
		values = append(values, Value(fieldKind(f), v))
	}
	if f.After == nil && e.Outcome == broker.Unknown {
		values[2] = uncertain
	}
	return values
}

// expectation tells what a finding has and wants, if its message does not.
func expectation(f *audit.Finding) string {
	var parts []string
	for _, side := range []struct {
		word  string
		value any
	}{{"have ", f.Have}, {"want ", f.Want}} {
		if side.value == nil {
			continue
		}
		if v := Value(kindOf(f.Field), side.value); !strings.Contains(f.Message, v) {
			parts = append(parts, side.word+shorten(v, "...", maxChange))
		}
	}
	return strings.Join(parts, ", ")
}

// reasons lists the fields that e shows and for which the declaration gives a
// reason.
func reasons(e *audit.Entry, all bool) []string {
	shown := map[string]bool{}
	for _, f := range telling(e, all) {
		shown[f.Name] = true
	}
	for _, f := range e.Findings {
		shown[f.Field] = true
	}
	var fields []string
	for field := range e.Because {
		if shown[field] {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return fields
}

// refusal is the broker's answer, in its own words.
func refusal(e *audit.Entry) string {
	return fmt.Sprintf("%s (err_code %d, code %d)", e.Error.Description, e.Error.ErrCode, e.Error.Code)
}

// sentence is the message of f, opened by the field unless it does that itself.
func sentence(f *audit.Finding) string {
	if f.Field == "" || strings.HasPrefix(f.Message, f.Field) {
		return f.Message
	}
	return f.Field + ": " + f.Message
}
