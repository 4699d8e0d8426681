package report

import (
	"slices"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// A doubt is something that is not known, and why.
type doubt struct{ subject, reason string }

// doubts lists the parts that could not be checked, then the entries whose
// outcome is unknown, without saying anything twice.
func doubts(r *audit.Report) []doubt {
	several := severalCells(r)
	var ds []doubt
	for _, u := range r.Unknown {
		ds = append(ds, doubt{path(u.Cell, u.Stream, u.Consumer), u.Reason})
	}
	for _, e := range entries(r) {
		if e.Outcome != broker.Unknown || slices.Contains(ds, doubt{path(e.Cell, e.Stream, e.Consumer), e.Reason}) {
			continue
		}
		if several {
			ds = append(ds, doubt{path(e.Cell, e.Stream, e.Consumer), e.Reason})
		} else {
			ds = append(ds, doubt{e.Name(), e.Reason})
		}
	}
	return ds
}
