package report

import "strings"

// breakWords breaks v at single spaces into lines of at most width columns, of
// which the first has used so many already. A longer word keeps a line of its
// own. Width 0 is unlimited.
func breakWords(v string, width, used int) []string {
	words := strings.Split(v, " ")
	lines := []string{words[0]}
	for _, word := range words[1:] {
		last := len(lines) - 1
		if width > 0 && used+columns(lines[last])+1+columns(word) > width {
			lines, used = append(lines, word), 0
			continue
		}
		lines[last] += " " + word
	}
	return lines
}

// Wrap breaks text at single spaces into lines that are at most width columns
// wide with the hang of spaces that all but the first begin with. Width 0 is
// unlimited.
func Wrap(text string, width, hang int) string {
	if width > 0 {
		width = max(width-hang, minColumn)
	}
	return strings.Join(breakWords(text, width, 0), "\n"+strings.Repeat(" ", hang))
}

// wrapped writes prefix and text, and breaks the text at the width. Further
// lines hang by so many columns.
func (p *page) wrapped(prefix string, hang int, text string) {
	width := 0
	if p.width > 0 {
		width = max(p.width-hang, minColumn)
	}
	p.WriteString(prefix)
	lines := breakWords(text, width, columns(prefix)-hang)
	p.WriteString(strings.Join(lines, "\n"+strings.Repeat(" ", hang)))
	p.WriteByte('\n')
}

// prose writes each line of text behind prefix, hanging.
func (p *page) prose(prefix string, hang int, text string) {
	for i, line := range paragraphs(text, p.ascii) {
		if i > 0 {
			prefix = strings.Repeat(" ", hang)
		}
		p.wrapped(prefix, hang, line)
	}
}
