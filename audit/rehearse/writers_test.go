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

// TestLegacyClient has what PullSubscribe refuses by itself, and what it lets
// through.
func TestLegacyClient(t *testing.T) {
	t.Parallel()
	w := (&world{}).stream(`{"name": "ORDERS", "subjects": ["orders.>"], "retention": "limits", "num_replicas": 1}`,
		`{"durable_name": "a", "ack_policy": "explicit", "filter_subject": "orders.new"}`,
		`{"durable_name": "b", "ack_policy": "explicit", "filter_subject": "orders.new"}`,
		`{"durable_name": "c", "ack_policy": "explicit"}`,
		`{"durable_name": "d", "ack_policy": "explicit", "max_waiting": 100}`,
		`{"durable_name": "e", "ack_policy": "explicit", "deliver_subject": "x"}`,
		`{"durable_name": "f", "ack_policy": "explicit"}`)
	for _, c := range []string{
		`{"durable_name": "a", "ack_policy": "explicit", "filter_subject": "orders.old"}`,
		`{"durable_name": "b", "ack_policy": "explicit", "inactive_threshold": 3600000000000, "headers_only": true}`,
		`{"durable_name": "c", "ack_policy": "explicit", "filter_subject": "orders.old"}`,
		`{"durable_name": "d", "ack_policy": "explicit", "max_waiting": 512}`,
		`{"durable_name": "e", "ack_policy": "explicit"}`,
		`{"durable_name": "f", "ack_policy": "all", "max_deliver": 0}`,
		`{"durable_name": "g", "ack_policy": "explicit", "sample_freq": "20"}`,
		`{"durable_name": "h", "ack_policy": "explicit", "mem_storage": true, "num_replicas": 1, "max_batch": 5, "max_expires": 9000000000, "max_bytes": 9, "backoff": [1000000000], "max_deliver": 5, "description": "d"}`,
		`{"durable_name": "i.j", "ack_policy": "explicit"}`,
		`{"durable_name": "k", "ack_policy": "none", "deliver_policy": "by_start_sequence", "opt_start_seq": 5, "replay_policy": "original"}`,
		`{"durable_name": "l", "ack_policy": "explicit", "backoff": [1000000000, 2000000000], "max_deliver": 1}`,
		`{"name": "m", "ack_policy": "explicit"}`,
	} {
		w.declare(t, audit.Bind, "ORDERS", c)
	}
	r := w.run(t, rehearse.Options{})
	var got []string
	for i := range r.Entries {
		e := &r.Entries[i]
		if !e.Agrees {
			t.Errorf("%s", toJSON(t, e))
			continue
		}
		got = append(got, strings.TrimSpace(told(e.Consumer, e.Broker)+" "+e.Broker.Client))
	}
	diff(t, []string{
		"a: untouched nats: subject does not match consumer",
		"b: untouched",
		"c: untouched",
		"d: untouched nats: configuration requests max waiting to be 512, but consumer's value is 100",
		"e: untouched nats: cannot pull subscribe to push based consumer",
		"f: untouched nats: configuration requests ack policy to be AckAll, but consumer's value is AckExplicit",
		"g: create", "h: create",
		"i.j: reject consumer name in subject does not match durable name in request (10017)",
		"k: create",
		"l: reject max deliver is required to be > length of backoff values (10116)",
		"m: create",
	}, got)
	for i, want := range map[int]string{6: "PullSubscribe has no option for sample_freq", 8: "PullSubscribe refuses by itself"} {
		if notes := strings.Join(r.Entries[i].Notes, "\n"); !strings.Contains(notes, want) {
			t.Errorf("%s: notes %q do not say %q", r.Entries[i].Name(), notes, want)
		}
	}
}
