package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/readiness"
)

// ReadySchema names the JSON form of a [Readiness].
const ReadySchema = "natsmig.ready.v1"

// A Readiness says of durables whether they can be consumed now.
type Readiness struct {
	Schema string `json:"schema"`
	// Verdict is fail where a durable can not be consumed, else unknown where one
	// could not be told of.
	Verdict  audit.Verdict `json:"verdict"`
	Durables []Probed      `json:"durables"` // by cell, in the order in which they were named
	Summary  ReadySummary  `json:"summary"`
}

// Probed is what a probe found of one durable.
type Probed struct {
	Cell     string          `json:"cell"`
	Stream   string          `json:"stream"`
	Consumer string          `json:"consumer"`
	Ready    bool            `json:"ready"`
	State    readiness.State `json:"state"`
	Class    readiness.Class `json:"class,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Created  *time.Time      `json:"created,omitempty"` // of the consumer, where it answered
}

// ReadySummary counts the durables.
type ReadySummary struct {
	Durables      int `json:"durables"`
	Consumable    int `json:"consumable"`
	NotConsumable int `json:"not_consumable"`
	Unknown       int `json:"unknown"`
}

// WriteReadiness writes r to w: for people one line for each durable, those first
// that fail, for what reads the output of a probe may cut it. Both text formats are
// plain lines, for it is no terminal that they are made for. It fails on a format
// that is not in [Formats], and when w does.
func WriteReadiness(w io.Writer, r *Readiness, o Options) error {
	out, err := renderReadiness(r, o)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, out); err != nil {
		return fmt.Errorf("write readiness: %w", err)
	}
	return nil
}

func renderReadiness(r *Readiness, o Options) (string, error) {
	switch o.Format {
	case Table, "":
		return readinessText(r, style{color: o.Color}), nil
	case ASCII:
		return readinessText(r, style{color: o.Color, ascii: true}), nil
	case Markdown:
		return readinessMarkdown(r)
	case JSON:
		return indented(r)
	default:
		return "", fmt.Errorf("unknown format %q: want %s", o.Format, oneOf(Formats()))
	}
}

// stateOrder is what is told first.
var stateOrder = [...]readiness.State{readiness.NotConsumable, readiness.Unknown, readiness.Consumable}

// byState lists the durables as they are told, and whether they are of several
// cells.
func (r *Readiness) byState() (all []Probed, several bool) {
	for _, s := range stateOrder {
		for _, d := range r.Durables {
			if d.State == s {
				all = append(all, d)
			}
		}
	}
	several = slices.ContainsFunc(all, func(d Probed) bool { return d.Cell != all[0].Cell })
	return all, several
}

// name is what a person calls the durable.
func (d *Probed) name(several bool) string {
	if several {
		return path(d.Cell, d.Stream, d.Consumer)
	}
	return path(d.Stream, d.Consumer)
}

// why is the reason, behind the word for it.
func (d *Probed) why() string {
	if d.Class == readiness.None {
		return d.Reason
	}
	return string(d.Class) + ": " + d.Reason
}

func readinessText(r *Readiness, s style) string {
	p := &page{style: s}
	all, several := r.byState()
	for _, d := range all {
		c := map[readiness.State]paint{readiness.NotConsumable: red, readiness.Unknown: yellow}[d.State]
		line := p.paint(c, fmt.Sprintf("%-14s", d.State)) + "  " + p.text(d.name(several))
		if why := d.why(); why != "" {
			line += "  " + p.text(why)
		}
		p.WriteString(line + "\n")
	}
	return p.String()
}

func readinessMarkdown(r *Readiness) (string, error) {
	c := &comment{}
	all, several := r.byState()
	var rows [][]string
	for _, d := range all {
		rows = append(rows, []string{code(d.name(several)), inline(string(d.State)), inline(d.why())})
	}
	fmt.Fprintf(c, "**%s** %d of %s consumable\n", inline(strings.ToUpper(string(r.Verdict))), r.Summary.Consumable, count(r.Summary.Durables, "durable"))
	err := c.table([]string{"durable", "state", "reason"}, rows)
	return c.String(), err
}
