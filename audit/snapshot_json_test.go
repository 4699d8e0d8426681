package audit_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/audit"
)

// Everything that is in a file comes out again: fields that nobody knows, large
// numbers, and characters that a browser would mind.
func TestSnapshotIsLossless(t *testing.T) {
	t.Parallel()
	const file = `{"z": {"b": 1, "a": 2}, "schema": "natsmig.snapshot.v1", "taken_at": "2026-11-30T12:00:00Z", "cells": [
		{"name": "a<b>&c", "zone": [1, {"y": 1, "x": 2}], "broker_version": "2.14.4", "cluster": "", "domain": "d", "complete": false,
		 "account": {"z": 1, "memory": 18446744073709551615}, "missing": [{"what": "w", "stream": "S", "reason": "r"}, {"reason": "r", "what": "w"}],
		 "streams": [{"created": "2026-11-30T12:00:00.123456789Z", "state": {"z": 1, "a": 2}, "more": {"z": 1, "a": "<"}, "config": {"name": "S", "b": {"z": 1e3, "a": 1.0}},
		  "consumers": [{"name": "k", "num_pending": 18446744073709551615, "config": {"z": "<>&\u2028", "a": null}}]}]},
		{"name": "empty", "account": {}, "broker_version": "", "cluster": "", "domain": "", "complete": true, "streams": []}]}`
	s, err := audit.ReadSnapshot("x.json", []byte(file))
	must(t, err)
	var got bytes.Buffer
	must(t, s.Write(&got))
	if diff := cmp.Diff(indented(t, []byte(file)), got.String()); diff != "" {
		t.Errorf("written (+) is not what was read (-):\n%s", diff)
	}
	raw, err := json.Marshal(s)
	must(t, err)
	if diff := cmp.Diff(indented(t, raw), got.String()); diff != "" {
		t.Errorf("written (+) is not what it marshals to (-):\n%s", diff)
	}
}

// indented writes JSON with its keys in order.
func indented(t *testing.T, data []byte) string {
	t.Helper()
	var tree any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	must(t, dec.Decode(&tree))
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	must(t, enc.Encode(tree))
	return out.String()
}
