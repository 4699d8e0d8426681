package report

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// nasty is what text from outside is made of in these tests.
var nasty = []string{
	"|", `\`, "`", "```", "\n", "\r\n", "\x1b[2J", "\x1b]0;t\x07", "\u0085", "\x7f", "\xff", "\u202e", "\u200d", "\u2028",
	"<b>", "</details>", "<!--", "&amp;", "*", "_", "[x](y)", "@team", "#12", "#### ", "- ", "~~~", "$", " ", "\t", "a", "é", "日本", "🙂",
}

// A source makes random reports of nasty text.
type source struct{ *rand.Rand }

func newSource(t *testing.T) source {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if v := os.Getenv("SEED"); v != "" {
		seed, _ = strconv.ParseUint(v, 10, 64)
	}
	t.Logf("SEED=%d", seed)
	return source{rand.New(rand.NewPCG(seed, 0))}
}

func (s source) text() string {
	var b strings.Builder
	for range s.IntN(6) {
		b.WriteString(nasty[s.IntN(len(nasty))])
	}
	return b.String()
}

func (s source) value() any {
	return []any{nil, s.text(), s.IntN(1e9), []any{s.text(), s.IntN(9)}, map[string]any{s.text(): s.text()}}[s.IntN(5)]
}

func (s source) entry() audit.Entry {
	e := audit.Entry{
		Cell: s.text(), Stream: s.text(), Consumer: s.text(), BrokerVersion: s.text(), Writer: audit.Writer(s.text()),
		Outcome: []broker.Outcome{broker.Update, broker.Reject, broker.Unknown, broker.Noop}[s.IntN(4)], Reason: s.text(),
		Error:    &broker.APIError{Description: s.text()},
		Position: &audit.Position{File: s.text(), Line: 1},
		Envelope: &audit.EnvelopeChange{After: &audit.EnvelopeView{LastAttempt: s.text(), Capture: s.text()}},
		Because:  map[string]string{"a": s.text(), "b": s.text(), "c": s.text()},
	}
	for range s.IntN(4) {
		e.Fields = append(e.Fields, audit.Field{Name: s.text() + "a", Have: s.value(), Declared: s.value(), After: s.value(), Class: audit.Class(s.text()), Note: s.text()})
	}
	for range s.IntN(3) {
		e.Findings = append(e.Findings, audit.Finding{Code: s.text(), Severity: audit.Severity(s.text()), Field: string("abc"[s.IntN(3)]), Message: s.text(), Fix: s.text(), Have: s.value(), Excused: s.text()})
	}
	return e
}

func (s source) report() *audit.Report {
	r := &audit.Report{Verdict: audit.Verdict(s.text()), Unknown: []audit.Unknown{{Cell: s.text(), Reason: s.text()}}}
	for range 1 + s.IntN(4) {
		r.Consumers = append(r.Consumers, s.entry())
	}
	return r
}
