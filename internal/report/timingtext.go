package report

import (
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter/renderer"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/timingcontract"
)

// Pictures in text are as wide as the terminal, between these.
const (
	narrowest     = 40
	pictureWidth  = 100 // where no terminal says
	widestPicture = 160
	markdownWidth = 80
)

// timingText has a picture and a table for each contract.
func timingText(ts []Timing, s style) (string, error) {
	p := &page{style: s}
	for i := range ts {
		if i > 0 {
			p.WriteByte('\n')
		}
		if err := p.timing(&ts[i]); err != nil {
			return "", fmt.Errorf("consumer %s: %w", ts[i].Name(), err)
		}
	}
	return p.String(), nil
}

func (p *page) timing(t *Timing) error {
	p.WriteString(p.paint(bold, p.text(t.Name())) + "\n")
	p.wrapped("  ", 2, p.text(t.headline()))
	if t.Reason != "" {
		p.wrapped("  ", 2, p.text(t.Reason))
		return nil
	}
	if t.Unbounded {
		p.wrapped("  ", 2, forEver)
	} else {
		for _, line := range p.picture(t) {
			p.WriteString(strings.TrimRight("  "+line, " ") + "\n")
		}
		header, rows := t.table()
		table, err := p.boxes(header, rows, 2)
		if err != nil {
			return err
		}
		for line := range strings.Lines(table) {
			p.WriteString("  " + line)
		}
		p.wrapped("  ", 2, p.text(t.stays()))
	}
	for i := range t.Breaches {
		p.breach(&t.Breaches[i])
	}
	return nil
}

const forEver = "retried for ever: max_deliver is unlimited, so there are no timings"

func (p *page) breach(b *TimingBreach) {
	word, color := "breach", red
	if b.Risk {
		word, color = "risk", yellow
	}
	p.prose("  "+p.paint(color, word)+" "+p.text(string(b.Kind))+": ", 6, b.Message)
	p.prose("      ", 6, relation(b)+"; "+b.Source)
	p.prose("      fix: ", 6, b.Fix)
}

// relation writes what is so, with the values and who says them.
func relation(b *TimingBreach) string {
	r := &b.Relation
	return fmt.Sprintf("%s (%s) %s %s (%s)", r.Left, r.Left.From, r.Is, r.Right, r.Right.From)
}

// headline says in a few words what the contract is.
func (t *Timing) headline() string {
	if t.Reason != "" {
		return "no timing"
	}
	c := &t.contract
	var parts []string
	if len(c.Ladder) > 0 {
		parts = append(parts, "backoff "+audit.Show(c.Ladder))
	} else {
		parts = append(parts, "ack_wait "+timingcontract.Duration(c.Rung(1)))
	}
	if c.MaxDeliver > 0 {
		parts = append(parts, fmt.Sprintf("max_deliver %d", c.MaxDeliver))
	} else {
		parts = append(parts, "max_deliver unlimited")
	}
	return strings.Join(parts, ", ") + "; " + t.handlerText()
}

func (t *Timing) handlerText() string {
	if t.Handler != Declared {
		return "no handler section: one that " + string(t.Handler)
	}
	h := &t.contract.Handler
	text := "handler: " + string(t.Scheduler)
	if len(h.Delays) > 0 {
		text += " " + audit.Show(h.Delays)
	}
	if h.Budget > 0 {
		text += ", budget " + timingcontract.Duration(h.Budget)
	}
	if h.Heartbeat.Every > 0 {
		text += ", heartbeat " + timingcontract.Duration(h.Heartbeat.Every)
	}
	if h.Reserve > 0 {
		text += fmt.Sprintf(", reserve %d", h.Reserve)
	}
	return text
}

// stays says how long a message can stay, and what that leaves.
func (t *Timing) stays() string {
	if t.envelope.Residency == 0 {
		return "a message can stay for ever"
	}
	text := "a message can stay " + timingcontract.Duration(t.envelope.Residency)
	if t.MaxAge == nil {
		return text
	}
	text += ", and the stream keeps it " + timingcontract.Duration(t.around.MaxAge)
	if margin, err := t.contract.Margin(t.around); err == nil {
		text += ": margin " + timingcontract.Duration(margin)
	}
	return text
}

// Rows that a table shows of a long list: its first, and its last.
const (
	firstRows = 12
	lastRows  = 3
)

// table lists every delivery, with a column for each way to fail that differs.
func (t *Timing) table() (header []string, rows [][]string) {
	lanes := t.lanes()
	header = []string{"delivery"}
	most := 0
	for _, l := range lanes {
		header = append(header, strings.Join(l.names, ", "))
		most = max(most, len(l.course.Deliveries))
	}
	for n := 1; n <= most; n++ {
		if most > firstRows+lastRows+1 && n > firstRows && n <= most-lastRows {
			if n == firstRows+1 {
				rows = append(rows, t.row("…", lanes, func(*lane) string { return "…" }))
			}
			continue
		}
		rows = append(rows, t.row(t.deliveryName(n), lanes, func(l *lane) string {
			if n > len(l.course.Deliveries) {
				return absent
			}
			return timingcontract.Duration(l.course.Deliveries[n-1])
		}))
	}
	return header, append(rows, t.row("given up", lanes, ending))
}

func (t *Timing) row(name string, lanes []lane, cell func(*lane) string) []string {
	row := []string{name}
	for i := range lanes {
		row = append(row, cell(&lanes[i]))
	}
	return row
}

// deliveryName is the number of a delivery, and what is special about it.
func (t *Timing) deliveryName(n int) string {
	switch e := &t.envelope; {
	case e.Stalled:
	case n == e.LastAttempt.Delivery:
		return fmt.Sprintf("%d last attempt", n)
	case e.Capture != nil && n >= e.Capture.Delivery:
		return fmt.Sprintf("%d capture", n)
	}
	return fmt.Sprint(n)
}

// ending says when the broker gives up.
func ending(l *lane) string {
	c := &l.course
	switch {
	case c.Ended:
		return "terminated at " + timingcontract.Duration(c.Exhausted)
	case c.Stalled > 0:
		return fmt.Sprintf("never: stuck after %d", c.Stalled)
	case c.Exhausted == 0 && c.Lapsed > 0:
		return fmt.Sprintf("handled twice from %d on", c.Lapsed)
	}
	return timingcontract.Duration(c.Exhausted)
}

// picture draws the lanes below each other, on one scale.
func (p *page) picture(t *Timing) []string {
	lanes := t.lanes()
	a := t.axis(lanes)
	width := pictureWidth
	if p.width > 0 {
		width = min(max(p.width-4, narrowest), widestPicture)
	}
	var out []string
	var all []mark
	stalled := false
	for i := range lanes {
		l := &lanes[i]
		marks := t.marks(l)
		all, stalled = append(all, marks...), stalled || l.course.Stalled > 0
		if len(lanes) > 1 {
			out = append(out, p.paint(dim, strings.Join(l.names, ", ")))
		}
		out = append(out, p.lane(&a, a.spots(marks, width-1), width)...)
	}
	return append(out, wrapWords(legend(all, &a, p.sign, stalled), width)...)
}

// wrapWords puts phrases on lines, two spaces apart.
func wrapWords(words []string, width int) []string {
	var lines []string
	for _, w := range words {
		last := len(lines) - 1
		if last < 0 || columns(lines[last])+2+columns(w) > width {
			lines = append(lines, w)
			continue
		}
		lines[last] += "  " + w
	}
	return lines
}

// lane draws times, the line with its signs, and the numbers of the deliveries.
func (p *page) lane(a *axis, spots []spot, width int) []string {
	upper, times, numbers := newStrip(width), newStrip(width), newStrip(width)
	for _, i := range byWeight(spots) {
		s, label := &spots[i], timingcontract.Duration(spots[i].at)
		if !times.put(s.x, label) && s.special() {
			upper.put(s.x, label)
		}
	}
	for i := range spots {
		numbers.put(spots[i].x, spots[i].numbers())
	}
	line := make([]string, 0, width)
	at := map[int]string{}
	for i := range spots {
		at[spots[i].x] = p.sign(spots[i].kind)
	}
	end := spots[len(spots)-1].x
	if a.maxAge > 0 {
		x := int(a.place(a.maxAge) * float64(width-1))
		if sign, taken := at[x]; !taken || sign == p.sign(aDelivery) {
			at[x] = p.sign(theMaxAge)
		}
	}
	for x := range width {
		switch sign, ok := at[x]; {
		case ok:
			line = append(line, sign)
		case x < end:
			line = append(line, p.dash())
		default:
			line = append(line, " ")
		}
	}
	out := []string{times.String(), strings.TrimRight(strings.Join(line, ""), " "), numbers.String()}
	if u := upper.String(); u != "" {
		return append([]string{u}, out...)
	}
	return out
}

func (p *page) dash() string {
	if p.ascii {
		return "-"
	}
	return "─"
}

// sign is the character of a kind of mark.
func (p *page) sign(k markKind) string {
	signs := map[markKind][2]string{
		aDelivery: {"●", "o"}, theLastAttempt: {"◆", "L"}, theCapture: {"◇", "C"},
		theExhaustion: {"✕", "x"}, theEnd: {"■", "#"}, theMaxAge: {"┃", "|"},
	}
	if p.ascii {
		return signs[k][1]
	}
	return signs[k][0]
}

// A strip is a line that words are put on where there is room.
type strip []rune

func newStrip(width int) strip { return strip(strings.Repeat(" ", width)) }

// put writes a word at x, or as far left of it as it must be to fit, and says
// whether no other word was in the way.
func (s strip) put(x int, word string) bool {
	letters := []rune(word)
	x = max(min(x, len(s)-len(letters)), 0)
	if !s.free(x-1, x+len(letters)+1) {
		return false
	}
	copy(s[x:], letters)
	return true
}

func (s strip) free(from, to int) bool {
	return strings.TrimLeft(string(s[max(from, 0):min(to, len(s))]), " ") == ""
}

func (s strip) String() string { return strings.TrimRight(string(s), " ") }

// timingMarkdown is for a pull request: the picture in a block of code, the
// table, and what can not hold.
func timingMarkdown(ts []Timing) (string, error) {
	var b strings.Builder
	for i := range ts {
		t := &ts[i]
		fmt.Fprintf(&b, "### %s\n\n%s\n\n", code(t.Name()), inline(t.headline()))
		switch {
		case t.Reason != "":
			fmt.Fprintf(&b, "%s\n\n", plain(t.Reason))
			continue
		case t.Unbounded:
			fmt.Fprintf(&b, "%s.\n\n", forEver)
		default:
			p := &page{style: style{width: markdownWidth}}
			b.WriteString(fenced(p.picture(t)) + "\n")
			header, rows := t.table()
			table, err := draw(renderer.NewMarkdown(), header, rows)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "%s\n%s.\n\n", table, inline(t.stays()))
		}
		for i := range t.Breaches {
			br := &t.Breaches[i]
			word := "**breach**"
			if br.Risk {
				word = "risk"
			}
			fmt.Fprintf(&b, "- %s %s: %s\n  %s; %s\n  **fix:** %s\n", word, code(string(br.Kind)), plain(br.Message), inline(relation(br)), inline(br.Source), plain(br.Fix))
		}
		if len(t.Breaches) > 0 {
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n", nil
}
