package main

import (
	"fmt"
	"strings"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/internal/spell"
)

// rulesCommand is `natsmig rules`.
type rulesCommand struct {
	Code string `arg:"" optional:"" help:"Code of the rule to explain, such as NM201."`
}

// Run implements the command. Kong calls it.
func (c *rulesCommand) Run(std *streams) error {
	if c.Code != "" {
		return c.explain(std)
	}
	for _, r := range audit.Rules() {
		fmt.Fprintf(std.out, "%s  %-7s  %s\n", r.Code, r.Severity, r.Title)
	}
	return nil
}

func (c *rulesCommand) explain(std *streams) error {
	r := audit.RuleByCode(c.Code)
	if r == nil {
		var codes []string
		for _, r := range audit.Rules() {
			codes = append(codes, r.Code)
		}
		hint := ""
		if near := spell.Nearest(strings.ToUpper(c.Code), codes); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return usageError{fmt.Errorf("no rule has the code %q%s", c.Code, hint)}
	}
	fmt.Fprintf(std.out, "%s (%s): %s\n\n%s\n", r.Code, r.Severity, r.Title, r.Doc)
	return nil
}
