package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/natsmig/natsmig/internal/report"
	"github.com/natsmig/natsmig/timingcontract"
	"github.com/natsmig/natsmig/timingcontract/prove"
)

// timingProveCommand is `natsmig timing prove`.
type timingProveCommand struct {
	timingInput
	Live   bool          `help:"Prove what the declarations come to over the live cells. Without --file, what is live."`
	Broker string        `placeholder:"PATH" type:"existingfile" help:"Measure on this nats-server binary instead of the embedded broker."`
	Output report.Format `short:"o" placeholder:"FORMAT" default:"table" help:"table, ascii, markdown or json."`

	connection
}

// Run implements the command. Kong calls it.
func (c *timingProveCommand) Run(ctx context.Context, std *streams) error {
	if err := knownTimingFormat(c.Output, report.Formats()); err != nil {
		return err
	}
	subjects, err := c.subjects(ctx, std)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.err, "natsmig: measuring %s, which takes up to half a minute\n", plural(len(subjects), "contract"))
	begin := time.Now()
	r, err := prove.Run(ctx, subjects, prove.Options{Binary: c.Broker})
	if err != nil {
		return err
	}
	fmt.Fprintf(std.err, "natsmig: took %v\n", time.Since(begin).Round(time.Second))
	if err := report.WriteProofs(std.out, viewProofs(r), timingOptions(std, c.Output)); err != nil {
		return err
	}
	switch r.Verdict {
	case prove.Refuted:
		return errFail
	case prove.Undecided:
		return errUnknown
	case prove.Proved:
	}
	return nil
}

// subjects are the contracts to measure.
func (c *timingProveCommand) subjects(ctx context.Context, std *streams) ([]prove.Subject, error) {
	ds, err := c.declared()
	if err != nil {
		return nil, err
	}
	ts, err := c.timings(ctx, std, &c.connection, ds, c.Live)
	if err != nil {
		return nil, err
	}
	var out []prove.Subject
	for i := range ts {
		t := &ts[i]
		name := t.Stream + "/" + t.Consumer
		switch {
		case t.After == nil:
			fmt.Fprintf(std.err, "natsmig: %s: not measured: %s\n", name, t.Reason)
		case t.Handler:
			out = append(out, prove.Subject{Name: name, Contract: *t.After})
		default:
			nak := *t.After
			nak.Handler.OnFailure = timingcontract.Nak
			out = append(out,
				prove.Subject{Name: name + " (" + string(report.DoesNothing) + ")", Contract: *t.After},
				prove.Subject{Name: name + " (" + string(report.NaksAtOnce) + ")", Contract: nak})
		}
	}
	if len(out) == 0 {
		return nil, usageError{errors.New("there is no contract to measure")}
	}
	return out, nil
}

// viewProofs puts a measurement into the words of the report.
func viewProofs(r *prove.Report) *report.Proofs {
	out := &report.Proofs{Schema: report.TimingSchema, Broker: r.Broker, Verdict: string(r.Verdict), Proofs: []report.Proof{}}
	for i := range r.Proofs {
		out.Proofs = append(out.Proofs, viewProof(&r.Proofs[i]))
	}
	return out
}

func viewProof(p *prove.Proof) report.Proof {
	h := &p.Scaled.Handler
	v := report.Proof{
		Name: p.Name, Case: p.Case, Client: string(p.Client), Verdict: string(p.Verdict), Reason: p.Reason,
		Scaled: report.Scaled{
			Backoff: durations(p.Scaled.Ladder), AckWait: p.Scaled.AckWait.String(), MaxDeliver: p.Scaled.MaxDeliver,
			OnFailure: string(h.OnFailure), Delays: durations(h.Delays), Budget: h.Budget.String(), Heartbeat: h.Heartbeat.Every.String(),
		},
		Disturbed: p.Disturbed,
		Rivals:    []report.ProofRival{}, Events: []report.ProofEvent{}, Raw: []report.ProofRecord{},
	}
	for _, r := range p.Rivals {
		v.Rivals = append(v.Rivals, report.ProofRival{Name: r.Name, Gaps: durations(r.Gaps), RuledOut: r.RuledOut})
	}
	for _, e := range p.Events {
		v.Events = append(v.Events, report.ProofEvent{
			What: string(e.What), After: e.After, Predicted: e.Predicted.String(), Measured: measured(&e),
			Tolerance: e.Tolerance.String(), Nearest: e.Nearest,
		})
	}
	for _, r := range p.Raw {
		v.Raw = append(v.Raw, report.ProofRecord{At: r.At.String(), What: r.What, Delivery: r.Delivery})
	}
	return v
}

// measured is null for what did not happen.
func measured(e *prove.Event) *string {
	if e.Measured < 0 {
		return nil
	}
	s := e.Measured.String()
	return &s
}

func durations(ds []time.Duration) []string {
	out := make([]string, len(ds))
	for i, d := range ds {
		out[i] = d.String()
	}
	return out
}
