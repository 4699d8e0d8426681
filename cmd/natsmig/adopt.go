package main

import (
	"context"
	"fmt"
	"io"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/declare"
)

// adoptCommand is `natsmig adopt`.
type adoptCommand struct {
	Snapshots  []string `name:"snapshot" sep:"none" placeholder:"FILE" help:"Adopt from snapshots instead of live cells; can be repeated."`
	Out        string   `short:"o" name:"out" placeholder:"FILE" help:"Write to a file instead of standard output."`
	Ephemerals bool     `help:"Take consumers without a durable name, too."`
	Internal   bool     `help:"Take the streams behind key-value buckets, object stores and MQTT, too."`

	connection
}

// Run implements the command. Kong calls it.
func (c *adoptCommand) Run(ctx context.Context, std *streams) error {
	s, err := c.live(ctx, std, c.Snapshots, audit.TakeOptions{})
	if err != nil {
		return err
	}
	fleet, err := audit.Index(s, broker.Version{})
	if err != nil {
		return err
	}
	ds := audit.Adopt(fleet, audit.AdoptOptions{Ephemerals: c.Ephemerals, Internal: c.Internal})
	if len(ds) == 0 {
		return fmt.Errorf("nothing to adopt: %s", counts(s))
	}
	write := func(w io.Writer) error { return declare.Write(w, ds) }
	if c.Out == "" {
		err = write(std.out)
	} else if err = writeFile(c.Out, write); err == nil {
		fmt.Fprintf(std.err, "wrote %s: %s; now: natsmig audit -f %s\n", c.Out, plural(len(ds), "declaration"), c.Out)
	}
	if err != nil {
		return err
	}
	if !tellMissing(std.err, s) || tellBad(std.err, fleet) {
		return errUnknown
	}
	return nil
}

// tellBad names the consumers that could not be understood, and so were not
// adopted.
func tellBad(w io.Writer, f *audit.Fleet) (found bool) {
	for _, c := range f.Cells {
		for _, s := range c.Streams {
			for _, k := range s.Consumers {
				if k.Bad != nil {
					found = true
					fmt.Fprintf(w, "natsmig: cell %q: not adopted: %s/%s: %v\n", c.Name, s.Name, k.Name, k.Bad)
				}
			}
		}
	}
	return found
}
