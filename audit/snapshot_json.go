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
			o[k] = sorted(v)
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
func (s Snapshot) MarshalJSON() ([]byte, error) { return json.Marshal(s.parts()) }

// MarshalJSON implements [json.Marshaler].
func (c Cell) MarshalJSON() ([]byte, error) { return json.Marshal(c.parts()) }

// MarshalJSON implements [json.Marshaler].
func (s Stream) MarshalJSON() ([]byte, error) { return json.Marshal(s.parts()) }

// parts is the snapshot as objects whose leaves sort themselves when they are
// written, one at a time: all at once they would need many times the memory.
func (s *Snapshot) parts() object {
	cells := make([]object, len(s.Cells))
	for i := range s.Cells {
		cells[i] = s.Cells[i].parts()
	}
	return object{"schema": SnapshotSchema, "taken_at": s.TakenAt, "cells": cells}.with(s.extra)
}

func (c *Cell) parts() object {
	streams := make([]object, len(c.Streams))
	for i := range c.Streams {
		streams[i] = c.Streams[i].parts()
	}
	o := object{
		"name": c.Name, "broker_version": c.BrokerVersion, "cluster": c.Cluster,
		"domain": c.Domain, "complete": c.Complete, "streams": streams, "account": object{},
	}
	o.set("account", len(c.Account) == 0, sorted(c.Account))
	missing := make([]object, len(c.Missing))
	for i, m := range c.Missing {
		missing[i] = object{"what": m.What, "reason": m.Reason}
		missing[i].set("stream", m.Stream == "", m.Stream)
		missing[i].set("asked", len(m.Asked) == 0, m.Asked)
		missing[i] = missing[i].with(m.extra)
	}
	o.set("missing", len(missing) == 0, missing)
	return o.with(c.extra)
}

func (s *Stream) parts() object {
	consumers := make([]sorted, len(s.Consumers))
	for i, c := range s.Consumers {
		consumers[i] = sorted(c.raw)
	}
	o := object{"consumers": consumers}
	o.set("created", s.Created.IsZero(), s.Created)
	o.set("config", len(s.Config) == 0, sorted(s.Config))
	o.set("state", len(s.State) == 0, sorted(s.State))
	return o.with(s.extra)
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
	return open(b, &m.extra, map[string]any{"stream": &m.Stream, "what": &m.What, "reason": &m.Reason, "asked": &m.Asked})
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
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s.parts()); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

// sorted is JSON that is written with its keys in order.
type sorted json.RawMessage

// MarshalJSON implements [json.Marshaler].
func (raw sorted) MarshalJSON() ([]byte, error) {
	var tree any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(tree)
	return out.Bytes(), err
}
