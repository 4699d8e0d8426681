package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/natsmig/natsmig/audit"
)

// snapshotCommand is `natsmig snapshot`.
type snapshotCommand struct {
	Out      string   `short:"o" name:"out" placeholder:"FILE" help:"Write to a file instead of standard output."`
	Subjects bool     `help:"Count the messages by subject, too: what a narrower filter would delete is then told in numbers. Costly on streams with many subjects."`
	Streams  []string `name:"stream" placeholder:"NAME" help:"A stream to ask for by name where listing is denied; can be repeated."`

	connection
}

// Run implements the command. Kong calls it.
func (c *snapshotCommand) Run(ctx context.Context, std *streams) error {
	known := map[string][]string{}
	for _, s := range c.Streams {
		known[s] = nil
	}
	s, err := c.take(ctx, std.err, audit.TakeOptions{Subjects: c.Subjects, Known: known})
	if err != nil {
		return err
	}
	if err := onlyFailure(s); err != nil {
		return err
	}
	if err := c.write(std.out, s); err != nil {
		return err
	}
	complete := tellMissing(std.err, s)
	if c.Out != "" {
		fmt.Fprintf(std.err, "wrote %s: %s\n", c.Out, counts(s))
	}
	if !complete {
		return errUnknown
	}
	return nil
}

func counts(s *audit.Snapshot) string {
	streams, consumers := 0, 0
	for _, c := range s.Cells {
		streams += len(c.Streams)
		for _, st := range c.Streams {
			consumers += len(st.Consumers)
		}
	}
	return strings.Join([]string{plural(len(s.Cells), "cell"), plural(streams, "stream"), plural(consumers, "consumer")}, ", ")
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func (c *snapshotCommand) write(stdout io.Writer, s *audit.Snapshot) error {
	if c.Out == "" {
		return s.Write(stdout)
	}
	return writeFile(c.Out, s.Write)
}

// writeFile writes a file whole or not at all: a reader never sees half of it.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".natsmig-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is renamed by then, or half written
	if err := write(f); err != nil {
		_ = f.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
