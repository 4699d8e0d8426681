package main

import (
	"context"
	"errors"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/declare"
	"github.com/natsmig/natsmig/internal/report"
)

// timingCompareCommand is `natsmig timing compare`.
type timingCompareCommand struct {
	Before string `arg:"" optional:"" help:"Declarations as they were; with AFTER, no broker is asked."`
	After  string `arg:"" optional:"" help:"Declarations as they are."`
	timingInput
	All    bool          `help:"Show also consumers whose timing stays."`
	Output report.Format `short:"o" placeholder:"FORMAT" default:"table" help:"table, ascii, markdown, json or svg."`

	connection
}

// Run implements the command. Kong calls it.
func (c *timingCompareCommand) Run(ctx context.Context, std *streams) error {
	if err := knownTimingFormat(c.Output, report.TimingFormats()); err != nil {
		return err
	}
	changes, err := c.changes(ctx, std)
	if err != nil {
		return err
	}
	return report.WriteTimingChanges(std.out, changes, c.All, timingOptions(std, c.Output))
}

func (c *timingCompareCommand) changes(ctx context.Context, std *streams) ([]report.TimingChange, error) {
	switch {
	case c.Before != "" && c.After != "" && len(c.Files) == 0:
		return c.twoFiles()
	case c.Before != "" || len(c.Files) == 0:
		return nil, usageError{errors.New("name two files to compare, or declarations with --file to compare what is live with them")}
	}
	ds, err := c.declared()
	if err != nil {
		return nil, err
	}
	ts, err := c.against(ctx, std, &c.connection, ds)
	if err != nil {
		return nil, err
	}
	var out []report.TimingChange
	for i := range ts {
		out = append(out, change(&ts[i], &ts[i]))
	}
	return out, nil
}

// twoFiles matches the consumers of two files by their name.
func (c *timingCompareCommand) twoFiles() ([]report.TimingChange, error) {
	before, err := c.file(c.Before)
	if err != nil {
		return nil, err
	}
	after, err := c.file(c.After)
	if err != nil {
		return nil, err
	}
	var out []report.TimingChange
	seen := map[string]bool{}
	for i := range after {
		var old audit.Timing
		for j := range before {
			if sameConsumer(&before[j], &after[i]) {
				old = before[j]
				seen[timingKey(&old)] = true
			}
		}
		old.Before = old.After
		out = append(out, change(&old, &after[i]))
	}
	for i := range before {
		if gone := before[i]; !seen[timingKey(&gone)] {
			was := gone
			gone.After, gone.Reason, was.Before = nil, "it is declared no more", was.After
			out = append(out, change(&was, &gone))
		}
	}
	return out, nil
}

func (c *timingCompareCommand) file(path string) ([]audit.Timing, error) {
	set, err := declare.Paths([]string{path})
	if err != nil {
		return nil, usageError{err}
	}
	return c.alone(set.Declarations)
}

func timingKey(t *audit.Timing) string { return t.Cell + "/" + t.Stream + "/" + t.Consumer }

func sameConsumer(a, b *audit.Timing) bool { return timingKey(a) == timingKey(b) }

// change pairs what was with what will be. Without a handler section both sides
// are those of a handler that does nothing.
func change(before, after *audit.Timing) report.TimingChange {
	out := report.TimingChange{Cell: after.Cell, Stream: after.Stream, Consumer: after.Consumer}
	if before.Before != nil {
		v := viewContract(before, before.Before)[0]
		out.Before = &v
	}
	if after.After != nil {
		v := viewContract(after, after.After)[0]
		out.After = &v
	}
	out.Reason = after.Reason
	return out
}
