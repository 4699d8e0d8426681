package rehearse_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/rehearse"
)

// orders is a cell with one stream and one durable, and a declaration of each.
func orders(t *testing.T) *world {
	t.Helper()
	w := (&world{}).stream(`{"name": "ORDERS", "subjects": ["orders.>"], "retention": "limits", "num_replicas": 1}`,
		`{"durable_name": "billing", "ack_policy": "explicit", "max_deliver": 5}`)
	w.declareStream(t, audit.Merge, `{"name": "ORDERS", "max_age": 3600000000000}`)
	return w.declare(t, audit.Replace, "ORDERS", `{"durable_name": "billing", "ack_policy": "explicit", "max_deliver": 7}`)
}

// wrong is a model that is right but for what spoil does to the consumer's entry.
func wrong(spoil func(*audit.Entry)) rehearse.Options {
	return rehearse.WithModel(rehearse.Options{}, func(f *audit.Fleet, ds []*audit.Declaration, o audit.Options) (*audit.Report, error) {
		r, err := audit.Compare(f, ds, o)
		if err == nil {
			spoil(&r.Consumers[0])
		}
		return r, err
	})
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reason string
		spoil  func(*audit.Entry)
		want   string // the differences, as JSON
	}{
		{"another outcome", func(e *audit.Entry) { e.Outcome = broker.Noop }, `[{"field":"outcome","model":"noop","broker":"update"}]`},
		{"another field", func(e *audit.Entry) { after(e).MaxDeliver = 6 }, `[{"field":"max_deliver","model":6,"broker":7}]`},
		{"a field that is not canonical", func(e *audit.Entry) { after(e).Name = "" }, `[{"field":"name","model":null,"broker":"billing"}]`},
		{"a refusal", func(e *audit.Entry) {
			e.Outcome, e.After, e.Error = broker.Reject, nil, &broker.APIError{Code: 500, ErrCode: 10012, Description: "no"}
		}, `[{"field":"outcome","model":"reject","broker":"update"},{"field":"error","model":"500 no (10012)","broker":null}]`},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			r := orders(t).run(t, wrong(tt.spoil))
			if r.Verdict != audit.Fail || r.Summary.Differ != 1 || r.Summary.Agree != 1 {
				t.Errorf("verdict %s, %+v", r.Verdict, r.Summary)
			}
			got, err := json.Marshal(r.Entries[1].Differences)
			if err != nil {
				t.Fatal(err)
			}
			diff(t, tt.want, string(got))
		})
	}
}

func after(e *audit.Entry) *broker.ConsumerConfig { return e.After.(*broker.ConsumerConfig) }

// TestAnotherError has both refuse, in other words.
func TestAnotherError(t *testing.T) {
	t.Parallel()
	w := (&world{}).stream(`{"name": "A", "subjects": ["a"], "retention": "limits"}`, `{"durable_name": "c", "ack_policy": "explicit"}`)
	w.declare(t, audit.Replace, "A", `{"durable_name": "c", "ack_policy": "all"}`)
	r := w.run(t, wrong(func(e *audit.Entry) { e.Error = &broker.APIError{Code: 500, ErrCode: 10012, Description: "no"} }))
	want := []audit.Difference{{Field: "error", Model: "500 no (10012)", Broker: "500 ack policy can not be updated (10012)", Kind: broker.KindValue}}
	diff(t, want, r.Entries[0].Differences)
}

// TestEvidence holds all that it takes to see a difference again.
func TestEvidence(t *testing.T) {
	t.Parallel()
	r := orders(t).run(t, wrong(func(e *audit.Entry) { e.Outcome = broker.Noop }))
	if r.Entries[0].Evidence != nil {
		t.Error("evidence for what agrees")
	}
	text := toJSON(t, r.Entries[1].Evidence)
	for _, want := range []string{
		`"broker_version": "2.15.3"`, `"max_age": 3600000000000`, `"max_deliver": 5`, `"max_deliver": 7`,
		`"subject": "$JS.API.CONSUMER.CREATE.ORDERS.billing"`, `"outcome": "noop"`, `"outcome": "update"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the evidence has no %s:\n%s", want, text)
		}
	}
}

// TestSkipped has what can not be rehearsed. It is never agreed on.
func TestSkipped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reason string
		world  *world
		want   string
	}{
		{"a field that the model does not know", (&world{}).stream(`{"name": "A", "subjects": ["a"], "future": 1}`), "fields that the model does not know"},
		{"a consumer that can not be understood", (&world{}).stream(`{"name": "A", "subjects": ["a"]}`, `{"durable_name": "c"}`), "no ack_policy"},
		{"a consumer that no broker takes", (&world{}).stream(`{"name": "A", "subjects": ["a"]}`, `{"durable_name": "c", "ack_policy": "explicit", "deliver_policy": "by_start_sequence"}`), "refuses the consumer as it is live"},
		{"a stream that no broker takes", (&world{}).stream(`{"name": "A", "subjects": ["a..b"]}`), "refuses the stream as it is live"},
		{"a value that no broker stores", (&world{}).stream(`{"name": "A", "subjects": ["a"]}`, `{"durable_name": "c", "ack_policy": "explicit", "ack_wait": 9, "max_deliver": 3, "backoff": [5]}`), "ack_wait 9ns is stored as 5ns"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			t.Parallel()
			tt.world.declare(t, audit.Replace, "A", `{"durable_name": "c", "ack_policy": "explicit"}`)
			r := tt.world.run(t, rehearse.Options{})
			e := r.Entries[0]
			if e.Agrees || e.Model != nil || e.Broker != nil || !strings.Contains(e.Skipped, tt.want) {
				t.Errorf("want it skipped for %q: %s", tt.want, toJSON(t, e))
			}
			if r.Verdict != audit.VerdictUnknown || r.Summary.Skipped != 1 {
				t.Errorf("verdict %s, %+v", r.Verdict, r.Summary)
			}
		})
	}
}

// TestUnsendable has a name that no subject can hold.
func TestUnsendable(t *testing.T) {
	t.Parallel()
	w := (&world{}).stream(`{"name": "A", "subjects": ["a"]}`)
	w.declare(t, audit.Replace, "A", `{"durable_name": "my worker", "ack_policy": "explicit"}`)
	w.declareStream(t, audit.Replace, `{"name": "my stream"}`)
	w.declare(t, audit.Replace, "my stream", `{"durable_name": "c", "ack_policy": "explicit"}`)
	r := w.run(t, rehearse.Options{})
	for i := range r.Entries {
		if e := &r.Entries[i]; !strings.Contains(e.Skipped, "can not stand in a subject") || e.Agrees {
			t.Errorf("%s", toJSON(t, e))
		}
	}
}

// TestPartialCell is never a pass, though all that could be asked agrees.
func TestPartialCell(t *testing.T) {
	t.Parallel()
	w := orders(t)
	f := w.fleet(t)
	f.Cells[0].Complete = false
	f.Cells[0].Missing = []audit.Missing{{Stream: "HIDDEN", What: "the list of consumers", Reason: "permission denied"}}
	r, err := rehearse.Run(t.Context(), f, w.declared, rehearse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Summary.Agree != 2 || r.Verdict != audit.VerdictUnknown {
		t.Errorf("verdict %s, %+v", r.Verdict, r.Summary)
	}
	diff(t, "HIDDEN the list of consumers could not be read: permission denied", r.Cells[0].Notes[len(r.Cells[0].Notes)-1])
}

// TestUnseen has a consumer that may exist though the snapshot lacks it.
func TestUnseen(t *testing.T) {
	t.Parallel()
	w := orders(t)
	w.declare(t, audit.Replace, "ORDERS", `{"durable_name": "hidden", "ack_policy": "explicit"}`)
	f := w.fleet(t)
	f.Cells[0].Complete = false
	f.Cells[0].Missing = []audit.Missing{{Stream: "ORDERS", What: "the list of consumers", Reason: "permission denied"}}
	r, err := rehearse.Run(t.Context(), f, w.declared, rehearse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, audit.RehearsalSummary{Entries: 3, Agree: 2, Skipped: 1}, r.Summary)
	diff(t, "the list of consumers could not be read: permission denied", r.Entries[2].Skipped)
}

// TestStreamWithoutConfig is known of its consumers alone: they are rehearsed on
// defaults, and its own declaration is not.
func TestStreamWithoutConfig(t *testing.T) {
	t.Parallel()
	s, err := audit.ReadSnapshot("info.json", []byte(`{"stream_name": "A", "name": "c", "config": {"durable_name": "c", "ack_policy": "explicit"}}`))
	if err != nil {
		t.Fatal(err)
	}
	f, err := audit.Index(s, broker.Version{})
	if err != nil {
		t.Fatal(err)
	}
	w := (&world{}).declare(t, audit.Replace, "A", `{"durable_name": "c", "ack_policy": "explicit", "max_deliver": 3}`)
	r, err := rehearse.Run(t.Context(), f, w.declared, rehearse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	agreeing(t, r, "A/c: update")
	if notes := strings.Join(r.Cells[0].Notes, "\n"); !strings.Contains(notes, "no config of stream A") {
		t.Errorf("notes %q do not tell the assumption", notes)
	}
	w.declareStream(t, audit.Replace, `{"name": "A", "subjects": ["a"]}`)
	if r, err = rehearse.Run(t.Context(), f, w.declared, rehearse.Options{}); err != nil {
		t.Fatal(err)
	}
	diff(t, audit.RehearsalSummary{Entries: 2, Skipped: 2}, r.Summary)
	diff(t, "the snapshot has no config of the stream", r.Entries[0].Skipped)
}

// TestAnotherLine tells that the answer is another broker's.
func TestAnotherLine(t *testing.T) {
	t.Parallel()
	w := orders(t)
	w.version = "2.11.4"
	r := w.run(t, rehearse.Options{})
	notes := strings.Join(r.Cells[0].Notes, "\n")
	if want := "the cell runs nats-server 2.11.4, and this is what 2.15.3 does: rehearse with --broker and a binary of the 2.11 line"; !strings.Contains(notes, want) {
		t.Errorf("notes %q do not say %q", notes, want)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	w := orders(t)
	twice := append(w.declared, w.declared[1])
	var duplicate *audit.DuplicateError
	if _, err := rehearse.Run(t.Context(), w.fleet(t), twice, rehearse.Options{}); !errors.As(err, &duplicate) {
		t.Errorf("two declarations of one thing: %v", err)
	}
	if _, err := rehearse.Run(t.Context(), w.fleet(t), w.declared, rehearse.Options{Binary: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "start a broker") {
		t.Errorf("a binary that is none: %v", err)
	}
	boom := errors.New("boom")
	o := rehearse.WithModel(rehearse.Options{}, func(*audit.Fleet, []*audit.Declaration, audit.Options) (*audit.Report, error) { return nil, boom })
	if _, err := rehearse.Run(t.Context(), w.fleet(t), w.declared, o); !errors.Is(err, boom) {
		t.Errorf("a model that fails: %v", err)
	}
}
