package report

import (
	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// A style is what the text formats differ in.
type style struct {
	color bool
	ascii bool
	width int // 0 or less: unlimited
}

// text makes a name or a word from outside harmless.
func (s style) text(v string) string { return clean(v, s.ascii) }

// gap stands for what was left out of a value.
func (s style) gap() string {
	if s.ascii {
		return "..."
	}
	return "…"
}

// A paint is an ANSI color or attribute.
type paint string

const (
	bold   paint = "1"
	dim    paint = "2"
	red    paint = "31"
	green  paint = "32"
	yellow paint = "33"
	cyan   paint = "36"
)

func (s style) paint(p paint, text string) string {
	if !s.color || p == "" || text == "" {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

func verdictPaint(v audit.Verdict) paint {
	switch v {
	case audit.Pass:
		return green
	case audit.Fail:
		return red
	default:
		return yellow
	}
}

func severityPaint(s audit.Severity) paint {
	switch s {
	case audit.Error:
		return red
	case audit.Warning:
		return yellow
	default:
		return cyan
	}
}

func outcomePaint(o broker.Outcome) paint {
	switch o {
	case broker.Reject:
		return red
	case broker.Update, broker.Create, broker.Unknown:
		return yellow
	default:
		return ""
	}
}

func classPaint(c audit.Class) paint {
	switch c {
	case audit.Rejected, audit.Destructive:
		return red
	case audit.SilentReset, audit.Clamp, audit.Orphan, audit.Ignored:
		return yellow
	default:
		return ""
	}
}

// columns is how many columns of a terminal v takes. Whether ambiguous
// characters are wide is not left to the environment: output is deterministic.
func columns(v string) int {
	return twwidth.WidthWithOptions(v, twwidth.Options{EastAsianWidth: false})
}
