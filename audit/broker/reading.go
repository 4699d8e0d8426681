package broker

import (
	"slices"
	"strings"
)

// reading is what a request's JSON came to, see [Decoded].
type reading struct {
	err     *APIError
	bad     string
	unknown []string
	named   FieldSet
}

// readAs does what a broker of version v does on reading the JSON: from 2.12 it
// refuses what it does not know, before that it drops it, whatever the value is
// (jetstream_api.go:1383 of 2.15.3).
func readAs[C any](v Version, c *C, fields []Field[C], r reading) (dropped []string, no *refusal) {
	strict := v.AtLeast(12)
	if r.err != nil && (strict || !slices.Contains(r.unknown, r.bad) && !dropsField(v, fields, r.bad)) {
		return nil, &refusal{r.bad, v.invalidJSON(r.err)}
	}
	dropped = append(drop(c, fields, v, r.named), r.unknown...)
	if strict && len(dropped) > 0 {
		return nil, &refusal{dropped[0], unknownField(dropped[0])}
	}
	return dropped, nil
}

func dropsField[C any](v Version, fields []Field[C], name string) bool {
	return slices.ContainsFunc(fields, func(f Field[C]) bool { return f.Name == name && f.newerThan(v) })
}

// drop clears the fields that the version does not know, and tells those of
// them that had a value; a strict broker minds the name alone.
func drop[C any](c *C, fields []Field[C], v Version, named FieldSet) (dropped []string) {
	var zero *C // made when it is needed: on the newest line it never is
	for i := range fields {
		f := &fields[i]
		if !f.newerThan(v) {
			continue
		}
		if zero == nil {
			zero = new(C)
		}
		if !f.Same(c, zero) || v.AtLeast(12) && named.Has(i) {
			dropped = append(dropped, f.Name)
		}
		f.Copy(c, zero) // an empty list too
	}
	return dropped
}

func (f *Field[C]) newerThan(v Version) bool { return f.Since > 0 && !v.AtLeast(f.Since) }

// invalidJSON is err as the version words it: the reason is told from 2.11.
func (v Version) invalidJSON(err *APIError) *APIError {
	if v.AtLeast(11) {
		return err
	}
	return &APIError{err.Code, err.ErrCode, "invalid JSON"}
}

func (v Version) invalidValue(field, why string) *refusal {
	return &refusal{field, v.invalidJSON(invalidJSON(why))}
}

// dropInner does for the parts of a stream's objects what [readAs] does for its
// fields. Named are the parts that the JSON names, see [Decoded].
func (v Version) dropInner(c *StreamConfig, named []string) (dropped []string, no *refusal) {
	note := func(field, name string, minor int, has bool) bool {
		if has = has && !v.AtLeast(minor); has {
			dropped = append(dropped, field+"."+name)
			if v.AtLeast(12) && no == nil {
				no = &refusal{field, unknownField(name)}
			}
		}
		return has
	}
	if p := c.Placement; p != nil && note("placement", "preferred", 11, p.Preferred != "") {
		q := *p
		q.Preferred = ""
		c.Placement = &q
	}
	cut := func(field string, s *Source) *Source {
		if s == nil {
			return nil
		}
		q := *s
		if note(field, "subject_transforms", 10, len(s.SubjectTransforms) > 0) {
			q.SubjectTransforms = nil
		}
		if note(field, "consumer", 14, s.Consumer != nil) {
			q.Consumer = nil
		}
		return &q
	}
	for _, name := range named { // today these are consumers, from 2.14
		if v.AtLeast(12) && !v.AtLeast(14) {
			field, inner, _ := strings.Cut(name, ".")
			return []string{name}, &refusal{field, unknownField(inner)}
		}
	}
	c.Mirror = cut("mirror", c.Mirror)
	if len(c.Sources) > 0 {
		c.Sources = slices.Clone(c.Sources)
		for i, s := range c.Sources {
			c.Sources[i] = cut("sources", s)
		}
	}
	return dropped, no
}
