package natsconn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// parseSettings reads a context file. Keys are matched without case, the last of
// two equal keys counts, null is nothing, and a key that is not known is passed
// over, as in the nats tool. The error joins a PosError for each mistake; of
// syntax errors there is only the first, for nothing can be read after it.
func parseSettings(file string, data []byte) (settings, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return settings{}, syntaxError(file, data, err)
	}
	r := settingsReader{file: file, data: data}
	r.read()
	if len(r.errs) > 0 {
		return settings{}, errors.Join(r.errs...)
	}
	return r.s, nil
}

func syntaxError(file string, data []byte, err error) error {
	offset := len(data)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = int(syntax.Offset) - 1
	}
	line, col := lineCol(data, offset)
	return &PosError{File: file, Line: line, Col: col, Msg: withoutLetter(err.Error())}
}

// withoutLetter takes the offending character out of the message unless it is
// punctuation: it can be the first letter of a password without quotes.
func withoutLetter(msg string) string {
	const start = "invalid character '"
	rest, found := strings.CutPrefix(msg, start)
	if !found {
		return msg
	}
	char, after, found := strings.Cut(rest, "' ")
	if !found || strings.ContainsAny(char, `,:{}[]"\`) || char == "" {
		return msg
	}
	if strings.IndexFunc(char, unicode.IsSpace) >= 0 {
		return msg
	}
	return "invalid character " + after
}

// settingsReader walks the top level of a file that is known to be valid JSON.
type settingsReader struct {
	file string
	data []byte
	s    settings
	errs []error
}

func (r *settingsReader) read() {
	dec := json.NewDecoder(bytes.NewReader(r.data))
	first, err := dec.Token()
	if first == nil && err == nil {
		return
	}
	if first != json.Delim('{') {
		r.fail(int(dec.InputOffset())-1, "a context is a JSON object")
		return
	}
	for dec.More() {
		key, _ := dec.Token()
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			r.fail(int(dec.InputOffset()), "the value cannot be read")
			return
		}
		name, _ := key.(string)
		r.set(strings.ToLower(name), value, int(dec.InputOffset())-len(value))
	}
}

func (r *settingsReader) fail(offset int, msg string) {
	line, col := lineCol(r.data, offset)
	r.errs = append(r.errs, &PosError{File: r.file, Line: line, Col: col, Msg: msg})
}

// set stores one value at offset under its key; null changes nothing.
func (r *settingsReader) set(key string, value json.RawMessage, offset int) {
	if key == "tls_first" {
		if err := json.Unmarshal(value, &r.s.tlsFirst); err != nil {
			r.fail(offset, fmt.Sprintf("%s is true or false, not a %s", key, jsonKind(value)))
		}
		return
	}
	field := r.s.field(key)
	if field == nil {
		return
	}
	if err := json.Unmarshal(value, field); err != nil {
		r.fail(offset, fmt.Sprintf("%s is a string, not a %s", key, jsonKind(value)))
	}
}

func jsonKind(value json.RawMessage) string {
	switch value[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "list"
	case 't', 'f':
		return "boolean"
	}
	return "number"
}
