package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/declare"
	"github.com/natsmig/natsmig/internal/report"
)

// auditCommand is `natsmig audit`.
type auditCommand struct {
	Files         []string       `short:"f" name:"file" sep:"none" placeholder:"PATH" help:"Declarations and policy: files or folders; can be repeated. Without any, only what is live is judged."`
	Snapshots     []string       `name:"snapshot" sep:"none" placeholder:"FILE" help:"Compare with snapshots (or stream and consumer infos) instead of live cells; can be repeated."`
	Since         []string       `sep:"none" placeholder:"FILE" help:"An earlier snapshot, to see values that flip; can be repeated, oldest first."`
	BrokerVersion string         `placeholder:"X.Y.Z" help:"Ask what this version would do, whatever the cells report."`
	Stream        string         `placeholder:"NAME" help:"The stream of consumer configurations that do not tell it."`
	Output        report.Format  `short:"o" placeholder:"FORMAT" default:"table" help:"table, ascii, markdown or json."`
	FailOn        audit.Severity `enum:"info,warning,error" default:"error" placeholder:"SEVERITY" help:"Lowest severity that fails: ${enum}."`
	Baseline      string         `placeholder:"FILE" help:"Findings that do not count."`
	WriteBaseline string         `placeholder:"FILE" help:"Write the findings of this audit as a baseline, and succeed."`
	All           bool           `help:"Show also what has nothing to say."`
	Subjects      bool           `help:"Count the messages by subject in live cells, to tell losses in numbers."`

	connection
}

// Run implements the command. Kong calls it.
func (c *auditCommand) Run(ctx context.Context, std *streams) error {
	set, err := c.declarations()
	if err != nil {
		return err
	}
	fleet, since, err := c.fleets(ctx, std, set)
	if err != nil {
		return err
	}
	if err := audit.Resolve(fleet, set.Declarations, c.Stream); err != nil {
		return usageError{err}
	}
	o := audit.Options{FailOn: c.FailOn, Policy: set.Policy, Now: time.Now(), Since: since}
	if o.Baseline, err = c.baseline(); err != nil {
		return usageError{err}
	}
	r, err := audit.Compare(fleet, set.Declarations, o)
	if err != nil {
		return usageError{err}
	}
	if c.WriteBaseline != "" {
		return c.writeBaseline(std, r)
	}
	err = report.Write(std.out, r, report.Options{Format: c.Output, Color: color(std.out), Width: width(std.out), All: c.All})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return verdict(r.Verdict)
}

func verdict(v audit.Verdict) error {
	switch v {
	case audit.Fail:
		return errFail
	case audit.VerdictUnknown:
		return errUnknown
	case audit.Pass:
	}
	return nil
}

// declarations checks what can be checked before anything is connected to.
func (c *auditCommand) declarations() (*declare.Set, error) {
	if _, err := c.version(); err != nil {
		return nil, usageError{err}
	}
	return readDeclarations(c.Output, c.Files)
}

func readDeclarations(f report.Format, files []string) (*declare.Set, error) {
	if err := knownFormat(f); err != nil {
		return nil, usageError{err}
	}
	set, err := declare.Paths(files)
	if err != nil {
		return nil, usageError{err}
	}
	return set, nil
}

func knownFormat(f report.Format) error {
	if slices.Contains(report.Formats(), f) {
		return nil
	}
	return fmt.Errorf("--output: unknown format %q: want one of %v", f, report.Formats())
}

func (c *auditCommand) version() (broker.Version, error) {
	if c.BrokerVersion == "" {
		return broker.Version{}, nil
	}
	v, err := broker.ParseVersion(c.BrokerVersion)
	if err != nil {
		return v, fmt.Errorf("--broker-version: %w", err)
	}
	return v, nil
}

// fleets reads what is live, and what was.
func (c *auditCommand) fleets(ctx context.Context, std *streams, set *declare.Set) (*audit.Fleet, []*audit.Fleet, error) {
	v, err := c.version()
	if err != nil {
		return nil, nil, usageError{err}
	}
	s, err := c.live(ctx, std, c.Snapshots, audit.TakeOptions{Known: known(set.Declarations), Subjects: c.Subjects})
	if err != nil {
		return nil, nil, err
	}
	fleet, err := audit.Index(s, v)
	if err != nil {
		return nil, nil, err
	}
	var since []*audit.Fleet
	for _, path := range c.Since {
		old, err := readSnapshots([]string{path})
		if err != nil {
			return nil, nil, err
		}
		f, err := audit.Index(old, v)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		since = append(since, f)
	}
	return fleet, since, nil
}

// known lists what the declarations name, to be asked for where listing is
// denied.
func known(ds []*audit.Declaration) map[string][]string {
	names := map[string][]string{}
	for _, d := range ds {
		if d.Stream == "" {
			continue
		}
		if d.Consumer == "" {
			names[d.Stream] = append(names[d.Stream], []string{}...)
			continue
		}
		names[d.Stream] = append(names[d.Stream], d.Consumer)
	}
	return names
}

func readSnapshots(paths []string) (*audit.Snapshot, error) {
	var all []*audit.Snapshot
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("read snapshot: %w", err)
		}
		s, err := audit.ReadSnapshot(p, data)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return audit.Join(all...), nil
}

func (c *auditCommand) baseline() (*audit.Baseline, error) {
	if c.Baseline == "" {
		return nil, nil // no baseline is a state of its own
	}
	data, err := os.ReadFile(c.Baseline)
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	return audit.ReadBaseline(c.Baseline, data)
}

// writeBaseline succeeds where everything could be checked: what was not seen
// can not be known.
func (c *auditCommand) writeBaseline(std *streams, r *audit.Report) error {
	b := audit.NewBaseline(r)
	if err := writeFile(c.WriteBaseline, b.Write); err != nil {
		return err
	}
	fmt.Fprintf(std.err, "wrote %s: %d findings that do not count from now on with --baseline %s\n", c.WriteBaseline, len(b.Findings), c.WriteBaseline)
	if r.Summary.Reject > 0 {
		fmt.Fprintf(std.err, "natsmig: %d declarations are refused by the broker: no baseline changes that\n", r.Summary.Reject)
	}
	if len(r.Unknown) > 0 {
		for _, u := range r.Unknown {
			fmt.Fprintf(std.err, "natsmig: cell %q: not checked: %s\n", u.Cell, u.Reason)
		}
		return errUnknown
	}
	return nil
}
