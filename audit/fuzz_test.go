package audit_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// FuzzReadSnapshot looks for panics in reading, indexing and judging a snapshot,
// and for snapshots that do not survive being written.
func FuzzReadSnapshot(f *testing.F) {
	for _, seed := range []string{
		`{"schema": "natsmig.snapshot.v1", "taken_at": "2026-01-01T00:00:00Z", "x": 1, "cells": [{"name": "a", "broker_version": "2.14.4", "account": {"limits": {"max_streams": 3}},
		  "complete": false, "missing": [{"stream": "S", "what": "w", "reason": "r"}], "streams": [{"config": {"name": "S", "subjects": ["s.>"], "retention": "workqueue"}, "state": {"messages": 3},
		  "created": "", "consumers": [{"name": "d", "config": {"durable_name": "d", "ack_policy": "explicit", "backoff": [1, 2]}, "delivered": {"stream_seq": 3}, "num_redelivered": 1}]}]}]}`,
		`{"stream_name": "S", "name": "c", "config": {"ack_policy": "explicit"}, "ts": "2026-01-01T00:00:00Z"}`,
		`{"config": {"name": "S"}, "state": {"messages": 1}}`,
		`[{"stream_name": "S", "name": "c"}, {"config": {"name": "S"}}]`,
		`{"consumers": [], "stream": "S"}`, `{"streams": [{"config": {"name": "S"}}]}`, `{"consumer": {"stream_name": "S"}}`,
		`{"s.a": 3, "s.b": 4}`, `{"cells": null}`, `{"cells": [null]}`, `{"cells": [{"streams": [null, {"consumers": [null]}]}]}`,
		`null`, `[]`, `[[[]]]`, `"text"`, `{"consumer_info": {"consumer_info": {}}}`, `{"config": {"name": "S", "sources": [null], "mirror": null}}`,
		`{"cells": [{"account": {"tiers": {"R1": {"limits": {"max_consumers": 1}}}}, "cluster": "C", "broker_version": "v2.9.0-beta.1"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := audit.ReadSnapshot("s.json", data)
		if err != nil {
			return
		}
		first := written(t, s)
		again, err := audit.ReadSnapshot("s.json", first)
		if err != nil {
			t.Fatalf("what was written can not be read: %v\n%s", err, first)
		}
		if diff := cmp.Diff(string(first), string(written(t, again))); diff != "" {
			t.Errorf("written again it differs:\n%s", diff)
		}
		if _, err := audit.FromLive(s); err != nil {
			return
		}
		fleet, err := audit.Index(audit.Join(s, again), broker.Version{})
		if err != nil {
			fleet, err = audit.Index(s, broker.Version{})
		}
		if err != nil {
			return
		}
		judge(t, fleet)
	})
}

func written(t *testing.T, s *audit.Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// judge audits a fleet by itself, and over what is adopted from it.
func judge(t *testing.T, fleet *audit.Fleet) {
	t.Helper()
	if _, err := audit.Compare(fleet, nil, audit.Options{Since: []*audit.Fleet{fleet, fleet}}); err != nil {
		t.Errorf("judge what is live: %v", err)
	}
	r, err := audit.Compare(fleet, audit.Adopt(fleet, audit.AdoptOptions{Ephemerals: true, Internal: true}), audit.Options{})
	if err != nil {
		return // a cell without anything to declare
	}
	audit.NewBaseline(r)
}

// FuzzReadBaseline looks for panics, and for baselines that do not survive being
// written.
func FuzzReadBaseline(f *testing.F) {
	for _, seed := range []string{
		`{"schema": "natsmig.baseline.v1", "findings": [{"cell": "c", "stream": "s", "consumer": "d", "code": "NM201", "field": "ack_wait"}]}`,
		`{"schema": "natsmig.baseline.v1", "findings": null}`, `{"schema": "natsmig.baseline.v2"}`, `{"schema": "natsmig.baseline.v1"} x`, `[]`, `{`, ``, `{"findngs": []}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := audit.ReadBaseline("b.json", data)
		if err != nil {
			return
		}
		var text bytes.Buffer
		if err := b.Write(&text); err != nil {
			t.Fatal(err)
		}
		again, err := audit.ReadBaseline("b.json", text.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b, again); diff != "" {
			t.Errorf("(-had +has):\n%s", diff)
		}
	})
}

// FuzzParseVersion wants what is read to be written the same.
func FuzzParseVersion(f *testing.F) {
	for _, seed := range []string{"2.15.3", "v2.10.27", "2.15", "2.15.0-RC.1", "2.9.0+build", " 2.12.1 ", "2", "2.1.2.3", "-1.2", "2.x", "", "99999999999999999999.1", "2.+1", "2.15.999", "2.15.0999", "02.015.03"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := broker.ParseVersion(s)
		if err != nil {
			if v != (broker.Version{}) {
				t.Errorf("%q: an error and %v", s, v)
			}
			return
		}
		again, err := broker.ParseVersion(v.String())
		if err != nil || again != v {
			t.Errorf("%q: read as %v, written and read as %v, %v", s, v, again, err)
		}
		if v.IsZero() != (v == broker.Version{}) || v.Known() && !v.AtLeast(9) {
			t.Errorf("%q: %+v: zero %t, known %t", s, v, v.IsZero(), v.Known())
		}
	})
}
