package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes s harmless on a terminal: what does not print reads as a Go
// escape. Not only controls do harm: a bidirectional override makes a line read
// as another one. With ascii, letters outside ASCII read as escapes too.
func clean(s string, ascii bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i])|0x100, 16)[1:])
		case ascii && r > unicode.MaxASCII, !strconv.IsPrint(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// paragraphs splits prose into its lines, each cleaned. Prose may have several,
// a fix that shows a piece of YAML for one; names and values may not.
func paragraphs(s string, ascii bool) []string {
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(s), "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = clean(lines[i], ascii)
	}
	return lines
}

// shorten cuts the middle out of s if it has more than limit characters, and
// puts gap in its place.
func shorten(s, gap string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	keep := max(limit-utf8.RuneCountInString(gap), 2)
	head := (keep + 1) / 2
	return string(runes[:head]) + gap + string(runes[len(runes)-keep+head:])
}

// shortenBoth shortens two values such that they still differ if they did: a
// change whose two sides look the same would be a riddle.
func shortenBoth(a, b, gap string, limit int) (string, string) {
	shortA, shortB := shorten(a, gap, limit), shorten(b, gap, limit)
	if a == b || shortA != shortB {
		return shortA, shortB
	}
	skip := max(commonPrefix(a, b)-limit/4, 0)
	cut := func(s string) string { return shorten(gap+string([]rune(s)[skip:]), gap, limit) }
	return cut(a), cut(b)
}

// commonPrefix counts the characters that a and b start with alike.
func commonPrefix(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}
