package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// members are the members of a JSON object that this version does not know.
type members map[string]json.RawMessage

// object writes the members of a JSON object with sorted keys.
type object map[string]any

func (o object) with(extra members) object {
	for k, v := range extra {
		if _, ok := o[k]; !ok {
			o[k] = v
		}
	}
	return o
}

// set adds a member unless its value is empty.
func (o object) set(key string, empty bool, value any) {
	if !empty {
		o[key] = value
	}
}

// MarshalJSON implements [json.Marshaler].
func (s Snapshot) MarshalJSON() ([]byte, error) {
	cells := s.Cells
	if cells == nil {
		cells = []Cell{}
	}
	return json.Marshal(object{"schema": SnapshotSchema, "taken_at": s.TakenAt, "cells": cells}.with(s.extra))
}

// MarshalJSON implements [json.Marshaler].
func (c Cell) MarshalJSON() ([]byte, error) {
	streams := c.Streams
	if streams == nil {
		streams = []Stream{}
	}
	o := object{
		"name": c.Name, "broker_version": c.BrokerVersion, "cluster": c.Cluster,
		"domain": c.Domain, "complete": c.Complete, "streams": streams, "account": object{},
	}
	o.set("account", len(c.Account) == 0, c.Account)
	o.set("missing", len(c.Missing) == 0, c.Missing)
	return json.Marshal(o.with(c.extra))
}

// MarshalJSON implements [json.Marshaler].
func (m Missing) MarshalJSON() ([]byte, error) {
	o := object{"what": m.What, "reason": m.Reason}
	o.set("stream", m.Stream == "", m.Stream)
	return json.Marshal(o.with(m.extra))
}

// MarshalJSON implements [json.Marshaler].
func (s Stream) MarshalJSON() ([]byte, error) {
	consumers := s.Consumers
	if consumers == nil {
		consumers = []Consumer{}
	}
	o := object{"consumers": consumers}
	o.set("created", s.Created.IsZero(), s.Created)
	o.set("config", len(s.Config) == 0, s.Config)
	o.set("state", len(s.State) == 0, s.State)
	return json.Marshal(o.with(s.extra))
}

// MarshalJSON implements [json.Marshaler].
func (c Consumer) MarshalJSON() ([]byte, error) { return c.raw, nil }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Consumer) UnmarshalJSON(b []byte) error {
	c.raw = bytes.Clone(b)
	return nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Snapshot) UnmarshalJSON(b []byte) error {
	return open(b, &s.extra, map[string]any{"schema": &s.Schema, "taken_at": &s.TakenAt, "cells": &s.Cells})
}

// UnmarshalJSON implements [json.Unmarshaler]. A cell that does not say whether
// it is complete was written by hand, and is.
func (c *Cell) UnmarshalJSON(b []byte) error {
	c.Complete = true
	return open(b, &c.extra, map[string]any{
		"name": &c.Name, "broker_version": &c.BrokerVersion, "cluster": &c.Cluster, "domain": &c.Domain,
		"account": &c.Account, "complete": &c.Complete, "missing": &c.Missing, "streams": &c.Streams,
	})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *Missing) UnmarshalJSON(b []byte) error {
	return open(b, &m.extra, map[string]any{"stream": &m.Stream, "what": &m.What, "reason": &m.Reason})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Stream) UnmarshalJSON(b []byte) error {
	return open(b, &s.extra, map[string]any{
		"created": &s.Created, "config": &s.Config, "state": &s.State, "consumers": &s.Consumers,
	})
}

// open reads the members of an object that are known into their places, and
// keeps the others.
func open(b []byte, extra *members, known map[string]any) error {
	var all members
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		to, ok := known[k]
		if !ok {
			if *extra == nil {
				*extra = members{}
			}
			(*extra)[k] = all[k]
			continue
		}
		if t, ok := to.(*time.Time); ok && string(all[k]) == `""` {
			*t = time.Time{}
			continue
		}
		if err := json.Unmarshal(all[k], to); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	return nil
}

// Write writes the snapshot as JSON with sorted keys, so that two snapshots
// diff well. The numbers stay as the broker wrote them.
func (s *Snapshot) Write(w io.Writer) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(tree)
}
