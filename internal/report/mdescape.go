package report

import (
	"fmt"
	"strings"
)

// code writes a value or name as code: GitHub then links and mentions nothing in
// it. A code span cannot hold every character, and inside a table not every
// reader splits the row at the same bars, so that a value with any of them is
// HTML with entities.
func code(v string) string {
	v = clean(v, false)
	if v == "" || v != strings.TrimSpace(v) || strings.ContainsAny(v, "`|\\") {
		return "<code>" + entities(v, func(r rune) bool { return strings.ContainsRune(markup+"_:/.@", r) }) + "</code>"
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
		lines[i] = plainLine(line)
	}
	return strings.Join(lines, "<br>")
}

func plainLine(v string) string {
	v = entities(v, func(r rune) bool { return strings.ContainsRune(markup, r) })
	v = strings.ReplaceAll(v, "@", "@<!-- -->") // an entity would still mention
	words := strings.Split(v, " ")
	for i, w := range words {
		if strings.HasPrefix(w, "_") || strings.HasSuffix(w, "_") { // in a word it is harmless
			words[i] = strings.ReplaceAll(w, "_", "&#95;")
		}
	}
	return strings.Join(words, " ")
}

// entities writes the chosen characters of v as HTML entities.
func entities(v string, chosen func(rune) bool) string {
	var b strings.Builder
	for _, r := range v {
		if chosen(r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fenced writes lines as a block of code, with a fence that is longer than any
// run of backticks in them.
func fenced(lines []string) string {
	fence := "```"
	body := strings.Join(lines, "\n")
	for strings.Contains(body, fence) {
		fence += "`"
	}
	return fence + "text\n" + body + "\n" + fence + "\n"
}
