package audit

import (
	"slices"

	"github.com/natsmig/natsmig/audit/broker"
)

// fate is what classification looks at: one configuration before, as declared,
// and after, each in canonical form. Nil means that there is none.
type fate[C any] struct {
	fields   []broker.Field[C]
	live     *C // what the broker holds
	declared *C // what the declaration says, nothing filled in
	chosen   broker.FieldSet
	after    *C // what the broker would hold
	asked    *C // the request with defaults, which a refusal throws away
	bare     *C // what the declaration alone would come to
	base     *C // the last state that declaration and broker had in common

	outcome broker.Outcome
	refused []string
	dropped []string
	bad     string // the field whose declared value can not be read, or ""
	note    func(field string) *Note
	follows func(i int, d, after *C) string // why an undeclared field moves, or ""
}

// classify says what happens to each field that has something to tell.
func (f *fate[C]) classify() []Field {
	var out []Field
	for i := range f.fields {
		class, note := f.class(i)
		if class == Same {
			continue
		}
		out = append(out, f.field(i, class, note))
	}
	return out
}

func (f *fate[C]) field(i int, class Class, note string) Field {
	d := &f.fields[i]
	out := Field{Name: d.Name, Class: class, Note: note, Kind: d.Kind}
	if f.live != nil {
		out.Have = d.Get(f.live)
	}
	if f.after != nil {
		out.After = d.Get(f.after)
	}
	if d.Name == f.bad { // a default stands in its place
		return out
	}
	if f.chosen.Has(i) {
		out.Declared = d.Get(f.declared)
	}
	if f.outcome == broker.Reject && f.asked != nil {
		out.Asked = d.Get(f.asked)
	}
	out.Moved = f.moved(i, class)
	if out.Moved == MovedBroker && note == "" {
		out.Note = "changed on the broker since the last common state: applying puts it back"
	}
	if n := f.note(d.Name); n != nil && n.Value != nil && note == "" {
		out.Note = n.Message
	}
	return out
}

// moved compares three ways: what is live and what would be, each with the last
// state that they had in common.
func (f *fate[C]) moved(i int, class Class) Moved {
	if f.base == nil || f.live == nil || f.after == nil || f.fields[i].Same(f.live, f.after) || class == Rejected {
		return ""
	}
	switch {
	case f.fields[i].Same(f.base, f.live):
		return MovedDeclaration
	case f.fields[i].Same(f.base, f.after):
		return MovedBroker
	}
	return MovedBoth
}

func (f *fate[C]) class(i int) (Class, string) {
	d := &f.fields[i]
	chosen := f.chosen.Has(i)
	switch {
	case slices.Contains(f.dropped, d.Name):
		return Ignored, "this broker does not know the field and drops it"
	case f.outcome == broker.Reject:
		return f.classRefused(i)
	case f.outcome == broker.Untouched:
		return f.classBound(i)
	case f.after == nil:
		return Same, ""
	case f.live == nil:
		return f.classNew(i)
	case d.Same(f.live, f.after):
		return f.classKept(i)
	case !chosen:
		if why := f.follows(i, f.declared, f.after); why != "" {
			return Change, why
		}
		return SilentReset, ""
	case d.Same(f.declared, f.after):
		if lost := droppedKeys(d.Get(f.live), d.Get(f.after)); lost != "" {
			return SilentReset, lost
		}
		return Change, ""
	case d.Get(f.declared) == nil:
		return Change, ""
	}
	return Clamp, f.follows(i, f.declared, f.after)
}

func (f *fate[C]) classRefused(i int) (Class, string) {
	d := &f.fields[i]
	if slices.Contains(f.refused, d.Name) {
		return Rejected, ""
	}
	if f.live == nil || f.asked == nil || d.Same(f.live, f.asked) || !f.chosen.Has(i) {
		return Same, ""
	}
	return Ignored, "lost with the refused request"
}

func (f *fate[C]) classBound(i int) (Class, string) {
	d := &f.fields[i]
	switch {
	case f.live == nil || f.declared == nil:
		return Same, ""
	case f.chosen.Has(i) && !d.Same(f.live, f.declared) && d.Get(f.declared) != nil:
		if f.bare != nil && d.Same(f.live, f.bare) {
			return Same, ""
		}
		return Ignored, "binding never updates"
	case !f.chosen.Has(i) && f.bare != nil && !d.Same(f.live, f.bare):
		return Orphan, ""
	}
	return Same, ""
}

// classNew is a field of something that is created.
func (f *fate[C]) classNew(i int) (Class, string) {
	d := &f.fields[i]
	switch {
	case f.chosen.Has(i) && !d.Same(f.declared, f.after) && d.Get(f.declared) != nil:
		return Clamp, f.follows(i, f.declared, f.after)
	case !f.chosen.Has(i) && d.Get(f.after) != nil && d.Name != "name" && d.Name != "num_replicas":
		return ServerDefault, ""
	}
	return Same, ""
}

// classKept is a field that is afterwards as it was.
func (f *fate[C]) classKept(i int) (Class, string) {
	d := &f.fields[i]
	switch {
	case f.chosen.Has(i) && !d.Same(f.declared, f.after) && d.Get(f.declared) != nil:
		return Clamp, f.follows(i, f.declared, f.after)
	case !f.chosen.Has(i) && f.bare != nil && !d.Same(f.live, f.bare):
		return Orphan, ""
	}
	return Same, ""
}

// droppedKeys names the keys of a map that an update removes: a map is replaced
// as a whole, so leaving a key out is like leaving a field out.
func droppedKeys(have, after any) string {
	was, ok := have.(map[string]string)
	if !ok {
		return ""
	}
	next, _ := after.(map[string]string)
	var lost []string
	for k, v := range was {
		if _, kept := next[k]; !kept {
			lost = append(lost, k+" "+v+" is removed")
		}
	}
	return join(lost)
}
