package broker

import (
	"reflect"
	"slices"
	"time"
)

// A Field describes one field of a configuration type.
type Field[C any] struct {
	Name  string       // wire name
	Kind  Kind         // how to show its values
	Since int          // the minor version that first knew it; 0: every supported line
	Get   func(*C) any // the wire value; nil when the field is left out
	Same  func(a, b *C) bool
	Copy  func(to, from *C)
}

// A FieldSet is a set of fields by their index in the table of their type.
type FieldSet uint64

// Has says whether the set holds field i.
func (s FieldSet) Has(i int) bool { return s&(1<<i) != 0 }

// Add puts field i into the set.
func (s *FieldSet) Add(i int) { *s |= 1 << i }

// scalar is a field that is left out when it has its zero value.
func scalar[C any, T comparable](name string, kind Kind, at func(*C) *T) Field[C] {
	var zero T
	return Field[C]{
		Name: name, Kind: kind,
		Get: func(c *C) any {
			if v := *at(c); v != zero {
				return v
			}
			return nil
		},
		Same: func(a, b *C) bool { return *at(a) == *at(b) },
		Copy: func(to, from *C) { *at(to) = *at(from) },
	}
}

// list is a field that holds a list; nil and empty are the same.
func list[C any, T comparable](name string, kind Kind, at func(*C) *[]T) Field[C] {
	return Field[C]{
		Name: name, Kind: kind,
		Get: func(c *C) any {
			if v := *at(c); len(v) > 0 {
				return v
			}
			return nil
		},
		Same: func(a, b *C) bool { return slices.Equal(*at(a), *at(b)) },
		Copy: func(to, from *C) { *at(to) = *at(from) },
	}
}

// instant is a field that holds a time; two are the same when they are the same
// instant in whatever zone.
func instant[C any](name string, at func(*C) **time.Time) Field[C] {
	return Field[C]{
		Name: name, Kind: KindValue,
		Get: func(c *C) any {
			if v := *at(c); v != nil {
				return *v
			}
			return nil
		},
		Same: func(a, b *C) bool {
			x, y := *at(a), *at(b)
			return x == y || x != nil && y != nil && x.Equal(*y)
		},
		Copy: func(to, from *C) { *at(to) = *at(from) },
	}
}

// metadata compares what users wrote, never what the server owns.
func metadata[C any](at func(*C) *map[string]string) Field[C] {
	return Field[C]{
		Name: "metadata", Kind: KindObject,
		Get: func(c *C) any {
			if m := UserMetadata(*at(c)); m != nil {
				return m
			}
			return nil
		},
		Same: func(a, b *C) bool { return userWithin(*at(a), *at(b)) && userWithin(*at(b), *at(a)) },
		Copy: func(to, from *C) { *at(to) = *at(from) },
	}
}

// userWithin says whether what users wrote in a stands in b too.
func userWithin(a, b map[string]string) bool {
	for k, v := range a {
		if w, ok := b[k]; !serverOwned(k) && (!ok || v != w) {
			return false
		}
	}
	return true
}

// object is a field with structure of its own, compared as a whole.
func object[C, T any](name string, at func(*C) *T) Field[C] {
	empty := func(v *T) bool {
		r := reflect.ValueOf(v).Elem()
		return r.IsZero() || r.Kind() == reflect.Slice && r.Len() == 0
	}
	return Field[C]{
		Name: name, Kind: KindObject,
		Get: func(c *C) any {
			if v := at(c); !empty(v) {
				return *v
			}
			return nil
		},
		Same: func(a, b *C) bool {
			x, y := at(a), at(b)
			return empty(x) && empty(y) || reflect.DeepEqual(*x, *y)
		},
		Copy: func(to, from *C) { *at(to) = *at(from) },
	}
}

// always makes a field show even its zero value, as the wire does.
func always[C any](f Field[C], value func(*C) any) Field[C] {
	f.Get = value
	return f
}

// since marks the line that first knew a field.
func since[C any](minor int, f Field[C]) Field[C] {
	f.Since = minor
	return f
}

// index maps names to places in a table.
func index[C any](fields []Field[C]) map[string]int {
	m := make(map[string]int, len(fields))
	for i := range fields {
		m[fields[i].Name] = i
	}
	return m
}
