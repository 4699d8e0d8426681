package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
)

// InfoCell names the cell that loose info files make up.
const InfoCell = "files"

// readInfos reads what the API and the CLI print: one info, a list of them, or
// a response with them inside.
func readInfos(name string, data []byte) (*Snapshot, error) {
	cell := &Cell{Name: InfoCell, Complete: true}
	var taken time.Time
	if err := gather(cell, data, &taken); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Snapshot{Schema: SnapshotSchema, TakenAt: taken, Cells: []Cell{*cell}}, nil
}

// info is what tells the shapes apart.
type info struct {
	StreamName string          `json:"stream_name"`
	Name       string          `json:"name"`
	Config     json.RawMessage `json:"config"`
	State      json.RawMessage `json:"state"`
	Delivered  json.RawMessage `json:"delivered"`
	Created    time.Time       `json:"created"`
	Time       time.Time       `json:"ts"`
	// wrappers
	Consumer     json.RawMessage   `json:"consumer"`
	Stream       json.RawMessage   `json:"stream"`
	Consumers    []json.RawMessage `json:"consumers"`
	Streams      []json.RawMessage `json:"streams"`
	ConsumerInfo json.RawMessage   `json:"consumer_info"`
}

func gather(cell *Cell, data []byte, taken *time.Time) error {
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		return gatherAll(cell, list, taken)
	}
	var in info
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("not a snapshot, nor a stream or consumer info: %w", err)
	}
	if in.Time.After(*taken) {
		*taken = in.Time
	}
	return in.sort(cell, data, taken)
}

func gatherAll(cell *Cell, list []json.RawMessage, taken *time.Time) error {
	for _, one := range list {
		if err := gather(cell, one, taken); err != nil {
			return err
		}
	}
	return nil
}

func (in *info) sort(cell *Cell, data json.RawMessage, taken *time.Time) error {
	var config struct {
		Name     string   `json:"name"`
		Subjects []string `json:"subjects"`
	}
	_ = json.Unmarshal(in.Config, &config) // another shape is told below
	switch {
	case in.StreamName != "":
		cell.addStream(Stream{name: in.StreamName, Consumers: []Consumer{NewConsumer(data)}})
		return nil
	case len(in.Config) > 0 && len(in.Delivered) == 0 && config.Name != "":
		cell.addStream(Stream{name: config.Name, Config: in.Config, State: in.State, Created: in.Created})
		return nil
	case isObject(in.Consumer):
		return gather(cell, in.Consumer, taken)
	case isObject(in.ConsumerInfo):
		return gather(cell, in.ConsumerInfo, taken)
	case in.Streams != nil:
		return gatherAll(cell, in.Streams, taken)
	case in.Consumers != nil:
		var stream string
		if json.Unmarshal(in.Stream, &stream) == nil && stream != "" {
			cell.addStream(Stream{name: stream})
		}
		return gatherAll(cell, in.Consumers, taken)
	}
	return gatherCounts(cell, data)
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// gatherCounts takes the messages by subject, as `nats stream subjects --json`
// prints them. [Join] finds the stream that they belong to.
func gatherCounts(cell *Cell, data []byte) error {
	var counts map[string]uint64
	if err := json.Unmarshal(data, &counts); err != nil || len(counts) == 0 {
		return fmt.Errorf("not a snapshot, nor a stream or consumer info")
	}
	cell.Streams = append(cell.Streams, Stream{State: withCounts(nil, counts)})
	return nil
}

// settleCounts gives counts without a stream to the first stream that holds all
// their subjects.
func (c *Cell) settleCounts() {
	var named []Stream
	var loose []map[string]uint64
	for _, s := range c.Streams {
		if s.Name() != "" {
			named = append(named, s)
			continue
		}
		var state StreamState
		if json.Unmarshal(s.State, &state) == nil {
			loose = append(loose, state.Subjects)
		}
	}
	for _, counts := range loose {
		if i := slices.IndexFunc(named, func(s Stream) bool { return s.holds(counts) }); i >= 0 {
			named[i].State = withCounts(named[i].State, counts)
		}
	}
	c.Streams = named
}

func (s *Stream) holds(counts map[string]uint64) bool {
	d, err := broker.DecodeStream(s.Config)
	if err != nil {
		return false
	}
	for subject := range counts {
		if !slices.ContainsFunc(d.Config.Subjects, func(f string) bool { return broker.SubjectWithin(subject, f) }) {
			return false
		}
	}
	return true
}

// withCounts lays message counts into a stream's state.
func withCounts(state json.RawMessage, counts map[string]uint64) json.RawMessage {
	all := members{}
	if len(state) > 0 {
		if json.Unmarshal(state, &all) != nil {
			return state
		}
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range slices.Sorted(maps.Keys(counts)) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%d", k, counts[k])
	}
	b.WriteByte('}')
	all["subjects"] = b.Bytes()
	out, err := json.Marshal(all)
	if err != nil {
		return state
	}
	return out
}
