package rehearse_test

import (
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/rehearse"
)

func (w *world) run(t *testing.T, o rehearse.Options) *audit.Rehearsal {
	t.Helper()
	r, err := rehearse.Run(t.Context(), w.fleet(t), w.declared, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// agreeing wants model and broker to agree on the outcomes, in the rehearsal's
// order, written as name: outcome.
func agreeing(t *testing.T, r *audit.Rehearsal, want ...string) {
	t.Helper()
	var got []string
	for i := range r.Entries {
		e := &r.Entries[i]
		if !e.Agrees {
			t.Errorf("%s: %s", e.Name(), toJSON(t, e))
			continue
		}
		got = append(got, told(e.Name(), e.Broker))
	}
	diff(t, want, got)
}

func told(name string, a *audit.Answer) string {
	text := name + ": " + string(a.Outcome)
	if a.Outcome == broker.Reject {
		text += " " + a.Error.Error()
	}
	return text
}
