package rehearse_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/declare"
	"github.com/natsmig/natsmig/audit/rehearse"
	"github.com/natsmig/natsmig/internal/fleet"
	"github.com/natsmig/natsmig/natstest"
)

// onEachBroker runs do with the server inside the test, and with those of the
// folder NATSMIG_BROKERS, which are called nats-server-<version>.
func onEachBroker(t *testing.T, do func(t *testing.T, binary string)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { do(t, "") })
	dir := os.Getenv("NATSMIG_BROKERS")
	if dir == "" {
		return
	}
	found, err := filepath.Glob(filepath.Join(dir, "nats-server-*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("NATSMIG_BROKERS=%s holds no nats-server-<version> (%v)", dir, err)
	}
	for _, bin := range found {
		t.Run(filepath.Base(bin), func(t *testing.T) { do(t, bin) })
	}
}

func TestReferenceFleetAgrees(t *testing.T) {
	t.Parallel()
	f, ds := referenceFleet(t)
	onEachBroker(t, func(t *testing.T, binary string) {
		r, err := rehearse.Run(t.Context(), f, ds, rehearse.Options{Binary: binary})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != audit.Pass || r.Summary != (audit.RehearsalSummary{Entries: 15, Agree: 15}) {
			t.Errorf("%s", toJSON(t, r))
		}
	})
}

// referenceFleet is the reference fleet as a snapshot sees it, and what its code
// declares.
func referenceFleet(t *testing.T) (*audit.Fleet, []*audit.Declaration) {
	t.Helper()
	s := natstest.Start(t)
	if err := fleet.Build(t.Context(), s.NC); err != nil {
		t.Fatal(err)
	}
	snap, err := audit.Take(t.Context(), []audit.Source{{Name: "prod", Conn: s.NC}}, audit.TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := audit.Index(snap, broker.Version{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := declare.Read("fleet.yaml", fleet.Declarations)
	if err != nil {
		t.Fatal(err)
	}
	return f, set.Declarations
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
