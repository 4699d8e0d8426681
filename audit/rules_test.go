package audit_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/audit"
)

// groups are what the hundreds of a code stand for, in order.
var groups = []struct{ hundred, title string }{
	{"NM1", "Timing"},
	{"NM2", "Consumer fields"},
	{"NM3", "Streams"},
	{"NM4", "The fleet"},
	{"NM9", "The audit itself"},
}

func TestRulesAreDocumented(t *testing.T) {
	code := regexp.MustCompile(`^NM[1-49]\d\d$`)
	severities := []audit.Severity{audit.Info, audit.Warning, audit.Error}
	var codes []string
	for _, r := range audit.Rules() {
		codes = append(codes, r.Code)
		switch {
		case !code.MatchString(r.Code):
			t.Errorf("%s: want NM and three digits of a known group", r.Code)
		case r.Title == "" || strings.HasSuffix(r.Title, ".") || strings.Contains(r.Title, "\n"):
			t.Errorf("%s: title %q: want a short clause without a full stop", r.Code, r.Title)
		case len(r.Doc) < 100 && r.Code != "NM903" || !strings.HasSuffix(r.Doc, "."):
			t.Errorf("%s: doc %q: want the reason for the rule and a way to satisfy it", r.Code, r.Doc)
		case !slices.Contains(severities, r.Severity):
			t.Errorf("%s: severity %q", r.Code, r.Severity)
		}
	}
	if !slices.IsSorted(codes) {
		t.Errorf("rules are not ordered by code: %v", codes)
	}
	if n := len(slices.Compact(slices.Clone(codes))); n != len(codes) {
		t.Errorf("%d codes for %d rules", n, len(codes))
	}
}

// TestRulesHaveChecks wants a check in every rule but those whose findings are
// made in judging.
func TestRulesHaveChecks(t *testing.T) {
	const want = 59
	if n := len(audit.Rules()); n != want {
		t.Errorf("%d rules, want %d: a code is never taken back, and a new rule comes with a look at this test", n, want)
	}
	judged := []string{"NM901", "NM902", "NM903"}
	for _, r := range audit.Rules() {
		has := r.Consumer != nil || r.Stream != nil
		if has == slices.Contains(judged, r.Code) {
			t.Errorf("%s: has a check: %t", r.Code, has)
		}
	}
}

func TestRuleByCode(t *testing.T) {
	for _, r := range audit.Rules() {
		if got := audit.RuleByCode(strings.ToLower(r.Code)); got != r {
			t.Errorf("RuleByCode(%q) = %v, want the rule", strings.ToLower(r.Code), got)
		}
	}
	if got := audit.RuleByCode("NM999"); got != nil {
		t.Errorf("RuleByCode(NM999) = %v, want none", got)
	}
}

// TestRulesPage keeps docs/rules.md to what the rules say of themselves.
// UPDATE=1 rewrites it.
func TestRulesPage(t *testing.T) {
	const page = "../docs/rules.md"
	got := rulesPage()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(page, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is stale, UPDATE=1 rewrites it (-want +got):\n%s", page, diff)
	}
}

func rulesPage() string {
	b := &strings.Builder{}
	b.WriteString("# Rules\n\n" +
		"Every finding has the code of a rule. A code never changes its meaning and is never used\n" +
		"again. The severity is what the rule gives unless it says otherwise for the case at hand;\n" +
		"a Policy document can move it or excuse a finding. `natsmig rules CODE` prints the same text.\n\n" +
		"This page is generated from the rules.\n")
	for _, g := range groups {
		fmt.Fprintf(b, "\n## %sxx: %s\n", g.hundred, g.title)
		for _, r := range audit.Rules() {
			if strings.HasPrefix(r.Code, g.hundred) {
				fmt.Fprintf(b, "\n### %s: %s\n\nSeverity: %s\n\n%s\n", r.Code, r.Title, r.Severity, r.Doc)
			}
		}
	}
	return b.String()
}
