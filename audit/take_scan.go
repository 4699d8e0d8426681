package audit

import (
	"bytes"
	"encoding/json"
)

// The functions here take JSON apart without copying it, and without looking
// closer than they must: a snapshot keeps nearly all that a listing brings, as
// it came. What is no JSON gives an end that is not where it should be.

// walk calls f with the key of each member of an object and the place of its
// value, until f returns a negative end. It returns where the object ends; -1
// when it does not.
func walk(data []byte, f func(key []byte, at int) (end int)) int {
	at := space(data, 0)
	if at >= len(data) || data[at] != '{' {
		return -1
	}
	for at = space(data, at+1); at < len(data) && data[at] == '"'; at = space(data, at+1) {
		end := stringEnd(data, at)
		key := data[at+1 : max(end-1, at+1)]
		at = space(data, space(data, end)+1) // behind the colon
		if at = f(key, at); at < 0 {
			return -1
		}
		if at = space(data, at); at >= len(data) || data[at] != ',' {
			break
		}
	}
	if at >= len(data) || data[at] != '}' {
		return -1
	}
	return at + 1
}

// eachMember calls f with the members of an object until it returns false. What
// is no object has no members.
func eachMember(data []byte, f func(key []byte, value json.RawMessage) bool) {
	walk(data, func(key []byte, at int) int {
		end := valueEnd(data, at)
		if at >= end || !f(key, data[at:end:end]) {
			return -1
		}
		return end
	})
}

// elements are the elements of the array at a place, and where it ends; -1 when
// it does not. What is no array has no elements.
func elements(data []byte, at int) (all []json.RawMessage, end int) {
	if at >= len(data) || data[at] != '[' {
		return nil, valueEnd(data, at)
	}
	for at = space(data, at+1); at < len(data) && data[at] != ']'; at = space(data, at+1) {
		end := valueEnd(data, at)
		all = append(all, data[at:end:end])
		if at = space(data, end); at >= len(data) || data[at] != ',' {
			break
		}
	}
	if at >= len(data) || data[at] != ']' {
		return nil, -1
	}
	return all, at + 1
}

func space(data []byte, at int) int {
	for at < len(data) && (data[at] == ' ' || data[at] == '\n' || data[at] == '\t' || data[at] == '\r') {
		at++
	}
	return at
}

// valueEnd is the end of the value that starts at a place.
func valueEnd(data []byte, at int) int {
	if at >= len(data) {
		return at
	}
	switch data[at] {
	case '"':
		return stringEnd(data, at)
	case '{', '[':
		return nestedEnd(data, at)
	}
	for at < len(data) {
		switch data[at] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			return at
		}
		at++
	}
	return at
}

// nestedEnd is the end of the object or array that starts at a place.
func nestedEnd(data []byte, at int) int {
	depth := 0
	for ; at < len(data); at++ {
		switch marks[data[at]] {
		case quote:
			at = stringEnd(data, at) - 1
		case opens:
			depth++
		case closes:
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
	return len(data)
}

const (
	quote = iota + 1
	opens
	closes
)

var marks = [256]byte{'"': quote, '{': opens, '[': opens, '}': closes, ']': closes}

// stringEnd is the end of the string that starts at a place.
func stringEnd(data []byte, at int) int {
	for at++; at < len(data); at++ {
		i := bytes.IndexByte(data[at:], '"')
		if i < 0 {
			break
		}
		if at += i; data[at-1] != '\\' || !escaped(data, at) {
			return at + 1
		}
	}
	return len(data)
}

// escaped says whether an odd number of backslashes stands before a place.
func escaped(data []byte, at int) (odd bool) {
	for at--; at >= 0 && data[at] == '\\'; at-- {
		odd = !odd
	}
	return odd
}
