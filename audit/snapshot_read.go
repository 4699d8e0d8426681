package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ReadSnapshot reads a snapshot from the contents of a file. Besides
// natsmig.snapshot.v1 it takes what the nats CLI and the API give: consumer
// info, stream info, lists and responses of them. Such a file becomes one cell
// named after it, with an unknown broker version. The name is used in errors.
func ReadSnapshot(name string, data []byte) (*Snapshot, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s: not text: it is not valid UTF-8", name)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s: the file is empty", name)
	}
	if err := checkJSON(name, data); err != nil {
		return nil, err
	}
	var head struct {
		Schema *string          `json:"schema"`
		Cells  *json.RawMessage `json:"cells"`
	}
	if data[firstByte(data)] == '{' {
		if err := json.Unmarshal(data, &head); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	switch {
	case head.Schema == nil && head.Cells == nil:
		return readInfos(name, data)
	case head.Schema != nil && *head.Schema != SnapshotSchema:
		return nil, fmt.Errorf("%s: schema is %q, want %q", name, *head.Schema, SnapshotSchema)
	}
	var s Snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: read snapshot: %w", name, err)
	}
	s.Schema = SnapshotSchema
	return &s, nil
}

// byteOrderMark is what some shells begin a file with.
var byteOrderMark = []byte("\ufeff")

func firstByte(data []byte) int { return len(data) - len(bytes.TrimLeft(data, " \t\r\n")) }

// checkJSON gives the position of a syntax error.
func checkJSON(name string, data []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(data, &v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	line, col := position(data, int(syntax.Offset)-1)
	return fmt.Errorf("%s:%d:%d: %w", name, line, col, err)
}

// position turns a byte offset into a line and a column, both from 1.
func position(data []byte, offset int) (line, col int) {
	before := data[:min(max(offset, 0), len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// Join puts several snapshots together: cells of one name become one, so that a
// stream info and the infos of its consumers can come from files of their own.
func Join(snapshots ...*Snapshot) *Snapshot {
	out := &Snapshot{Schema: SnapshotSchema}
	for _, s := range snapshots {
		if s.TakenAt.After(out.TakenAt) {
			out.TakenAt = s.TakenAt
		}
		for _, c := range s.Cells {
			out.add(c)
		}
	}
	for i := range out.Cells {
		out.Cells[i].settleCounts()
	}
	return out
}

func (s *Snapshot) add(c Cell) {
	for i := range s.Cells {
		if have := &s.Cells[i]; have.Name == c.Name {
			have.Complete = have.Complete && c.Complete
			have.Missing = append(have.Missing, c.Missing...)
			for _, st := range c.Streams {
				have.addStream(st)
			}
			return
		}
	}
	s.Cells = append(s.Cells, c)
}

func (c *Cell) addStream(s Stream) {
	for i := range c.Streams {
		if have := &c.Streams[i]; have.Name() == s.Name() {
			if len(have.Config) == 0 {
				have.Config, have.State, have.Created = s.Config, s.State, s.Created
			}
			have.Consumers = append(have.Consumers, s.Consumers...)
			return
		}
	}
	c.Streams = append(c.Streams, s)
}

// Name is the stream's name.
func (s *Stream) Name() string {
	var config struct{ Name string }
	if err := json.Unmarshal(s.Config, &config); err == nil && config.Name != "" {
		return config.Name
	}
	return s.name
}
