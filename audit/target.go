package audit

import (
	"fmt"
	"slices"
	"strings"
)

// Matches says whether a declaration with this target is for the cell.
func (t Target) Matches(c *CellView) bool {
	return agree(t.Cell, c.Name) && agree(t.Cluster, c.Cluster) && agree(t.Domain, c.Domain) && agree(t.Account, c.Account)
}

func agree(want, have string) bool { return want == "" || want == have }

// String writes the target as it stands in a file.
func (t Target) String() string {
	var parts []string
	for _, p := range []struct{ name, value string }{
		{"cell", t.Cell}, {"cluster", t.Cluster}, {"domain", t.Domain}, {"account", t.Account},
	} {
		if p.value != "" {
			parts = append(parts, p.name+" "+p.value)
		}
	}
	return strings.Join(parts, ", ")
}

// A TargetError says that declarations and cells do not belong together.
type TargetError struct {
	Position Position
	Target   Target   // the declaration's; zero when it is the cell that has none
	Cells    []string // what there is instead
}

// Error implements error.
func (e *TargetError) Error() string {
	if e.Target == (Target{}) {
		return fmt.Sprintf("wrong target: no declaration is for cell %s", strings.Join(e.Cells, ", "))
	}
	return fmt.Sprintf("%swrong target: the declaration is for %s, the audit is of %s", e.Position.prefix(), e.Target, strings.Join(e.Cells, "; "))
}

// checkTargets wants every declaration to be for some cell, and every cell that
// has streams to have some declaration.
func checkTargets(f *Fleet, ds []*Declaration) error {
	for _, d := range ds {
		if !slices.ContainsFunc(f.Cells, d.Target.Matches) {
			return &TargetError{d.Position, d.Target, describeCells(f)}
		}
	}
	for _, c := range f.Cells {
		if len(ds) > 0 && len(c.Streams) > 0 && !slices.ContainsFunc(ds, func(d *Declaration) bool { return d.Target.Matches(c) }) {
			return &TargetError{Cells: []string{c.Name}}
		}
	}
	return nil
}

func describeCells(f *Fleet) []string {
	var all []string
	for _, c := range f.Cells {
		all = append(all, Target{c.Name, c.Cluster, c.Domain, c.Account}.String())
	}
	return all
}
