package audit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/natsmig/natsmig/audit/broker"
)

const inBaseline = "in the baseline"

// judge gives findings their severity, and a report its verdict.
type judge struct {
	Options
	known   map[BaselineEntry]bool
	used    []bool // by excuse
	expired []bool
}

func newJudge(o Options) *judge {
	j := &judge{Options: o}
	j.FailOn = cmp.Or(j.FailOn, Error)
	if o.Policy != nil {
		j.used, j.expired = make([]bool, len(o.Policy.Excuses)), make([]bool, len(o.Policy.Excuses))
	}
	if o.Baseline != nil {
		j.known = make(map[BaselineEntry]bool, len(o.Baseline.Findings))
		for _, f := range o.Baseline.Findings {
			j.known[f] = true
		}
	}
	return j
}

// report completes a finding and puts it into its entry.
func (j *judge) report(r *Rule, e *Entry, d *Declaration, f Finding) {
	f.Code = r.Code
	f.Severity = cmp.Or(f.Severity, r.Severity)
	if j.Policy != nil {
		f.Severity = cmp.Or(j.Policy.Severities[r.Code], f.Severity)
	}
	if f.Severity == SeverityOff {
		return
	}
	if d != nil && f.Position == (Position{}) {
		f.Position = d.PositionOf(f.Field)
	}
	f.Excused = j.excuse(e, &f)
	e.Findings = append(e.Findings, f)
}

func (j *judge) excuse(e *Entry, f *Finding) string {
	if j.Policy != nil {
		for i := range j.Policy.Excuses {
			x := &j.Policy.Excuses[i]
			if !x.covers(e, f) {
				continue
			}
			j.used[i] = true
			if !x.expired(j.Now) {
				return x.Reason
			}
			j.expired[i] = true
		}
	}
	if j.known[baselineEntry(e, f)] {
		return inBaseline
	}
	return ""
}

// rank makes severities comparable.
func (s Severity) rank() int { return slices.Index([]Severity{SeverityOff, Info, Warning, Error}, s) }

// finish orders the findings, counts, and gives the verdict.
func (j *judge) finish(r *Report, f *Fleet) {
	r.Summary.Cells = len(f.Cells)
	r.Summary.Findings = map[Severity]int{Error: 0, Warning: 0, Info: 0}
	j.tellAssumptions(r, f)
	j.tellExcuses(r)
	failed := false
	for _, list := range [][]Entry{r.Streams, r.Consumers} {
		for i := range list {
			failed = j.count(r, &list[i]) || failed
		}
	}
	r.Summary.Streams, r.Summary.Consumers = len(r.Streams), len(r.Consumers)
	for i := range r.Tool {
		failed = j.tally(r, &r.Tool[i]) || failed
	}
	switch {
	case failed:
		r.Verdict = Fail
	case len(r.Unknown) > 0 || r.Summary.Unknown > 0:
		r.Verdict = VerdictUnknown
	default:
		r.Verdict = Pass
	}
}

// count adds an entry to the summary and says whether it fails the report.
func (j *judge) count(r *Report, e *Entry) bool {
	slices.SortStableFunc(e.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Field, b.Field))
	})
	failed := false
	switch e.Outcome {
	case broker.Create:
		r.Summary.Create++
	case broker.Noop:
		r.Summary.Noop++
	case broker.Update:
		r.Summary.Update++
	case broker.Reject:
		r.Summary.Reject++
		failed = true
	case broker.Untouched:
		r.Summary.Untouched++
	case broker.Unknown:
		r.Summary.Unknown++
		r.Unknown = append(r.Unknown, Unknown{e.Cell, e.Stream, e.Consumer, e.Reason})
	}
	for i := range e.Findings {
		failed = j.tally(r, &e.Findings[i]) || failed
	}
	return failed
}

func (j *judge) tally(r *Report, f *Finding) bool {
	if f.Excused != "" {
		r.Summary.Excused++
		return false
	}
	r.Summary.Findings[f.Severity]++
	return f.Severity.rank() >= j.FailOn.rank()
}

func (j *judge) tellAssumptions(r *Report, f *Fleet) {
	for _, c := range f.Cells {
		for _, a := range c.Assumptions {
			j.tell(r, assumption, Finding{Message: c.Name + ": " + a})
		}
	}
}

func (j *judge) tellExcuses(r *Report) {
	if j.Policy == nil {
		return
	}
	for i, x := range j.Policy.Excuses {
		switch {
		case j.expired[i]:
			j.tell(r, expiredExcuse, Finding{
				Position: x.Position,
				Message:  fmt.Sprintf("the excuse for %s ran out on %s: %s", x.Code, x.Until.Format("2006-01-02"), x.Reason),
				Fix:      "mend what it excuses, or give it another date",
			})
		case !j.used[i]:
			j.tell(r, idleExcuse, Finding{
				Position: x.Position,
				Message:  fmt.Sprintf("the excuse for %s covers nothing any more: %s", x.Code, x.Reason),
				Fix:      "delete it",
			})
		}
	}
}

// tell adds a finding about the audit itself.
func (j *judge) tell(r *Report, rule *Rule, f Finding) {
	e := Entry{}
	j.report(rule, &e, nil, f)
	r.Tool = append(r.Tool, e.Findings...)
}
