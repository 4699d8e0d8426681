package report

import (
	"reflect"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// A change is a field whose value the request would move.
type change struct{ field, have, after string }

// String is the form that people search for. It uses the same arrow in every
// format.
func (c change) String() string { return c.field + " " + c.have + " -> " + c.after }

// maxChange is how many characters of a value a change spells out.
const maxChange = 160

// changes lists the fields of e that move. Where the broker refuses the
// request, they are those that it would have moved.
func changes(e *audit.Entry, all bool, gap string) []change {
	var cs []change
	for i := range e.Fields {
		f := &e.Fields[i]
		if filled(f) && !all {
			continue
		}
		after, known := target(e.Outcome, f)
		if !known || reflect.DeepEqual(decode(f.Have), decode(after)) {
			continue
		}
		have, next := shortenBoth(Value(fieldKind(f), f.Have), Value(fieldKind(f), after), gap, maxChange)
		cs = append(cs, change{field: f.Name, have: have, after: next})
	}
	return cs
}

// target is the value that f moves to. A missing After means absent only where
// the broker stores the request.
func target(o broker.Outcome, f *audit.Field) (value any, known bool) {
	switch o {
	case broker.Create, broker.Update, broker.Noop:
		return f.After, true
	case broker.Reject:
		return wanted(f)
	default:
		return f.After, f.After != nil
	}
}

// wanted is the value that a refused request asked for.
func wanted(f *audit.Field) (value any, known bool) {
	if f.Asked != nil {
		return f.Asked, true
	}
	return f.Declared, f.Declared != nil
}

// changePrefix marks changes that will not happen.
func changePrefix(e *audit.Entry) string {
	if e.Outcome == broker.Reject {
		return "not stored: "
	}
	return ""
}
