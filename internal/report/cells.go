package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/natsmig/natsmig/audit"
)

// cells names the cells of r and the broker versions seen in each.
func cells(r *audit.Report) []string {
	versions := map[string][]string{}
	for _, e := range entries(r) {
		versions[e.Cell] = append(versions[e.Cell], e.BrokerVersion)
	}
	var words []string
	for _, cell := range slices.Sorted(maps.Keys(versions)) {
		slices.Sort(versions[cell])
		words = append(words, strings.Join(versionWords(cell, slices.Compact(versions[cell])), " "))
	}
	return words
}

// versionWords leaves out what is not known: a cell need not have a name, as
// where it is the only one.
func versionWords(cell string, versions []string) []string {
	var words []string
	if cell != "" {
		words = append(words, cell)
	}
	if v := strings.Join(slices.DeleteFunc(versions, func(v string) bool { return v == "" }), ", "); v != "" {
		words = append(words, "nats-server "+v)
	}
	return words
}

// severalCells tells whether an entry needs its cell's name.
func severalCells(r *audit.Report) bool {
	seen := map[string]bool{}
	for _, e := range entries(r) {
		seen[e.Cell] = true
	}
	for _, u := range r.Unknown {
		seen[u.Cell] = true
	}
	return len(seen) > 1
}
