package rehearse_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/rehearse"
)

func diff(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestEachWriter has every writer meet a live durable, and nothing.
func TestEachWriter(t *testing.T) {
	t.Parallel()
	const stream = `{"name": "ORDERS", "subjects": ["orders.>"], "retention": "limits", "num_replicas": 1}`
	live := func(name string) string {
		return `{"durable_name": "` + name + `", "ack_policy": "explicit", "ack_wait": 60000000000, "max_deliver": 5, "max_ack_pending": 65536, "description": "d", "filter_subject": "orders.new"}`
	}
	declared := func(name string) string {
		return `{"durable_name": "` + name + `", "ack_policy": "explicit", "max_deliver": 7, "filter_subject": "orders.new"}`
	}
	w := (&world{}).stream(stream, live("bound"), live("merged"), live("replaced"), live("wanted"))
	w.declare(t, audit.Replace, "ORDERS", declared("replaced"))
	w.declare(t, audit.Merge, "ORDERS", declared("merged"))
	w.declare(t, audit.Bind, "ORDERS", declared("bound"))
	w.declare(t, audit.Create, "ORDERS", declared("wanted"))
	for _, writer := range audit.Writers() {
		w.declare(t, writer, "ORDERS", declared("new-"+string(writer)))
	}
	onEachBroker(t, func(t *testing.T, binary string) {
		r := w.run(t, rehearse.Options{Binary: binary})
		wanted := "ORDERS/wanted: reject consumer already exists (10148)"
		if r.BrokerVersion == "2.9.25" { // it knows no actions
			wanted = "ORDERS/wanted: update"
		}
		agreeing(t, r,
			"ORDERS/bound: untouched", "ORDERS/merged: update",
			"ORDERS/new-bind: create", "ORDERS/new-create: create", "ORDERS/new-merge: create", "ORDERS/new-replace: create",
			"ORDERS/replaced: update", wanted)
		bound := r.Entries[0].Broker
		if want := "nats: configuration requests max deliver to be 7, but consumer's value is 5"; bound.Client != want {
			t.Errorf("the client says %q to the bound durable, want %q", bound.Client, want)
		}
		created := toJSON(t, r.Entries[2].Broker.After)
		if !strings.Contains(created, `"max_ack_pending": 65536`) {
			t.Errorf("the legacy client did not write what it writes:\n%s", created)
		}
	})
}

// TestStreamWriters does so for streams.
func TestStreamWriters(t *testing.T) {
	t.Parallel()
	live := func(name string) string {
		return `{"name": "` + name + `", "subjects": ["` + name + `.>"], "retention": "limits", "num_replicas": 1, "max_age": 3600000000000, "description": "d"}`
	}
	w := (&world{}).stream(live("A")).stream(live("B")).stream(live("C")).stream(live("D"))
	w.declareStream(t, audit.Replace, `{"name": "A", "subjects": ["A.>"]}`)
	w.declareStream(t, audit.Merge, `{"name": "B", "subjects": ["B.>", "b"]}`)
	w.declareStream(t, audit.Bind, `{"name": "C", "subjects": ["C.>"]}`)
	w.declareStream(t, audit.Create, `{"name": "D", "subjects": ["D.>"]}`)
	w.declareStream(t, audit.Replace, `{"name": "E", "subjects": ["E.>"]}`)
	// A leaves "A.>" to nobody, so that its rival is refused whatever comes first.
	w.declareStream(t, audit.Replace, `{"name": "F", "subjects": ["A.x"]}`)
	w.declare(t, audit.Replace, "E", `{"durable_name": "c", "ack_policy": "explicit"}`)
	w.declare(t, audit.Replace, "F", `{"durable_name": "c", "ack_policy": "explicit"}`)
	onEachBroker(t, func(t *testing.T, binary string) {
		agreeing(t, w.run(t, rehearse.Options{Binary: binary}),
			"A: update", "B: update", "C: untouched",
			"D: reject stream name already in use with a different configuration (10058)",
			"E: create", "E/c: create",
			"F: reject subjects overlap with an existing stream (10065)", "F/c: reject stream not found (10059)")
	})
}

// TestStreamsAreAskedAlone has two streams change their subjects, each in the
// way of the other: as long as the other is as it is live, both are refused.
func TestStreamsAreAskedAlone(t *testing.T) {
	t.Parallel()
	w := (&world{}).
		stream(`{"name": "A", "subjects": ["a"], "retention": "limits", "num_replicas": 1}`).
		stream(`{"name": "B", "subjects": ["b"], "retention": "limits", "num_replicas": 1}`)
	w.declareStream(t, audit.Replace, `{"name": "A", "subjects": ["c"]}`)
	w.declareStream(t, audit.Replace, `{"name": "B", "subjects": ["a"]}`)
	agreeing(t, w.run(t, rehearse.Options{}), "A: update", "B: reject subjects overlap with an existing stream (10065)")
}
