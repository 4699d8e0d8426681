package audit

import (
	"bytes"
	"encoding/json"
)

// The functions here take valid JSON apart without copying it: a snapshot keeps
// nearly all that a listing brings, as it came.

// eachMember calls f with the members of an object until it returns false. What
// is no object has no members.
func eachMember(data []byte, f func(key string, value json.RawMessage) bool) {
	at := space(data, 0)
	if at >= len(data) || data[at] != '{' {
		return
	}
	for at = space(data, at+1); at < len(data) && data[at] == '"'; at = space(data, at+1) {
		end := valueEnd(data, at)
		key := data[at+1 : max(end-1, at+1)]
		at = space(data, space(data, end)+1) // behind the colon
		end = valueEnd(data, at)
		if at >= end || !f(string(key), data[at:end:end]) {
			return
		}
		if at = space(data, end); at >= len(data) || data[at] != ',' {
			return
		}
	}
}

// elements are the elements of an array. What is no array has none.
func elements(data []byte) []json.RawMessage {
	at := space(data, 0)
	if at >= len(data) || data[at] != '[' {
		return nil
	}
	var all []json.RawMessage
	for at = space(data, at+1); at < len(data) && data[at] != ']'; at = space(data, at+1) {
		end := valueEnd(data, at)
		all = append(all, data[at:end:end])
		if at = space(data, end); at >= len(data) || data[at] != ',' {
			break
		}
	}
	return all
}

func space(data []byte, at int) int {
	for at < len(data) && (data[at] == ' ' || data[at] == '\n' || data[at] == '\t' || data[at] == '\r') {
		at++
	}
	return at
}

// valueEnd is the end of the value that starts at a place.
func valueEnd(data []byte, at int) int {
	depth := 0
	for at < len(data) {
		switch data[at] {
		case '"':
			at = stringEnd(data, at)
			if depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at // the end of what a bare value stands in
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return at
}

// stringEnd is the end of the string that starts at a place.
func stringEnd(data []byte, at int) int {
	at++
	for at < len(data) {
		quote := bytes.IndexByte(data[at:], '"')
		if quote < 0 {
			return len(data)
		}
		slash := bytes.IndexByte(data[at:at+quote], '\\')
		if slash < 0 {
			return at + quote + 1
		}
		at += slash + 2
	}
	return len(data)
}
