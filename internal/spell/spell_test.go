package spell

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"ack_wait", "backoff", "max_deliver", "duplicateWindow", "name", "max_age", "max_ack_pending"}
	for _, tc := range []struct{ word, want, reason string }{
		{"ack_wiat", "ack_wait", "two letters swapped are two edits"},
		{"ackWait", "ack_wait", "another key style is the same word"},
		{"backOff", "backoff", "case does not count"},
		{"duplicates", "duplicateWindow", "a word that only one known word holds"},
		{"max_delivery", "max_deliver", "one letter more"},
		{"nam", "name", "one edit in a short word"},
		{"mx", "", "a short word is not bent by two edits"},
		{"wholly_other", "", "nothing is near"},
	} {
		if got := Nearest(tc.word, known); got != tc.want {
			t.Errorf("Nearest(%q) = %q, want %q: %s", tc.word, got, tc.want, tc.reason)
		}
	}
}
