package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/declare"
	"github.com/natsmig/natsmig/internal/embedded"
	"github.com/natsmig/natsmig/internal/fleet"
	"github.com/natsmig/natsmig/internal/report"
)

// demoCommand is `natsmig demo`.
type demoCommand struct {
	Dir    string `placeholder:"DIR" default:"natsmig-demo" help:"Folder to leave the files in, ${default} unless told."`
	Broker string `placeholder:"PATH" type:"existingfile" help:"Use this nats-server binary instead of the embedded broker."`
	Keep   bool   `help:"Leave the broker running until interrupted, so that the commands can be tried live."`
	Full   bool   `help:"Show the whole report instead of the story."`
}

// Run implements the command. Kong calls it.
func (c *demoCommand) Run(ctx context.Context, std *streams) error {
	srv, err := embedded.Start(ctx, embedded.Config{Binary: c.Broker})
	if err != nil {
		return fmt.Errorf("start a broker: %w", err)
	}
	defer srv.Close() //nolint:errcheck // its folder is a temporary one
	nc, err := nats.Connect(srv.ClientURL(), nats.Name("natsmig demo"))
	if err != nil {
		return fmt.Errorf("connect to the demo broker: %w", err)
	}
	defer nc.Close()
	if err := fleet.Build(ctx, nc); err != nil {
		return fmt.Errorf("build the fleet: %w", err)
	}
	snap, err := audit.Take(ctx, []audit.Source{{Name: "demo", Conn: nc}}, audit.TakeOptions{})
	if err != nil {
		return err
	}
	if err := c.leaveFiles(snap); err != nil {
		return err
	}
	r, err := compareDemo(snap)
	if err != nil {
		return err
	}
	if c.Full {
		err = report.Write(std.out, r, report.Options{Color: color(std.out), Width: width(std.out)})
	} else {
		err = tellStory(std.out, r, snap, c.Dir)
	}
	if err != nil {
		return err
	}
	return c.keep(ctx, std, srv)
}

func compareDemo(snap *audit.Snapshot) (*audit.Report, error) {
	set, err := declare.Read(declarationsFile, fleet.Declarations)
	if err != nil {
		return nil, err
	}
	f, err := audit.Index(snap, broker.Version{})
	if err != nil {
		return nil, err
	}
	return audit.Compare(f, set.Declarations, audit.Options{Now: time.Now()})
}

// The files that the demo leaves.
const (
	declarationsFile = "fleet.yaml"
	snapshotFile     = "snapshot.json"
)

func (c *demoCommand) leaveFiles(snap *audit.Snapshot) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fmt.Errorf("make the demo's folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, declarationsFile), fleet.Declarations, 0o644); err != nil {
		return fmt.Errorf("leave the declarations: %w", err)
	}
	return writeFile(filepath.Join(c.Dir, snapshotFile), snap.Write)
}

// keep waits until the user has had enough of the broker.
func (c *demoCommand) keep(ctx context.Context, std *streams, srv *embedded.Server) error {
	if !c.Keep {
		return nil
	}
	fmt.Fprintf(std.out, "\nThe broker runs until you press Ctrl-C. In another terminal:\n\n  natsmig audit --server %s -f %s\n", srv.ClientURL(), filepath.Join(c.Dir, declarationsFile))
	<-ctx.Done()
	return nil
}
