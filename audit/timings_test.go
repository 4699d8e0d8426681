package audit

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/timingcontract"
)

func declared(t *testing.T, cell string, c jetstream.ConsumerConfig, opts ...DeclareOption) *Declaration {
	t.Helper()
	c.AckPolicy = jetstream.AckExplicitPolicy
	d, err := Declare("S", c, opts...)
	if err != nil {
		t.Fatal(err)
	}
	d.Target.Cell = cell
	return d
}

// TestTimingsOfDeclarationsAlone has a cell for each target, and no broker.
func TestTimingsOfDeclarationsAlone(t *testing.T) {
	ladder := []time.Duration{time.Second, time.Minute}
	ds := []*Declaration{
		declared(t, "eu", jetstream.ConsumerConfig{Durable: "a", MaxDeliver: 3, BackOff: ladder, AckWait: time.Hour}, WithHandler(timingcontract.Handler{Budget: time.Second})),
		declared(t, "us", jetstream.ConsumerConfig{Durable: "a", MaxDeliver: 1, BackOff: ladder}),
		declared(t, "", jetstream.ConsumerConfig{Durable: "b"}),
	}
	ds[2].Request.Config.AckPolicy = broker.AckNone
	ts, err := Timings(DeclaredFleet(ds, broker.Version{Major: 2, Minor: 12}), ds)
	if err != nil {
		t.Fatal(err)
	}
	if len(ts) != 4 {
		t.Fatalf("%d timings, want a and b of both cells: %+v", len(ts), ts)
	}
	a := ts[0]
	if a.Cell != "eu" || a.Consumer != "a" || !a.Handler || a.Before != nil || a.After == nil {
		t.Fatalf("%+v", a)
	}
	if a.After.AckWait != time.Second || a.After.Line != 12 || a.After.Handler.Budget != time.Second {
		t.Errorf("the contract is not as 2.12 would store it: %+v", a.After)
	}
	for i, want := range []string{"", "nobody has to acknowledge (ack_policy none): nothing is retried", "the broker refuses it with err_code 10116: max deliver is required to be > length of backoff values"} {
		if got := ts[i].Reason; got != want {
			t.Errorf("%s in %s: reason %q, want %q", ts[i].Consumer, ts[i].Cell, got, want)
		}
	}
}

// TestTimingsNeedTheirTarget wants the error of Compare.
func TestTimingsNeedTheirTarget(t *testing.T) {
	d := declared(t, "eu", jetstream.ConsumerConfig{Durable: "a"})
	other := declared(t, "us", jetstream.ConsumerConfig{Durable: "a"})
	if _, err := Timings(DeclaredFleet([]*Declaration{other}, broker.Version{}), []*Declaration{d}); err == nil {
		t.Error("a declaration for another cell passes")
	}
	if _, err := Timings(DeclaredFleet([]*Declaration{d, d}, broker.Version{}), []*Declaration{d, d}); err == nil {
		t.Error("a consumer that is declared twice passes")
	}
}
