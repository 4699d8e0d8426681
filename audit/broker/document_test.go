package broker_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A document is a JSON object with its members in order, so that members can
// be doubled, spelled in other cases and ill-typed.
type document []member

type member struct{ name, value string }

// String is the JSON.
func (d document) String() string {
	parts := make([]string, len(d))
	for i, m := range d {
		parts[i] = fmt.Sprintf("%q:%s", m.name, m.value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (d document) get(name string) string {
	for _, m := range d {
		if m.name == name {
			return m.value
		}
	}
	return ""
}

func (d document) text(name string) string {
	var s string
	if err := json.Unmarshal([]byte(d.get(name)), &s); err != nil {
		return ""
	}
	return s
}

// with sets a member.
func (d document) with(name string, value any) document {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	next := slices.Clone(d)
	for i := range next {
		if next[i].name == name {
			next[i].value = string(raw)
			return next
		}
	}
	return append(next, member{name, string(raw)})
}

func (d document) without(name string) document {
	return slices.DeleteFunc(slices.Clone(d), func(m member) bool { return m.name == name })
}

// parse reads an object as the broker wrote it, without what the server owns.
func parse(raw json.RawMessage) document {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		panic(err)
	}
	var d document
	for name, value := range members {
		d = append(d, member{name, string(value)})
	}
	slices.SortFunc(d, func(a, b member) int { return strings.Compare(a.name, b.name) })
	if m := d.get("metadata"); m != "" {
		var meta map[string]string
		if err := json.Unmarshal([]byte(m), &meta); err != nil {
			panic(err)
		}
		d = d.without("metadata")
		for k := range meta {
			if strings.HasPrefix(k, "_nats.") {
				delete(meta, k)
			}
		}
		if len(meta) > 0 {
			d = d.with("metadata", meta)
		}
	}
	return d
}

// parseOrdered reads a request as it was written: in its order, with members of
// one name twice.
func parseOrdered(text string) document {
	dec := json.NewDecoder(strings.NewReader(text))
	if _, err := dec.Token(); err != nil {
		panic(err)
	}
	var d document
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			panic(err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			panic(err)
		}
		d = append(d, member{fmt.Sprint(name), string(value)})
	}
	return d
}

// spoil makes a document that a broker may not be able to read.
func (r *random) spoil(d document) document {
	d = slices.Clone(d)
	if len(d) == 0 {
		return d
	}
	i := r.IntN(len(d))
	switch r.IntN(7) {
	case 0:
		d[i].value = one(r, `"text"`, `1.5`, `1e3`, `-1`, `[]`, `{}`, `true`, `99999999999999999999`, `""`)
	case 1, 2:
		d[i].value = "null"
	case 3:
		d[i].name = one(r, strings.ToUpper(d[i].name), strings.ToUpper(d[i].name[:1])+d[i].name[1:])
	case 4:
		d = append(d, member{one(r, "surprise", "ack_wiat", "_comment", "pause"), one(r, "1", "null", `"x"`)})
	case 5:
		d = append(d, d[i])
		d[i].value = one(r, "null", "0", `""`, d[i].value)
	case 6:
		d = append(d, member{strings.ToUpper(d[i].name), "null"})
	}
	return d
}

// shrink removes members one by one, as long as the documents still fail.
func shrink(docs []*document, keep []string, fails func() bool) {
	for progress := true; progress; {
		progress = false
		for _, d := range docs {
			for i := range slices.Backward(*d) {
				if slices.Contains(keep, (*d)[i].name) {
					continue
				}
				was := *d
				*d = slices.Delete(slices.Clone(was), i, i+1)
				if fails() {
					progress = true
				} else {
					*d = was
				}
			}
		}
	}
}
