package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/natsmig/natsmig/audit"
)

// place is a position as file:line:col, with the parts that are known.
func place(p audit.Position) string {
	s := p.File
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
		if p.Col > 0 {
			s += fmt.Sprintf(":%d", p.Col)
		}
	}
	return s
}

// origin is who applies the declaration of e, and where it stands.
func origin(e *audit.Entry) string {
	var words []string
	if e.Writer != "" {
		words = append(words, string(e.Writer))
	}
	if e.Position != nil && place(*e.Position) != "" {
		words = append(words, place(*e.Position))
	}
	if len(words) == 0 {
		return "not declared"
	}
	return strings.Join(words, ", ")
}

// path joins the parts that are there.
func path(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "/")
}
