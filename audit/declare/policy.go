package declare

import (
	"fmt"
	"path"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/internal/strictyaml"
)

// policy reads severities and excuses.
func (r *reader) policy(o *strictyaml.Object) {
	p := &audit.Policy{Severities: map[string]audit.Severity{}}
	var severity map[string]string
	o.Texts("severity", &severity)
	at := o.Node("severity")
	excuses := o.Node("excuses")
	o.Done()
	for _, code := range sortedKeys(severity) {
		n := at.Get(code)
		r.ruleCode(n, "severity."+code, code)
		words := []string{"off", "info", "warning", "error"}
		one := r.errs.Object(at, "severity")
		var v string
		one.OneOf(code, &v, words)
		p.Severities[code] = audit.Severity(v)
	}
	if excuses != nil {
		r.each(o, excuses, "excuses", func(item *strictyaml.Node, at string) {
			r.excuse(r.errs.Object(item, at), item, p)
		})
	}
	r.set.Policy = p
}

func (r *reader) ruleCode(n *strictyaml.Node, at, code string) {
	if audit.RuleByCode(code) != nil {
		return
	}
	var known []string
	for _, rule := range audit.Rules() {
		known = append(known, rule.Code)
	}
	r.errs.Add(n, at, "no rule has the code %q%s (natsmig rules lists them)", code, strictyaml.Suggest(code, known))
}

func (r *reader) excuse(o *strictyaml.Object, item *strictyaml.Node, p *audit.Policy) {
	if !o.There() {
		return
	}
	x := audit.Excuse{Position: r.position(item)}
	var until string
	o.Text("code", &x.Code)
	o.Text("match", &x.Match)
	o.Text("field", &x.Field)
	o.Text("reason", &x.Reason)
	o.Text("until", &until)
	o.Done()
	r.ruleCode(item, o.Path("code"), x.Code)
	if x.Reason == "" {
		r.errs.Add(item, o.Path("reason"), "is missing: an excuse says why")
	}
	if _, err := path.Match(x.Match, ""); err != nil {
		r.errs.Add(item, o.Path("match"), "%q is no pattern: %v", x.Match, err)
	}
	day, err := time.Parse("2006-01-02", firstTen(until))
	if err != nil {
		r.errs.Add(item, o.Path("until"), "%s", fmt.Sprintf("want the last day it holds, such as 2027-03-31, have %q", until))
	}
	x.Until = day
	p.Excuses = append(p.Excuses, x)
}

// firstTen is the day of a time: YAML reads a bare date as one.
func firstTen(s string) string {
	if len(s) > 10 {
		return s[:10]
	}
	return s
}
