package natsconn

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// PosError is a mistake at one place of a context file. It prints as
// file:line:col: message, and never with a value of the file.
type PosError struct {
	File string
	// Line and Col count from 1; Col counts characters.
	Line, Col int
	Msg       string
}

// Error gives file:line:col: message.
func (e *PosError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// lineCol gives the position of the character around the byte at offset. An offset
// past the end is the position of the last character, so that it can be looked at.
func lineCol(data []byte, offset int) (line, col int) {
	offset = max(0, min(offset, len(data)-1))
	for offset > 0 && !utf8.RuneStart(data[offset]) {
		offset--
	}
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}
