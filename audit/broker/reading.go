package broker

import "slices"

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
	var zero C
	for i := range fields {
		f := &fields[i]
		if !f.newerThan(v) {
			continue
		}
		if !f.Same(c, &zero) || v.AtLeast(12) && named.Has(i) {
			f.Copy(c, &zero)
			dropped = append(dropped, f.Name)
		}
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
