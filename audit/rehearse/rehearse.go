package rehearse

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// Options say what to rehearse on. The zero Options use the server inside this
// program.
type Options struct {
	// Binary is the path of a nats-server. Empty: the server inside this program.
	Binary string
	// Logger receives the broker's log. Nil: it is dropped.
	Logger *slog.Logger

	// predict asks the model. Nil: audit.Compare. Tests make it err.
	predict predictor
}

type predictor func(*audit.Fleet, []*audit.Declaration, audit.Options) (*audit.Report, error)

// Run rehearses the declarations on f, rebuilt. The error tells declarations that
// do not belong to the fleet, as [audit.Compare] does, or a broker that did not
// start or stopped answering.
func Run(ctx context.Context, f *audit.Fleet, ds []*audit.Declaration, o Options) (*audit.Rehearsal, error) {
	if _, err := audit.Compare(f, ds, audit.Options{}); err != nil {
		return nil, err // before anything is started
	}
	if o.predict == nil {
		o.predict = audit.Compare
	}
	b, err := startBrokers(ctx, f, ds, o)
	if err != nil {
		return nil, err
	}
	defer b.close()
	cells, err := rebuildAll(ctx, f, b)
	if err != nil {
		return nil, err
	}
	return rehearseAll(ctx, cells, ds, o)
}

func rehearseAll(ctx context.Context, cells []*cell, ds []*audit.Declaration, o Options) (*audit.Rehearsal, error) {
	ds, placed := unplaced(ds)
	rebuilt, err := look(ctx, cells)
	if err != nil {
		return nil, err
	}
	predicted, err := o.predict(rebuilt, ds, audit.Options{})
	if err != nil {
		return nil, fmt.Errorf("ask the model: %w", err)
	}
	r := &audit.Rehearsal{Schema: audit.RehearsalSchema, Entries: []audit.Rehearsed{}}
	for _, c := range cells {
		r.BrokerVersion = c.now.Broker.Version.String()
		entries, err := newPlay(c, ds, placed, predicted).run(ctx)
		if err != nil {
			return nil, fmt.Errorf("cell %q: %w", c.was.Name, err)
		}
		r.Entries = append(r.Entries, entries...)
		r.Cells = append(r.Cells, audit.RehearsedCell{
			Cell: c.was.Name, BrokerVersion: c.was.Broker.Version.String(), Servers: c.servers,
			Complete: c.was.Complete, Notes: c.tell(),
		})
	}
	r.Finish()
	return r, nil
}

// tell lists what is to be known about the rebuilt cell as a whole.
func (c *cell) tell() []string {
	notes := append([]string{}, c.was.Assumptions...)
	for _, m := range c.was.Missing {
		notes = append(notes, strings.TrimSpace(m.Stream+" "+m.What)+" could not be read: "+m.Reason)
	}
	switch was, now := c.was.Broker.Version, c.now.Broker.Version; {
	case was.Line() != now.Line():
		notes = append(notes, fmt.Sprintf("the cell runs nats-server %s, and this is what %s does: rehearse with --broker and a binary of the %s line", was, now, was.Line()))
	case len(broker.Between(was, now)) > 0:
		notes = append(notes, fmt.Sprintf("the cell runs nats-server %s, and this is what %s does, which differs in what docs/broker-model.md lists: rehearse with --broker and a binary of %s", was, now, was))
	}
	return append(notes, c.notes...)
}

// look takes a snapshot of the rebuilt cells, so that the model is asked about
// just what the broker holds, in the broker's own version and limits.
func look(ctx context.Context, cells []*cell) (*audit.Fleet, error) {
	var sources []audit.Source
	for _, c := range cells {
		sources = append(sources, audit.Source{Name: c.was.Name, Conn: c.nc})
	}
	s, err := audit.Take(ctx, sources, audit.TakeOptions{Subjects: true, Timeout: askTimeout})
	if err != nil {
		return nil, err
	}
	for _, c := range s.Cells {
		if !c.Complete {
			return nil, fmt.Errorf("cell %q: could not read back %s: %s", c.Name, c.Missing[0].What, c.Missing[0].Reason)
		}
	}
	f, err := audit.Index(s, broker.Version{})
	if err != nil {
		return nil, err
	}
	for i, c := range cells { // both are ordered by name
		c.see(f.Cells[i])
	}
	return f, nil
}
