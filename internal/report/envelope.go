package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit"
)

// envelopeLines tells how the timing of a failing message changes, or what it
// is where it does not.
func envelopeLines(c *audit.EnvelopeChange) []string {
	if c == nil || c.Before == nil && c.After == nil {
		return nil
	}
	lines := []string{attempts(c)}
	for _, p := range []struct {
		word string
		of   func(*audit.EnvelopeView) string
	}{
		{"capture", func(v *audit.EnvelopeView) string { return v.Capture }},
		{"exhausted", func(v *audit.EnvelopeView) string { return v.Exhausted }},
	} {
		before, after := part(c.Before, p.of), part(c.After, p.of)
		if before != absent || after != absent {
			lines = append(lines, p.word+" "+move(c, before, after))
		}
	}
	return lines
}

// attempts tells when the handler gets its last chance.
func attempts(c *audit.EnvelopeChange) string {
	const bounded = "last attempt "
	before, after := lastAttempt(c.Before), lastAttempt(c.After)
	line := move(c, before, after)
	if strings.HasPrefix(before, bounded) && strings.HasPrefix(after, bounded) && before != after {
		return before + " -> " + strings.TrimPrefix(after, bounded)
	}
	return line
}

// move writes one value if there is one only.
func move(c *audit.EnvelopeChange, before, after string) string {
	switch {
	case c.Before == nil || before == after:
		return after
	default:
		return before + " -> " + after
	}
}

func lastAttempt(v *audit.EnvelopeView) string {
	switch {
	case v == nil:
		return absent
	case v.Stalled:
		return "never delivered again"
	case v.Unbounded:
		return "retried for ever"
	case v.LastAttempt == "":
		return "no timing"
	case v.LastAttemptDelivery == 0:
		return "last attempt " + span(v.LastAttempt)
	default:
		return fmt.Sprintf("last attempt %s (delivery %d)", span(v.LastAttempt), v.LastAttemptDelivery)
	}
}

// part is one moment of an envelope; v may be nil.
func part(v *audit.EnvelopeView, of func(*audit.EnvelopeView) string) string {
	if v == nil || of(v) == "" {
		return absent
	}
	return span(of(v))
}

// span writes a duration that is spelt by Go as [Duration] does.
func span(s string) string {
	if d, err := time.ParseDuration(s); err == nil {
		return audit.Duration(d)
	}
	return s
}
