package declare_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/audit"
)

// TestRules has each rule speak where it should, and be silent for the nearest
// innocent configuration. An archive is named after its rule; the label of a
// section says whether the rule speaks in it.
func TestRules(t *testing.T) {
	for _, s := range stories(t, "testdata/rules/*.txtar") {
		t.Run(s.name(), func(t *testing.T) {
			s.unpack(t)
			seen := map[string]bool{}
			for i := range s.Files {
				f := &s.Files[i]
				label, args, ok := command(f.Name)
				if !ok {
					continue
				}
				seen[label] = true
				l := parseLine(t, args)
				r, err := l.run()
				if err != nil {
					t.Fatalf("%s: %v", f.Name, err)
				}
				if n := count(r, s.name()); n > 0 != (label == "speaks") {
					t.Errorf("%s: %d findings of the rule", f.Name, n)
				}
				got := tell(r, nil, s.name())
				if os.Getenv("UPDATE") != "" {
					f.Data = []byte(got)
				}
				if diff := cmp.Diff(string(f.Data), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
			}
			if len(seen) != 2 || !seen["speaks"] || !seen["silent"] {
				t.Errorf("sections %v: want some that speak and some that are silent", seen)
			}
			s.save(t)
		})
	}
}

// count counts the findings of a rule.
func count(r *audit.Report, code string) (n int) {
	lists := [][]audit.Finding{r.Tool}
	for _, entries := range [][]audit.Entry{r.Streams, r.Consumers} {
		for i := range entries {
			lists = append(lists, entries[i].Findings)
		}
	}
	for _, fs := range lists {
		for i := range fs {
			if fs[i].Code == code {
				n++
			}
		}
	}
	return n
}

// TestEveryRuleIsTested wants an archive for each rule, and no other.
func TestEveryRuleIsTested(t *testing.T) {
	have := map[string]bool{}
	for _, s := range stories(t, "testdata/rules/*.txtar") {
		have[s.name()] = true
		if audit.RuleByCode(s.name()) == nil {
			t.Errorf("%s tests no rule", s.file)
		}
	}
	for _, r := range audit.Rules() {
		if !have[r.Code] {
			t.Errorf("%s (%s): testdata/rules has no archive for it", r.Code, r.Title)
		}
	}
}
