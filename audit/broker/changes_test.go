package broker_test

import (
	"slices"
	"testing"

	"github.com/natsmig/natsmig/audit/broker"
)

// TestChangesAreInOrder wants each change to name one version of a line, in the
// order of the versions, and none before the line's first change is there.
func TestChangesAreInOrder(t *testing.T) {
	less := func(a, b broker.Version) int {
		return slices.Compare([]int{a.Minor, a.Patch}, []int{b.Minor, b.Patch})
	}
	for _, c := range broker.Changes() {
		if !slices.IsSortedFunc(c.First, less) || c.What == "" || c.Source == "" {
			t.Errorf("%+v", c)
		}
		for _, v := range c.First {
			if !v.Known() {
				t.Errorf("%s: %s is of no line", c.What, v)
			}
		}
	}
}

func TestBetween(t *testing.T) {
	v := func(text string) broker.Version {
		t.Helper()
		v, err := broker.ParseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct {
		a, b   string
		want   int
		reason string
	}{
		{"2.10.22", "2.10.27", 3, "the ladder, the order of max_waiting, the count of streams"},
		{"2.10.27", "2.10.22", 3, "either way"},
		{"2.12.11", "2.12.12", 1, "consumer_limits in 2.12.12"},
		{"2.14.2", "2.14.3", 1, "and in 2.14.3"},
		{"2.15.2", "2.15", 2, "a line is its newest release"},
		{"2.15.3", "2.15", 0, "and stays what it is"},
		{"2.9.25", "2.15.3", 0, "lines differ in more than this"},
	} {
		if got := broker.Between(v(tt.a), v(tt.b)); len(got) != tt.want {
			t.Errorf("%s and %s (%s): %d changes, want %d: %v", tt.a, tt.b, tt.reason, len(got), tt.want, got)
		}
	}
}
