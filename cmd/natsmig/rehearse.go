package main

import (
	"context"
	"errors"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/rehearse"
	"github.com/natsmig/natsmig/internal/report"
)

// rehearseCommand is `natsmig rehearse`.
type rehearseCommand struct {
	Files     []string      `short:"f" name:"file" sep:"none" placeholder:"PATH" help:"Declarations: files or folders; can be repeated. Without any, what is live is declared as adopt would."`
	Snapshots []string      `name:"snapshot" sep:"none" placeholder:"FILE" help:"Rebuild from snapshots (or stream and consumer infos) instead of live cells; can be repeated."`
	Broker    string        `placeholder:"PATH" type:"existingfile" help:"Rehearse on this nats-server binary instead of the embedded broker."`
	Stream    string        `placeholder:"NAME" help:"The stream of consumer configurations that do not tell it."`
	Output    report.Format `short:"o" placeholder:"FORMAT" default:"table" help:"table, ascii, markdown or json."`
	Subjects  bool          `help:"Count the messages by subject in live cells, to rehearse losses on stand-in messages."`

	connection
}

// Run implements the command. Kong calls it.
func (c *rehearseCommand) Run(ctx context.Context, std *streams) error {
	set, err := readDeclarations(c.Output, c.Files)
	if err != nil {
		return err
	}
	s, err := c.live(ctx, std, c.Snapshots, audit.TakeOptions{Known: known(set.Declarations), Subjects: c.Subjects})
	if err != nil {
		return err
	}
	fleet, err := audit.Index(s, broker.Version{})
	if err != nil {
		return err
	}
	ds, err := c.declarations(fleet, set.Declarations)
	if err != nil {
		return err
	}
	r, err := rehearse.Run(ctx, fleet, ds, rehearse.Options{Binary: c.Broker})
	if err != nil {
		return misdirected(err)
	}
	return c.tell(std, r)
}

// declarations are those of the files, or what adopt makes of the fleet.
func (c *rehearseCommand) declarations(f *audit.Fleet, ds []*audit.Declaration) ([]*audit.Declaration, error) {
	if len(c.Files) == 0 {
		ds = audit.Adopt(f, audit.AdoptOptions{})
	}
	if len(ds) == 0 {
		return nil, usageError{errors.New("nothing is declared: name declarations with -f")}
	}
	if err := audit.Resolve(f, ds, c.Stream); err != nil {
		return nil, usageError{err}
	}
	return ds, nil
}

// misdirected makes a usage error of declarations that do not belong to the
// fleet.
func misdirected(err error) error {
	var target *audit.TargetError
	var twice *audit.DuplicateError
	if errors.As(err, &target) || errors.As(err, &twice) {
		return usageError{err}
	}
	return err
}

func (c *rehearseCommand) tell(std *streams, r *audit.Rehearsal) error {
	err := report.WriteRehearsal(std.out, r, report.Options{Format: c.Output, Color: color(std.out), Width: width(std.out)})
	if err != nil {
		return err
	}
	return verdict(r.Verdict)
}
