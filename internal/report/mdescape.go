package report

import (
	"fmt"
	"strings"
	"unicode"
)

// code writes a value or name as code: GitHub then links and mentions nothing in
// it. A code span cannot hold every character, and inside a table not every
// reader splits the row at the same bars, so that a value with any of them is
// HTML with entities.
func code(v string) string {
	v = clean(v, false)
	if v == "" || v != strings.TrimSpace(v) || strings.ContainsAny(v, "`|\\") {
		return "<code>" + entities(v) + "</code>"
	}
	return "`" + v + "`"
}

// markup is what means something to Markdown or HTML in the middle of a line.
const markup = "\\`*[]<&|~$!"

// plain writes prose such that it reads as it was written: no character of it
// is markup, nobody is mentioned, and lines break where it breaks.
func plain(v string) string {
	lines := paragraphs(v, false)
	for i, line := range lines {
		lines[i] = inline(line)
	}
	return strings.Join(lines, "<br>")
}

// inline is [plain] for names and words, which stay on their line.
func inline(v string) string {
	runes := []rune(clean(v, false))
	var b strings.Builder
	for i, r := range runes {
		switch {
		case strings.ContainsRune(markup, r), r == '_' && !inWord(runes, i):
			fmt.Fprintf(&b, "&#%d;", r)
		case r == '@', r == '#' && i+1 < len(runes) && unicode.IsDigit(runes[i+1]):
			b.WriteString(string(r) + "<!-- -->") // an entity would still mention and refer
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// inWord tells whether runes[i] stands between letters or digits, where an
// underscore means nothing.
func inWord(runes []rune, i int) bool {
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return i > 0 && i < len(runes)-1 && letter(runes[i-1]) && letter(runes[i+1])
}

// entities writes everything in v that could be markup or start a link as HTML
// entities.
func entities(v string) string {
	var b strings.Builder
	for _, r := range v {
		if strings.ContainsRune(markup+"_:/.@#", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fenced writes lines as a block of code. None of them can close it: that takes a
// line of backticks alone, and each of these has words of ours.
func fenced(lines []string) string {
	return "```text\n" + strings.Join(lines, "\n") + "\n```\n"
}
