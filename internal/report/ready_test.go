package report

import (
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/readiness"
)

func readinessWritten(t *testing.T, r *Readiness, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := WriteReadiness(&b, r, o); err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return b.String()
}

func TestReadiness(t *testing.T) {
	r := &Readiness{
		Schema: ReadySchema, Verdict: audit.Fail, Summary: ReadySummary{Durables: 4, Consumable: 2, NotConsumable: 1, Unknown: 1},
		Durables: []Probed{
			{Cell: "eu", Stream: "S", Consumer: "ä", Ready: true, State: readiness.Consumable},
			{Cell: "eu", Stream: "S", Consumer: "b", State: readiness.Unknown, Class: readiness.Denied, Reason: "no"},
			{Cell: "us", Stream: "S", Consumer: "c", State: readiness.NotConsumable, Class: readiness.NoQuorum, Reason: "no leader"},
			{Cell: "us", Stream: "S", Consumer: "d", Ready: true, State: readiness.Consumable, Reason: "paused"},
		},
	}
	for o, want := range map[Options]string{
		{}: `not-consumable  us/S/c  no-quorum: no leader
unknown         eu/S/b  denied: no
consumable      eu/S/ä
consumable      us/S/d  paused
`,
		{Format: ASCII, Color: true}: "\x1b[31mnot-consumable\x1b[0m  us/S/c  no-quorum: no leader\n" +
			"\x1b[33munknown       \x1b[0m  eu/S/b  denied: no\n" +
			"consumable      eu/S/\\u00e4\n" +
			"consumable      us/S/d  paused\n",
		{Format: Markdown}: "**FAIL** 2 of 4 durables consumable\n\n" +
			"| durable  | state          | reason               |\n" +
			"|:---------|:---------------|:---------------------|\n" +
			"| `us/S/c` | not-consumable | no-quorum: no leader |\n" +
			"| `eu/S/b` | unknown        | denied: no           |\n" +
			"| `eu/S/ä` | consumable     |                      |\n" +
			"| `us/S/d` | consumable     | paused               |\n",
	} {
		if d := cmp.Diff(want, readinessWritten(t, r, o)); d != "" {
			t.Errorf("%+v (-want +got):\n%s", o, d)
		}
	}
	if err := WriteReadiness(&strings.Builder{}, r, Options{Format: SVG}); err == nil {
		t.Error("svg is written")
	}
}

func TestReadinessHoldsNothingRaw(t *testing.T) {
	evil := "a\x1b[31m|b`<b>\u202e@all\nä"
	r := &Readiness{Durables: []Probed{
		{Cell: evil, Stream: evil, Consumer: evil, State: readiness.Unknown, Class: readiness.Class(evil), Reason: evil},
		{Cell: "b", Stream: evil, Consumer: evil, State: readiness.Consumable},
	}}
	for _, f := range []Format{Table, ASCII, Markdown} {
		out := readinessWritten(t, r, Options{Format: f})
		for _, c := range out {
			if c != '\n' && !strconv.IsPrint(c) || f == ASCII && c > unicode.MaxASCII {
				t.Fatalf("%s holds %q:\n%s", f, c, out)
			}
		}
		if f == Markdown {
			checkTables(t, out)
		} else if strings.Count(out, "\n") != len(r.Durables) {
			t.Errorf("%s has not one line for each durable:\n%s", f, out)
		}
	}
}
