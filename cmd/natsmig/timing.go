package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/declare"
	"github.com/natsmig/natsmig/internal/report"
	"github.com/natsmig/natsmig/timingcontract"
)

// timingCommand is `natsmig timing`.
type timingCommand struct {
	Show    timingShowCommand    `cmd:"" help:"Say when each delivery of a failing message happens, and what of it can not hold."`
	Compare timingCompareCommand `cmd:"" help:"Say how the timing changes: between two files, or from what is live to what is declared."`
	Prove   timingProveCommand   `cmd:"" help:"Measure the timing on a broker of its own, time-scaled, against what else could explain it."`
}

// timingInput is where contracts come from.
type timingInput struct {
	Files         []string `short:"f" name:"file" sep:"none" placeholder:"PATH" help:"Declarations: files or folders; can be repeated."`
	Snapshots     []string `name:"snapshot" sep:"none" placeholder:"FILE" help:"Take the streams, and what is live, from snapshots (or stream and consumer infos); can be repeated."`
	BrokerVersion string   `placeholder:"X.Y.Z" help:"Work it out for this version, whatever the cells report."`
	Stream        string   `placeholder:"NAME" help:"The stream of consumer configurations that do not tell it."`
}

// version is that of --broker-version, zero without it.
func (in *timingInput) version() (broker.Version, error) {
	a := auditCommand{BrokerVersion: in.BrokerVersion}
	return a.version()
}

// declared reads the declarations.
func (in *timingInput) declared() ([]*audit.Declaration, error) {
	set, err := declare.Paths(in.Files)
	if err != nil {
		return nil, usageError{err}
	}
	return set.Declarations, nil
}

// alone works out declarations by themselves.
func (in *timingInput) alone(ds []*audit.Declaration) ([]audit.Timing, error) {
	v, err := in.version()
	if err != nil {
		return nil, usageError{err}
	}
	for _, d := range ds {
		if d.Stream == "" {
			d.Stream = in.Stream
		}
		if d.Stream == "" {
			d.Stream = "?" // a stream of default settings, which its timing does not tell
		}
	}
	ts, err := audit.Timings(audit.DeclaredFleet(ds, v), ds)
	if err != nil {
		return nil, usageError{err}
	}
	return ts, nil
}

// against works out declarations over what is live.
func (in *timingInput) against(ctx context.Context, std *streams, c *connection, ds []*audit.Declaration) ([]audit.Timing, error) {
	a := auditCommand{Snapshots: in.Snapshots, BrokerVersion: in.BrokerVersion, connection: *c}
	fleet, _, err := a.fleets(ctx, std, &declare.Set{Declarations: ds})
	if err != nil {
		return nil, err
	}
	if err := audit.Resolve(fleet, ds, in.Stream); err != nil {
		return nil, usageError{err}
	}
	ts, err := audit.Timings(fleet, ds)
	if err != nil {
		return nil, usageError{err}
	}
	return ts, nil
}

func knownTimingFormat(f report.Format, formats []report.Format) error {
	if slices.Contains(formats, f) {
		return nil
	}
	return usageError{fmt.Errorf("--output: unknown format %q: want one of %v", f, formats)}
}

// timingShowCommand is `natsmig timing show`.
type timingShowCommand struct {
	timingInput
	Live   bool          `help:"Ask the live cells for the streams, and for what is live. Without --file they are asked anyway."`
	Output report.Format `short:"o" placeholder:"FORMAT" default:"table" help:"table, ascii, markdown, json or svg."`

	connection
}

// Run implements the command. Kong calls it.
func (c *timingShowCommand) Run(ctx context.Context, std *streams) error {
	if err := knownTimingFormat(c.Output, report.TimingFormats()); err != nil {
		return err
	}
	ds, err := c.declared()
	if err != nil {
		return err
	}
	ts, err := c.timings(ctx, std, &c.connection, ds, c.Live)
	if err != nil {
		return err
	}
	var views []report.Timing
	for i := range ts {
		views = append(views, viewTiming(&ts[i])...)
	}
	return report.WriteTimings(std.out, views, timingOptions(std, c.Output))
}

// timings are those of the declarations by themselves where no cell is to be
// looked at, and those over the cells otherwise.
func (in *timingInput) timings(ctx context.Context, std *streams, conn *connection, ds []*audit.Declaration, live bool) ([]audit.Timing, error) {
	if len(ds) > 0 && !live && len(in.Snapshots) == 0 {
		return in.alone(ds)
	}
	return in.against(ctx, std, conn, ds)
}

func timingOptions(std *streams, f report.Format) report.Options {
	return report.Options{Format: f, Color: color(std.out), Width: width(std.out)}
}

// viewTiming shows a contract. Without a handler section it is shown for a handler
// that does nothing and for one that naks at once.
func viewTiming(t *audit.Timing) []report.Timing {
	if t.After == nil {
		v := headTiming(t, report.DoesNothing)
		v.Reason = t.Reason
		return []report.Timing{v}
	}
	return viewContract(t, t.After)
}

func viewContract(t *audit.Timing, c *timingcontract.Contract) []report.Timing {
	if t.Handler {
		v := headTiming(t, report.Declared)
		v.Work(*c, t.Surroundings)
		return []report.Timing{v}
	}
	nothing, naks := headTiming(t, report.DoesNothing), headTiming(t, report.NaksAtOnce)
	nothing.Work(*c, t.Surroundings)
	nak := *c
	nak.Handler.OnFailure = timingcontract.Nak
	naks.Work(nak, t.Surroundings)
	return []report.Timing{nothing, naks}
}

func headTiming(t *audit.Timing, h report.Handler) report.Timing {
	return report.Timing{
		Cell: t.Cell, Stream: t.Stream, Consumer: t.Consumer, BrokerVersion: t.BrokerVersion, Handler: h,
		Deliveries: []string{}, Breaches: []report.TimingBreach{},
	}
}
