package audit

import "strings"

// A Rule is one check: a code that never changes its meaning, a text that
// explains it, and a pure function. It has one function, for what it looks at.
type Rule struct {
	Code     string   // NM1xx timing, NM2xx consumer fields, NM3xx streams, NM4xx fleet, NM9xx the tool
	Title    string   // a short clause without a full stop
	Doc      string   // why the rule exists and how to satisfy it
	Severity Severity // unless the check or a policy says otherwise

	Consumer func(*ConsumerPass)
	Stream   func(*StreamPass)
	// Neither: the finding is made elsewhere, in reading or judging.
}

func (c *comparer) applyRules(p *ConsumerPass) {
	for _, r := range c.rules {
		if r.Consumer != nil {
			p.rule = r
			r.Consumer(p)
		}
	}
}

func (c *comparer) applyStreamRules(p *StreamPass) {
	for _, r := range c.rules {
		if r.Stream != nil {
			p.rule = r
			r.Stream(p)
		}
	}
}

// RuleByCode finds a rule, whatever the case of the code; nil when there is
// none.
func RuleByCode(code string) *Rule {
	for _, r := range Rules() {
		if strings.EqualFold(r.Code, code) {
			return r
		}
	}
	return nil
}
