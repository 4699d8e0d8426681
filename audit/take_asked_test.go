package audit_test

import (
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// A user that may not list, and asks for consumers by name, knows of each name
// whether it exists. Of any other it knows nothing.
func TestAskedForByName(t *testing.T) {
	t.Parallel()
	nc := restricted(t, []string{"$JS.API.CONSUMER.LIST.>", "$JS.API.CONSUMER.NAMES.>"}, nil)
	c := takeCell(t, nc, audit.TakeOptions{Known: map[string][]string{"A": {"two", "nine"}}})
	fleet, err := audit.Index(&audit.Snapshot{Cells: []audit.Cell{c}}, broker.Version{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]broker.Outcome{
		"nine":  broker.Create,  // asked for, and not found
		"other": broker.Unknown, // never asked for
	} {
		d, err := audit.DeclareConsumer("A", []byte(`{"durable_name":"`+name+`","ack_policy":"explicit"}`))
		if err != nil {
			t.Fatal(err)
		}
		r, err := audit.Compare(fleet, []*audit.Declaration{d}, audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Consumers {
			if e.Consumer == name && e.Outcome != want {
				t.Errorf("%s: outcome %s (%s), want %s", name, e.Outcome, e.Reason, want)
			}
		}
		if r.Verdict != audit.VerdictUnknown {
			t.Errorf("%s: verdict %s: a partial view is never clean", name, r.Verdict)
		}
	}
}
