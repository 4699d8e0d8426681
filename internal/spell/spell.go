// Package spell finds the known word that somebody meant. [Nearest] is all of
// it.
package spell

import "strings"

// Nearest returns the word among known that is closest to word: the same but for
// case and underscores, or at most two edits away (one for words of up to four
// letters). It returns "" when none is. Of several equally close words the first
// wins.
func Nearest(word string, known []string) string {
	best, bestDist := "", 3
	if len(word) <= 4 {
		bestDist = 2
	}
	for _, k := range known {
		if fold(k) == fold(word) {
			return k
		}
		if d := distance(word, k); d < bestDist {
			best, bestDist = k, d
		}
	}
	if best == "" {
		best = contained(fold(word), known)
	}
	return best
}

// contained finds the one known word that word is a large part of, as
// "duplicates" is of "duplicate_window" up to its ending.
func contained(word string, known []string) string {
	stem := strings.TrimSuffix(word, "s")
	if len(stem) < 5 {
		return ""
	}
	found := ""
	for _, k := range known {
		if strings.Contains(fold(k), stem) {
			if found != "" {
				return ""
			}
			found = k
		}
	}
	return found
}

func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s))
}

// distance is the Levenshtein distance between a and b, in bytes.
func distance(a, b string) int {
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		cur := []int{i + 1}
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			cur = append(cur, min(prev[j]+cost, prev[j+1]+1, cur[j]+1))
		}
		prev = cur
	}
	return prev[len(b)]
}
