package rehearse_test

import (
	"strings"
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/rehearse"
)

// interest is an interest stream with 30 messages on three subjects, and a
// consumer of them all that is to take less.
func interest(t *testing.T, state string, others ...string) *world {
	t.Helper()
	consumers := append([]string{`{"config": {"durable_name": "all", "ack_policy": "explicit", "filter_subject": "e.>"}}`}, others...)
	w := (&world{}).info(`{"config": {"name": "EVENTS", "subjects": ["e.>"], "retention": "interest", "num_replicas": 1}, "state": ` + state + `, "consumers": [` + strings.Join(consumers, ",") + `]}`)
	return w.declare(t, audit.Replace, "EVENTS", `{"durable_name": "all", "ack_policy": "explicit", "filter_subject": "e.a"}`)
}

const thirty = `{"messages": 30, "first_seq": 1, "last_seq": 30, "subjects": {"e.a": 15, "e.b": 10, "e.c": 5}}`

// TestNarrowedFilter counts what the broker deletes at once.
func TestNarrowedFilter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reason string
		world  *world
		want   audit.Effect
		note   string
	}{
		{"nobody else wants them", interest(t, thirty), audit.Effect{Of: 30, Model: 15, Broker: 15}, ""},
		{"one subject is wanted", interest(t, thirty, `{"config": {"durable_name": "b", "ack_policy": "explicit", "filter_subject": "e.b"}}`), audit.Effect{Of: 30, Model: 5, Broker: 5}, ""},
		{
			"wanted, and handled already",
			interest(t, thirty, `{"ack_floor": {"stream_seq": 30}, "config": {"durable_name": "b", "ack_policy": "explicit", "filter_subject": "e.b"}}`),
			audit.Effect{Of: 30, Model: 5, Broker: 15},
			"other consumers have handled",
		},
		{
			"many", interest(t, `{"messages": 3000000, "first_seq": 1, "last_seq": 3000000, "subjects": {"e.a": 2000000, "e.b": 999999, "e.c": 1}}`),
			audit.Effect{Of: 1000, Model: 334, Broker: 334},
			"3000000 stored messages are scaled down to about 1000 stand-ins",
		},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			onEachBroker(t, func(t *testing.T, binary string) {
				r := tt.world.run(t, rehearse.Options{Binary: binary})
				agreeing(t, r, "EVENTS/all: update")
				if r.BrokerVersion == "2.9.25" { // it deletes nothing, and nothing is said
					return
				}
				want := tt.want
				want.Name = "messages deleted"
				diff(t, []audit.Effect{want}, r.Entries[0].Effects)
				if notes := strings.Join(r.Entries[0].Notes, "\n"); !strings.Contains(notes, tt.note) {
					t.Errorf("notes %q do not say %q", notes, tt.note)
				}
			})
		})
	}
}

func TestNarrowedFilterOfUnknownMessages(t *testing.T) {
	t.Parallel()
	r := interest(t, `{"messages": 30, "first_seq": 1, "last_seq": 30}`).run(t, rehearse.Options{})
	agreeing(t, r, "EVENTS/all: update")
	if notes := strings.Join(r.Entries[0].Notes, "\n"); !strings.Contains(notes, "--subjects") || r.Entries[0].Effects != nil {
		t.Errorf("%s", toJSON(t, r.Entries[0]))
	}
}

// TestNarrowedFilterIsAskedAlone has a consumer before it that gives up its
// filter, and would want everything.
func TestNarrowedFilterIsAskedAlone(t *testing.T) {
	t.Parallel()
	w := interest(t, thirty, `{"config": {"durable_name": "a", "ack_policy": "explicit", "filter_subject": "e.a"}}`)
	w.declare(t, audit.Replace, "EVENTS", `{"durable_name": "a", "ack_policy": "explicit"}`)
	r := w.run(t, rehearse.Options{})
	agreeing(t, r, "EVENTS/a: update", "EVENTS/all: update")
	diff(t, []audit.Effect{{Name: "messages deleted", Of: 30, Model: 15, Broker: 15}}, r.Entries[1].Effects)
}

// TestNarrowedFilterTwice has each of two consumers find all the messages, and the
// other as it is live.
func TestNarrowedFilterTwice(t *testing.T) {
	t.Parallel()
	w := interest(t, thirty, `{"config": {"durable_name": "bc", "ack_policy": "explicit", "filter_subjects": ["e.b", "e.c"]}}`)
	w.declare(t, audit.Replace, "EVENTS", `{"durable_name": "bc", "ack_policy": "explicit", "filter_subject": "e.c"}`)
	w.declare(t, audit.Replace, "EVENTS", `{"durable_name": "new", "ack_policy": "explicit"}`)
	r := w.run(t, rehearse.Options{})
	agreeing(t, r, "EVENTS/all: update", "EVENTS/bc: update", "EVENTS/new: create")
	for _, e := range r.Entries[:2] {
		diff(t, []audit.Effect{{Name: "messages deleted", Of: 30}}, e.Effects)
	}
}

// TestNarrowedFilterOfAnEmptyStream has nothing to count.
func TestNarrowedFilterOfAnEmptyStream(t *testing.T) {
	t.Parallel()
	r := interest(t, `{"messages": 0}`).run(t, rehearse.Options{})
	agreeing(t, r, "EVENTS/all: update")
	if notes := strings.Join(r.Entries[0].Notes, "\n"); strings.Contains(notes, "deletes") || r.Entries[0].Effects != nil {
		t.Errorf("%s", toJSON(t, r.Entries[0]))
	}
}
