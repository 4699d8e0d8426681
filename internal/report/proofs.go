package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter/renderer"

	"github.com/natsmig/natsmig/timingcontract"
)

// Proofs are timing contracts as they were measured on a broker.
type Proofs struct {
	Schema  string  `json:"schema"`
	Broker  string  `json:"broker_version"`
	Verdict string  `json:"verdict"`
	Proofs  []Proof `json:"proofs"`
}

// A Proof is one case of one contract. Durations are written as Go does.
type Proof struct {
	Name    string              `json:"name"`
	Case    timingcontract.Case `json:"case"`
	Client  string              `json:"client"`
	Verdict string              `json:"verdict"`
	Reason  string              `json:"reason,omitempty"`
	Scaled  Scaled              `json:"scaled"`
	Rivals  []ProofRival        `json:"rivals"`
	Events  []ProofEvent        `json:"events"`
	Raw     []ProofRecord       `json:"raw"`
	// Disturbed are the reasons of refuted measurements before this one.
	Disturbed []string `json:"disturbed,omitempty"`
}

// Scaled is the contract that was measured.
type Scaled struct {
	Backoff    []string `json:"backoff"`
	AckWait    string   `json:"ack_wait"`
	MaxDeliver int      `json:"max_deliver"`
	OnFailure  string   `json:"on_failure"`
	Delays     []string `json:"delays"`
	Budget     string   `json:"budget"`
	Heartbeat  string   `json:"heartbeat"`
}

// A ProofRival is another explanation.
type ProofRival struct {
	Name     string   `json:"name"`
	Gaps     []string `json:"gaps"` // its waits, by event
	RuledOut bool     `json:"ruled_out"`
}

// A ProofEvent is something that was predicted.
type ProofEvent struct {
	What      string  `json:"what"`
	After     int     `json:"after"`     // the delivery that it follows
	Predicted string  `json:"predicted"` // after that delivery
	Measured  *string `json:"measured"`  // null: it did not happen
	Tolerance string  `json:"tolerance"` // half the way to the nearest rival
	Nearest   string  `json:"nearest"`
}

// A ProofRecord is something that was seen or done, since the first delivery.
type ProofRecord struct {
	At       string `json:"at"`
	What     string `json:"what"`
	Delivery int    `json:"delivery,omitempty"`
}

// WriteProofs writes a measurement. It fails on a format that is not in
// [Formats].
func WriteProofs(w io.Writer, r *Proofs, o Options) error {
	return writeTiming(w, o, timingWriter{
		json:     r,
		text:     func(s style) (string, error) { return proofsText(r, s) },
		markdown: func() (string, error) { return proofsMarkdown(r) },
	})
}

func proofsText(r *Proofs, s style) (string, error) {
	p := &page{style: s}
	p.wrapped(p.paint(proofPaint(r.Verdict), strings.ToUpper(r.Verdict))+"  ", len(r.Verdict)+2, r.headline())
	header, rows := r.table(p.text)
	table, err := p.boxes(header, rows, 0)
	if err != nil {
		return "", err
	}
	p.WriteString(table)
	for i := range r.Proofs {
		if one := &r.Proofs[i]; one.Reason != "" {
			p.prose(p.paint(proofPaint(one.Verdict), one.Verdict)+" "+p.text(one.Name)+", "+string(one.Case)+", "+one.Client+": ", 2, one.Reason)
		}
	}
	return p.String(), nil
}

func proofPaint(verdict string) paint {
	switch verdict {
	case "proved":
		return green
	case "refuted":
		return red
	}
	return yellow
}

func (r *Proofs) headline() string {
	events := 0
	for i := range r.Proofs {
		events += len(r.Proofs[i].Events)
	}
	return fmt.Sprintf("%s with %s on nats-server %s", count(len(r.Proofs), "measurement"), count(events, "wait"), r.Broker)
}

// table has a row for each measurement.
func (r *Proofs) table(text func(string) string) (header []string, rows [][]string) {
	header = []string{"consumer", "case", "client", "waits", "furthest off", "tolerance there", "rivals ruled out", "verdict"}
	for i := range r.Proofs {
		p := &r.Proofs[i]
		off, tolerance := p.furthest()
		ruled := 0
		for _, rival := range p.Rivals {
			if rival.RuledOut {
				ruled++
			}
		}
		rows = append(rows, []string{
			text(p.Name), string(p.Case), p.Client, fmt.Sprint(len(p.Events)), off, tolerance,
			fmt.Sprintf("%d of %d", ruled, len(p.Rivals)), p.Verdict,
		})
	}
	return header, rows
}

// furthest is the wait that is furthest from its prediction, by its tolerance.
func (p *Proof) furthest() (off, tolerance string) {
	off, tolerance = absent, absent
	worst := -1.0
	for i := range p.Events {
		e := &p.Events[i]
		predicted, _ := time.ParseDuration(e.Predicted)
		within, _ := time.ParseDuration(e.Tolerance)
		if e.Measured == nil {
			return "did not come", timingcontract.Duration(within)
		}
		measured, _ := time.ParseDuration(*e.Measured)
		if share := float64((measured - predicted).Abs()) / float64(max(within, 1)); share > worst {
			worst, off = share, (measured - predicted).Round(time.Millisecond).String()
			tolerance = timingcontract.Duration(within)
		}
	}
	return off, tolerance
}

func proofsMarkdown(r *Proofs) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** %s\n\n", strings.ToUpper(r.Verdict), inline(r.headline()))
	header, rows := r.table(inline)
	table, err := draw(renderer.NewMarkdown(), header, rows)
	if err != nil {
		return "", err
	}
	b.WriteString(table)
	for i := range r.Proofs {
		if p := &r.Proofs[i]; p.Reason != "" {
			fmt.Fprintf(&b, "\n- %s %s, %s, %s: %s", inline(p.Verdict), code(p.Name), p.Case, p.Client, plain(p.Reason))
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n", nil
}
