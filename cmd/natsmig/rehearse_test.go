package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/natsmig/natsmig/audit"
)

// TestDifferenceAsksForAReport has a rehearsal that no broker gives, as long as
// the model is right: status 1, and all that belongs into a bug report.
func TestDifferenceAsksForAReport(t *testing.T) {
	t.Parallel()
	r := &audit.Rehearsal{
		BrokerVersion: "2.15.3",
		Cells:         []audit.RehearsedCell{{Cell: "prod", BrokerVersion: "2.15.3", Servers: 1, Complete: true}},
		Entries: []audit.Rehearsed{{
			Cell: "prod", Stream: "ORDERS", Consumer: "billing",
			Differences: []audit.Difference{{Field: "outcome", Model: "noop", Broker: "update"}},
			Evidence:    &audit.Evidence{BrokerVersion: "2.15.3", Subject: "$JS.API.CONSUMER.CREATE.ORDERS.billing"},
		}},
	}
	r.Finish()
	var out bytes.Buffer
	err := (&rehearseCommand{}).tell(&streams{out: &out}, r)
	if got := status(&out, err); got != exitFail {
		t.Errorf("exit status %d (%v), want %d", got, err, exitFail)
	}
	for _, want := range []string{"the model differs on 1", "natsmig/issues/new", `"subject": "$JS.API.CONSUMER.CREATE.ORDERS.billing"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output has no %q:\n%s", want, out.String())
		}
	}
	r.Entries[0].Differences, r.Entries[0].Skipped = nil, "no reason"
	r.Finish()
	if err := (&rehearseCommand{}).tell(&streams{out: &out}, r); !errors.Is(err, errUnknown) {
		t.Errorf("a skipped entry gives %v", err)
	}
}
