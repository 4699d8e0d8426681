package timingcontract

import (
	"fmt"
	"strings"
	"time"
)

// A Comparison is the timing of one consumer before and after a change.
type Comparison struct {
	Before, After Envelope
	// Rows tell every delivery and every figure that one of the two has, whether
	// it changes or not.
	Rows []Row
}

// A Row is one line of a comparison.
type Row struct {
	Name          string
	Before, After string // "–" where there is nothing
	Changed       bool
}

// absent stands where one side has nothing.
const absent = "–"

// Compare works out both contracts, for messages whose every attempt fails at
// once.
func Compare(before, after Contract) Comparison {
	c := Comparison{Before: before.Envelope(), After: after.Envelope()}
	c.row("retries", before.tellEnd(&c.Before), after.tellEnd(&c.After))
	b, a := before.Course(Instant), after.Course(Instant)
	for i := range max(len(b.Deliveries), len(a.Deliveries)) {
		c.row(fmt.Sprintf("delivery %d", i+1), nth(b.Deliveries, i), nth(a.Deliveries, i))
	}
	for _, of := range []struct {
		name string
		get  func(*Envelope) string
	}{
		{"last attempt", func(e *Envelope) string { return moment(&e.LastAttempt) }},
		{"capture", func(e *Envelope) string { return moment(e.Capture) }},
		{"exhausted", func(e *Envelope) string { return span(e.Exhausted) }},
		{"residency", func(e *Envelope) string { return span(e.Residency) }},
	} {
		c.row(of.name, of.get(&c.Before), of.get(&c.After))
	}
	return c
}

func (c *Comparison) row(name, before, after string) {
	if before != absent || after != absent {
		c.Rows = append(c.Rows, Row{name, before, after, before != after})
	}
}

// Changed says whether anything differs.
func (c *Comparison) Changed() bool {
	for _, r := range c.Rows {
		if r.Changed {
			return true
		}
	}
	return false
}

// Table writes the comparison as lines of text in columns.
func (c *Comparison) Table() string {
	rows := append([]Row{{Name: "", Before: "before", After: "after"}}, c.Rows...)
	widths := [2]int{}
	for _, r := range rows {
		widths[0], widths[1] = max(widths[0], len([]rune(r.Name))), max(widths[1], len([]rune(r.Before)))
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%-*s  %-*s  %s\n", widths[0], r.Name, widths[1], r.Before, r.After)
	}
	return b.String()
}

// tellEnd says in a word how the retries end.
func (c *Contract) tellEnd(e *Envelope) string {
	switch {
	case e.Stalled:
		return "stuck"
	case c.Handler.OnFailure == Discard:
		return "none"
	case e.Unbounded:
		return "for ever"
	}
	return "bounded"
}

func nth(list []time.Duration, i int) string {
	if i >= len(list) {
		return absent
	}
	return Duration(list[i])
}

func moment(m *Moment) string {
	if m == nil || m.Delivery == 0 {
		return absent
	}
	return fmt.Sprintf("%s (delivery %d)", Duration(m.At), m.Delivery)
}

func span(d time.Duration) string {
	if d == 0 {
		return absent
	}
	return Duration(d)
}
