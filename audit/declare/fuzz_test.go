package declare_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/declare"
	"github.com/natsmig/natsmig/internal/strictyaml"
)

// fuzzFleet is what fuzzed declarations are audited over.
const fuzzFleet = `{"cells": [
{"name": "old", "broker_version": "2.9.25", "streams": [{"config": {"name": "S", "subjects": ["s.>"]}, "consumers": [
  {"name": "d", "config": {"durable_name": "d", "ack_policy": "explicit", "ack_wait": 30000000000, "max_deliver": -1, "max_waiting": 512, "max_ack_pending": 65536}}]}]},
{"name": "new", "broker_version": "2.16.0", "streams": [{"config": {"name": "S", "subjects": ["s.>"], "retention": "workqueue"}, "consumers": [
  {"name": "d", "config": {"durable_name": "d", "ack_policy": "explicit", "backoff": [1000000000], "max_deliver": 2}}]}]},
{"name": "prod", "broker_version": "2.15.3", "cluster": "C", "streams": [
  {"config": {"name": "S", "subjects": ["s.>"], "retention": "interest", "num_replicas": 3, "max_age": 3600000000000, "metadata": {"a": "b"}},
   "state": {"messages": 5, "first_seq": 1, "last_seq": 5, "subjects": {"s.a": 3, "s.b": 2}}, "consumers": [
    {"name": "d", "config": {"durable_name": "d", "name": "d", "ack_policy": "explicit", "backoff": [1000000000, 5000000000], "ack_wait": 1000000000,
     "max_deliver": 3, "max_waiting": 512, "max_ack_pending": 1000, "filter_subjects": ["s.a", "s.b"]}, "num_ack_pending": 1, "num_redelivered": 1,
     "delivered": {"consumer_seq": 9, "stream_seq": 5}},
    {"name": "e", "config": {"name": "e", "ack_policy": "none", "inactive_threshold": 5000000000}},
    {"name": "p", "config": {"durable_name": "p", "ack_policy": "all", "deliver_subject": "p.1", "deliver_group": "g"}, "push_bound": true},
    {"name": "bad", "config": {"max_deliver": 1}}]},
  {"config": {"name": "ORDERS", "retention": "workqueue", "subjects": ["orders.>"], "consumer_limits": {"max_ack_pending": 10, "inactive_threshold": 60000000000}},
   "consumers": [{"name": "billing", "config": {"durable_name": "billing", "ack_policy": "explicit", "future": 1}}]}]}]}`

// FuzzRead looks for panics in reading and comparing, for places outside the
// file, for reports that differ between two runs, and for declarations that do
// not survive being written.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/cases/*.txtar", "testdata/mistakes/*.txtar", "testdata/rules/NM2*.txtar"} {
		for _, s := range stories(f, pattern) {
			for _, file := range s.Files {
				if _, _, ok := command(file.Name); !ok {
					f.Add(file.Name, file.Data)
				}
			}
		}
	}
	s, err := audit.ReadSnapshot("fleet.json", []byte(fuzzFleet))
	if err != nil {
		f.Fatal(err)
	}
	fleet, err := audit.Index(s, broker.Version{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if len(data) > 1<<16 {
			t.Skip("large files only take long")
		}
		set, err := declare.Read(name, data)
		if err != nil {
			if pos, ok := errors.AsType[*strictyaml.PosError](err); ok {
				wantInside(t, data, audit.Position{Line: pos.Line, Col: pos.Col})
			}
			return
		}
		for _, d := range set.Declarations {
			wantInside(t, data, d.Position)
			for _, at := range d.At {
				wantInside(t, data, at)
			}
		}
		wantSameReport(t, fleet, set)
		wantWritable(t, set.Declarations)
	})
}

func wantInside(t *testing.T, data []byte, p audit.Position) {
	t.Helper()
	lines := 1
	for _, r := range string(data) {
		if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) {
			lines++
		}
	}
	if p.Line < 0 || p.Col < 0 || p.Line > lines+1 || p.Col > utf8.RuneCount(data)+1 {
		t.Errorf("%d:%d is outside the file", p.Line, p.Col)
	}
}

func wantSameReport(t *testing.T, fleet *audit.Fleet, set *declare.Set) {
	t.Helper()
	compare := func() (*audit.Report, string) {
		for _, d := range set.Declarations {
			d.Target = audit.Target{}
		}
		r, err := audit.Compare(fleet, set.Declarations, audit.Options{Policy: set.Policy})
		if err != nil {
			return nil, err.Error()
		}
		return r, ""
	}
	first, err := compare()
	second, again := compare()
	if err != again {
		t.Errorf("error %q, and then %q", err, again)
	}
	if first == nil {
		return
	}
	if diff := cmp.Diff(string(toJSON(t, first)), string(toJSON(t, second))); diff != "" {
		t.Errorf("two reports of the same input (-first +second):\n%s", diff)
	}
	tell(first, nil, "")
}

// wantWritable writes declarations, unless there are two of one thing or they
// have what only a broker can refuse, and reads them back.
func wantWritable(t *testing.T, ds []*audit.Declaration) {
	t.Helper()
	seen := map[string]bool{}
	for _, d := range ds {
		bad := d.Request != nil && d.Request.Err != nil || d.StreamRequest != nil && d.StreamRequest.Err != nil
		if bad || d.Stream == "" || d.Writer == "" || seen[d.Name()] {
			return
		}
		seen[d.Name()] = true
	}
	if len(ds) == 0 {
		return
	}
	var text bytes.Buffer
	if err := declare.Write(&text, ds); err != nil {
		t.Fatal(err)
	}
	set, err := declare.Read("written.yaml", text.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, &text)
	}
	want, got := plain(ds), plain(set.Declarations)
	for i := range want {
		want[i].Declared = 0
	}
	for i := range got {
		got[i].Declared = 0
	}
	if diff := cmp.Diff(byName(want), byName(got)); diff != "" {
		t.Errorf("what is read is not what was written (-written +read):\n%s\n%s", diff, &text)
	}
}
