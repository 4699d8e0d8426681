package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/internal/report"
	"github.com/natsmig/natsmig/readiness"
)

// readyTimeout is short, because whoever probes waits, and asks again anyway.
const readyTimeout = 2 * time.Second

// readyCommand is `natsmig ready`.
type readyCommand struct {
	Durables     []string      `arg:"" optional:"" name:"durable" help:"Durables to ask about, as STREAM/DURABLE."`
	Files        []string      `short:"f" name:"file" sep:"none" placeholder:"PATH" help:"Declarations, to ask about every consumer in them: files or folders; can be repeated."`
	Stream       string        `placeholder:"NAME" help:"The stream of consumer configurations that do not tell it."`
	RequireBound bool          `help:"Want somebody to take messages: a pull that waits or a message in work, a subscription to a push consumer."`
	AllowPaused  bool          `help:"Take a paused consumer as consumable."`
	Output       report.Format `short:"o" placeholder:"FORMAT" default:"table" help:"table, ascii, markdown or json."`

	connection
}

// Run implements the command. Kong calls it.
func (c *readyCommand) Run(ctx context.Context, std *streams) error {
	probed, err := c.probed()
	if err != nil {
		return usageError{err}
	}
	began := time.Now()
	c.otherTimeout = readyTimeout
	sources, timeout, closeAll, err := c.connect(ctx, std.err)
	if err != nil {
		return err
	}
	defer closeAll()
	ctx, cancel := context.WithDeadlineCause(ctx, began.Add(timeout), fmt.Errorf("no answer within %v", timeout))
	defer cancel()
	p := readiness.Probe{Timeout: timeout, RequireBound: c.RequireBound, AllowPaused: c.AllowPaused}
	found, err := askCells(ctx, p, sources, probed)
	if err != nil {
		return usageError{err}
	}
	r := summed(found)
	if err := report.WriteReadiness(std.out, r, report.Options{Format: c.Output, Color: color(std.out)}); err != nil {
		return err
	}
	return verdict(r.Verdict)
}

// A probedDurable is what to ask about, and where.
type probedDurable struct {
	readiness.Durable
	at     audit.Position
	target audit.Target
}

// probed lists what is named, then what is declared.
func (c *readyCommand) probed() ([]probedDurable, error) {
	var all []probedDurable
	var errs []error
	for _, arg := range c.Durables {
		d, err := readiness.ParseDurable(arg)
		errs = append(errs, err)
		all = append(all, probedDurable{Durable: d})
	}
	set, err := readDeclarations(c.Output, c.Files)
	if err != nil {
		return nil, errors.Join(append(errs, err)...)
	}
	for _, d := range set.Declarations {
		if d.Consumer == "" {
			continue
		}
		p, err := c.declared(d)
		errs = append(errs, err)
		all = append(all, p)
	}
	if len(all) == 0 {
		errs = append(errs, errors.New("nothing to ask about: name durables as STREAM/DURABLE, or declarations of consumers with -f"))
	}
	return all, errors.Join(errs...)
}

// declared is what a declaration of a consumer asks for.
func (c *readyCommand) declared(d *audit.Declaration) (probedDurable, error) {
	p := probedDurable{Durable: readiness.Durable{Stream: d.Stream, Consumer: d.Consumer}, at: d.Position, target: d.Target}
	if p.Stream == "" {
		p.Stream = c.Stream
	}
	if p.Stream == "" {
		return p, fmt.Errorf("%v: the stream of consumer %q is not told: name it with --stream", d.Position, d.Consumer)
	}
	_, err := readiness.ParseDurable(p.String())
	if err != nil {
		err = fmt.Errorf("%v: %w", d.Position, err)
	}
	return p, err
}
