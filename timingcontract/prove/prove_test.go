package prove

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/natsmig/natsmig/timingcontract"
)

const (
	sec  = time.Second
	minu = time.Minute
	hour = time.Hour
)

func list(ds ...time.Duration) []time.Duration { return ds }

func contract(maxDeliver int, ackWait time.Duration, h timingcontract.Handler, ladder ...time.Duration) timingcontract.Contract {
	return timingcontract.Contract{Ladder: ladder, AckWait: ackWait, MaxDeliver: maxDeliver, Handler: h}
}

func nakDelay(ds ...time.Duration) timingcontract.Handler {
	return timingcontract.Handler{OnFailure: timingcontract.NakDelay, Delays: ds}
}

// orphan is the ladder that two durables carry though the code dropped it.
func orphan() []time.Duration {
	return list(30*sec, 2*minu, 10*minu, hour, 4*hour, 12*hour, 24*hour)
}

// referenceFleet are the eleven durables of the reference fleet as their code
// means them, and the two that really are otherwise.
func referenceFleet() []Subject {
	nothing, flat := timingcontract.Handler{}, nakDelay(30*sec)
	captured := timingcontract.Handler{Reserve: 1, Capture: "dlq", Budget: 5 * sec}
	worker := nakDelay(30 * sec)
	worker.Budget = 30 * minu
	return []Subject{
		{"webhook-forwarder", contract(7, 0, captured, 30*sec, 2*minu, 5*minu, 12*minu, 20*minu)},
		{"webhook-forwarder as it is live", contract(8, 0, flat, orphan()...)},
		{"fanout-eu as it is live", contract(8, 0, nothing, orphan()...)},
		{"fanout-eu as its author believes", contract(8, 30*sec, flat)},
		{"core-fanout", contract(9, 0, timingcontract.Handler{Reserve: 1, Capture: "dlq"}, 30*sec)},
		{"trails-fanout-push", contract(8, 30*sec, flat)},
		{"trails-fanout-pull-request", contract(8, 30*sec, flat)},
		{"webhooks-backfill", contract(5, 5*minu, nothing)},
		{"meta-fanout-lifecycle", contract(6, 0, nothing, 5*minu, 5*minu, 5*minu, 12*minu, 15*minu)},
		{"search-lifecycle", contract(8, 30*sec, nothing)},
		{"billing-lifecycle", contract(8, 30*sec, nothing)},
		{"lifecycle-backfill", contract(3, 5*minu, nothing)},
		{"mirror-worker", contract(10, 30*minu, worker)},
	}
}

// everyKind has what the fleet does not: each way to fail, and ladders that do
// not simply grow.
func everyKind() []Subject {
	beating := timingcontract.Handler{Budget: 20 * minu, Heartbeat: timingcontract.Heartbeat{Every: 20 * sec}}
	capped := timingcontract.Handler{Budget: 30 * minu, Heartbeat: timingcontract.Heartbeat{Every: 10 * sec, Cap: 150 * sec}}
	compensated := contract(5, 0, nakDelay(30*sec), orphan()...)
	compensated.Handler.Delays = compensated.CompensatedDelays()
	slow := nakDelay(minu)
	slow.Budget = 40 * sec
	return []Subject{
		{"plain nak", contract(5, 0, timingcontract.Handler{OnFailure: timingcontract.Nak, Budget: sec}, orphan()[:4]...)},
		{"a delay of zero", contract(4, 30*sec, nakDelay(0))},
		{"discard", contract(5, 30*sec, timingcontract.Handler{OnFailure: timingcontract.Discard})},
		{"growing delays", contract(5, 30*sec, nakDelay(sec, 5*sec, 30*sec))},
		{"compensated delays", compensated},
		{"heartbeat", contract(3, 0, beating, minu, 5*minu, 15*minu)},
		{"heartbeat that ends too soon", contract(5, 30*sec, capped)},
		{"heartbeat after the rung", contract(5, 0, timingcontract.Handler{Budget: 20 * minu, Heartbeat: timingcontract.Heartbeat{Every: 90 * sec}}, minu, 5*minu)},
		{"budget over ack_wait", contract(5, 30*sec, timingcontract.Handler{Budget: minu})},
		{"budget over the second rung", contract(4, 0, slow, minu, 30*sec)},
		{"descending ladder", contract(4, 0, timingcontract.Handler{}, 4*minu, minu)},
		{"one delivery", contract(1, 30*sec, timingcontract.Handler{})},
		{"no end", contract(-1, 0, nakDelay(30*sec), 30*sec, minu)},
	}
}

// zeros are ladders with a zero, which release lines differ in.
func zeros() []Subject {
	return []Subject{
		{"zero first rung", contract(4, 0, timingcontract.Handler{}, 0, minu)},
		{"zero second rung", contract(4, 0, timingcontract.Handler{}, minu, 0, 2*minu)},
	}
}

// stalls are ladders with a zero after which nothing happens any more, from 2.14
// on. Older lines race the client's nak, and are not promised.
func stalls() []Subject {
	return []Subject{
		{"zero third rung and a short last one", contract(5, 0, timingcontract.Handler{}, minu, 2*minu, 0, 30*sec)},
		{"zero second rung behind a delay", contract(4, 0, nakDelay(30*sec), minu, 0, 2*minu)},
		{"zero last rung behind a delay", contract(3, 0, nakDelay(30*sec), minu, 2*minu, 0)},
	}
}

// TestStalls proves that nothing happens.
func TestStalls(t *testing.T) {
	t.Parallel()
	wantProved(t, stalls(), Options{})
}

// TestReferenceFleet proves the fleet, on the broker in process and on those of
// NATSMIG_BROKERS.
func TestReferenceFleet(t *testing.T) {
	t.Parallel()
	onEachBroker(t, func(t *testing.T, o Options) {
		begin := time.Now()
		wantProved(t, referenceFleet(), o)
		t.Logf("took %v", time.Since(begin).Round(time.Millisecond))
	})
}

// TestEveryKind proves each way to fail.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	onEachBroker(t, func(t *testing.T, o Options) {
		subjects := append(everyKind(), zeros()...)
		if strings.Contains(o.Binary, "nats-server-2.9.") { // refuses a ladder without an end (10116)
			subjects = slices.DeleteFunc(subjects, func(s Subject) bool { return s.Contract.MaxDeliver < 1 })
		}
		wantProved(t, subjects, o)
	})
}

// onEachBroker runs do for the broker in process, and for the binaries in the
// folder that NATSMIG_BROKERS names, called nats-server-<version>.
func onEachBroker(t *testing.T, do func(*testing.T, Options)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { do(t, Options{}) })
	dir := os.Getenv("NATSMIG_BROKERS")
	if dir == "" {
		return
	}
	found, err := filepath.Glob(filepath.Join(dir, "nats-server-*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("NATSMIG_BROKERS=%s holds no nats-server-<version> (%v)", dir, err)
	}
	for _, bin := range found {
		t.Run(filepath.Base(bin), func(t *testing.T) { do(t, Options{Binary: bin}) })
	}
}

func wantProved(t *testing.T, subjects []Subject, o Options) {
	t.Helper()
	r, err := Run(t.Context(), subjects, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Proved {
		t.Errorf("on %s: %s", r.Broker, r.Verdict)
	}
	for i := range r.Proofs {
		if p := &r.Proofs[i]; p.Verdict != Proved {
			t.Errorf("%s", tell(p))
		}
	}
}

func tell(p *Proof) string {
	text := fmt.Sprintf("%s, %s, %s: %s: %s\nscaled %+v", p.Name, p.Case, p.Client, p.Verdict, p.Reason, p.Scaled)
	for _, e := range p.Events {
		text += fmt.Sprintf("\n  %s after %d: predicted %v measured %v, within %v, rival %s", e.What, e.After, e.Predicted, e.Measured, e.Tolerance, e.Nearest)
	}
	for _, rec := range p.Raw {
		text += fmt.Sprintf("\n  %v %s %d", rec.At, rec.What, rec.Delivery)
	}
	return text
}
