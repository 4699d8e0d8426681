package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/internal/report"
)

// tellStory tells a report as a story: what is live, what the code says, what
// will happen, and what to do.
func tellStory(w io.Writer, r *audit.Report, snap *audit.Snapshot, dir string) error {
	t := &teller{w: w, width: cmp.Or(width(w), storyWidth)}
	t.live(snap, r)
	t.code(r, filepath.Join(dir, declarationsFile))
	t.happens(r)
	t.todo(dir)
	return t.err
}

// storyWidth is how wide a story is told where no terminal says.
const storyWidth = 100

// teller writes, and remembers the first error.
type teller struct {
	w     io.Writer
	width int
	err   error
}

// hang says text behind a label, wrapped, further lines under its beginning.
func (t *teller) hang(label, text string) {
	t.say("%s%s", label, report.Wrap(text, t.width, len(label)))
}

func (t *teller) say(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

func (t *teller) live(snap *audit.Snapshot, r *audit.Report) {
	c := snap.Cells[0]
	t.say("WHAT IS LIVE  (nats-server %s, as a legacy client left it)", c.BrokerVersion)
	for i := range c.Streams {
		s := &c.Streams[i]
		t.say("  %-22s %s", s.Name(), plural(len(s.Consumers), "durable"))
	}
	for _, e := range r.Consumers {
		for _, f := range e.Findings {
			if f.Code == "NM403" {
				t.hang("  "+e.Name()+": ", f.Message)
			}
		}
	}
}

func (t *teller) code(r *audit.Report, path string) {
	byWriter := map[audit.Writer]int{}
	for _, e := range r.Consumers {
		byWriter[e.Writer]++
	}
	t.say("\nWHAT THE CODE SAYS  (%s)", path)
	t.say("  %s applied with create-or-update, %s bound by the legacy client", plural(byWriter[audit.Replace], "durable"), plural(byWriter[audit.Bind], "durable"))
}

// happens tells the findings, the gravest first, one that says the same of
// several durables once.
func (t *teller) happens(r *audit.Report) {
	s := r.Summary
	t.say("\nWHAT WILL HAPPEN  (%d refused, %d updated, %d untouched, %d as they are)", s.Reject, s.Update, s.Untouched, s.Noop)
	for _, e := range r.Consumers {
		if moved := envelopeMoves(e.Envelope); moved != "" && e.Outcome == broker.Update {
			t.say("  %s: last attempt %s", e.Name(), moved)
		}
	}
	for _, c := range chapters(r) {
		t.say("")
		t.hang("  "+strings.ToUpper(string(c.severity))+" "+c.code+"  ", c.message)
		t.hang("    in   ", strings.Join(c.names, ", "))
		t.hang("    fix  ", c.fix)
	}
}

func envelopeMoves(e *audit.EnvelopeChange) string {
	if e == nil || e.Before == nil || e.After == nil {
		return ""
	}
	before, after := e.Before.LastAttempt, e.After.LastAttempt
	if before == "" || after == "" || before == after {
		return ""
	}
	return fmt.Sprintf("%s -> %s", before, after)
}

// A chapter is a finding and all the durables that it is about.
type chapter struct {
	severity           audit.Severity
	code, message, fix string
	names              []string
}

func chapters(r *audit.Report) []*chapter {
	var all []*chapter
	for _, e := range slices.Concat(r.Streams, r.Consumers) {
		for _, f := range e.Findings {
			if f.Severity == audit.Info {
				continue
			}
			all = join(all, &e, &f)
		}
	}
	grave := func(c *chapter) int { return slices.Index([]audit.Severity{audit.Error, audit.Warning}, c.severity) }
	slices.SortStableFunc(all, func(a, b *chapter) int { return cmp.Compare(grave(a), grave(b)) })
	return all
}

func join(all []*chapter, e *audit.Entry, f *audit.Finding) []*chapter {
	for _, c := range all {
		if c.code == f.Code && c.message == f.Message {
			c.names = append(c.names, e.Name())
			return all
		}
	}
	return append(all, &chapter{f.Severity, f.Code, f.Message, f.Fix, []string{e.Name()}})
}

func (t *teller) todo(dir string) {
	t.say("\nWHAT TO DO  (the files are in %s)", dir)
	for _, next := range []struct{ why, command string }{
		{"see the whole report", fmt.Sprintf("natsmig audit --snapshot %s -f %s", filepath.Join(dir, snapshotFile), filepath.Join(dir, declarationsFile))},
		{"start from what is live", fmt.Sprintf("natsmig adopt --snapshot %s", filepath.Join(dir, snapshotFile))},
		{"read what a rule means", "natsmig rules NM202"},
	} {
		t.say("  %-24s %s", next.why, next.command)
	}
}
