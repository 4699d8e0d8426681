package report

import (
	"fmt"
	"html"
	"strings"

	"github.com/natsmig/natsmig/timingcontract"
)

// Measures of the picture, in pixels.
const (
	svgWidth   = 960
	svgLeft    = 24
	svgLine    = svgWidth - 2*svgLeft // the length of a timeline
	svgTitle   = 58                   // the height of a contract's heading
	svgLane    = 88
	svgFoot    = 34
	svgLetter  = 8 // the width of a character, at most
	svgFont    = "ui-sans-serif, system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif"
	svgOverlap = 6 // between two labels
)

// timingSVG draws the timelines of all contracts below each other. It stands on
// its own: no scripts, no fonts to fetch, readable on light and dark pages.
func timingSVG(ts []Timing) string {
	d := &drawing{}
	for i := range ts {
		d.contract(&ts[i])
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="%s" font-size="12">
<title>When a failing message is retried and given up</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
`, svgWidth, d.y+12, svgWidth, d.y+12, svgFont) + d.String() + "</svg>\n"
}

// A drawing grows downwards.
type drawing struct {
	strings.Builder
	y int
}

func (d *drawing) text(x, y int, anchor, fill, extra, text string) {
	fmt.Fprintf(d, `<text x="%d" y="%d" text-anchor="%s" fill="%s"%s>%s</text>`+"\n", x, y, anchor, fill, extra, html.EscapeString(clean(text, false)))
}

const (
	ink    = "#1f2328"
	faint  = "#656d76"
	alarm  = "#cf222e"
	spring = "#0969da"
	amber  = "#9a6700"
)

func (d *drawing) contract(t *Timing) {
	d.text(svgLeft, d.y+26, "start", ink, ` font-weight="600" font-size="15"`, t.Name())
	d.text(svgLeft, d.y+45, "start", faint, "", shorten(t.headline(), "…", svgLine/svgLetter))
	d.y += svgTitle
	switch {
	case t.Reason != "":
		d.text(svgLeft, d.y+12, "start", faint, "", shorten(t.Reason, "…", svgLine/svgLetter))
		d.y += svgFoot
		return
	case t.Unbounded:
		d.text(svgLeft, d.y+12, "start", amber, "", forEver)
		d.y += svgFoot
		return
	}
	lanes := t.lanes()
	a := t.axis(lanes)
	for i := range lanes {
		d.lane(t, &a, &lanes[i])
	}
	d.foot(t, &a)
}

// lane draws one timeline with its labels.
func (d *drawing) lane(t *Timing, a *axis, l *lane) {
	marks := t.marks(l)
	spots := a.spots(marks, svgLine)
	y := d.y + 52
	d.text(svgLeft, d.y+8, "start", faint, ` font-size="11"`, strings.Join(l.names, ", "))
	fmt.Fprintf(d, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#d0d7de" stroke-width="3"/>`+"\n", svgLeft, y, svgLeft+spots[len(spots)-1].x, y)
	if a.maxAge > 0 {
		x := svgLeft + int(a.place(a.maxAge)*svgLine)
		fmt.Fprintf(d, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="2" stroke-dasharray="4 3"/>`+"\n", x, y-16, x, y+16, alarm)
	}
	upper, times, numbers := labels{}, labels{}, labels{}
	for _, i := range byWeight(spots) {
		s, label := &spots[i], timingcontract.Duration(spots[i].at)
		if x, anchor, ok := times.room(s.x, label); ok {
			d.text(svgLeft+x, y-14, anchor, markColor(s.kind), "", label)
		} else if x, anchor, ok := upper.room(s.x, label); ok && s.special() {
			d.text(svgLeft+x, y-28, anchor, markColor(s.kind), "", label)
		}
	}
	for i := range spots {
		s := &spots[i]
		d.sign(svgLeft+s.x, y, s.kind)
		if x, anchor, ok := numbers.room(s.x, s.numbers()); ok && s.first > 0 {
			d.text(svgLeft+x, y+23, anchor, faint, ` font-size="11"`, s.numbers())
		}
	}
	d.y += svgLane
}

// labels are the parts of a line that words stand on.
type labels [][2]int

// room is where a word that belongs to x can stand, and how it is anchored.
func (ls *labels) room(x int, word string) (at int, anchor string, ok bool) {
	w := len([]rune(word)) * svgLetter
	from := x - w/2
	at, anchor = x, "middle"
	switch {
	case from < 0:
		at, anchor, from = 0, "start", 0
	case from+w > svgLine:
		at, anchor, from = svgLine, "end", svgLine-w
	}
	for _, l := range *ls {
		if from < l[1]+svgOverlap && l[0] < from+w+svgOverlap {
			return 0, "", false
		}
	}
	*ls = append(*ls, [2]int{from, from + w})
	return at, anchor, true
}

func markColor(k markKind) string {
	switch k {
	case theExhaustion, theMaxAge:
		return alarm
	case theLastAttempt:
		return spring
	case theCapture, theEnd:
		return amber
	case aDelivery:
	}
	return ink
}

// sign draws what stands for a kind of mark.
func (d *drawing) sign(x, y int, k markKind) {
	c := markColor(k)
	switch k {
	case theLastAttempt:
		fmt.Fprintf(d, `<path d="M%d %d l7 7 l-7 7 l-7 -7 z" fill="%s"/>`+"\n", x, y-7, c)
	case theCapture:
		fmt.Fprintf(d, `<path d="M%d %d l7 7 l-7 7 l-7 -7 z" fill="#ffffff" stroke="%s" stroke-width="2"/>`+"\n", x, y-7, c)
	case theExhaustion:
		fmt.Fprintf(d, `<path d="M%d %d l12 12 m0 -12 l-12 12" stroke="%s" stroke-width="3" stroke-linecap="round"/>`+"\n", x-6, y-6, c)
	case theEnd:
		fmt.Fprintf(d, `<rect x="%d" y="%d" width="12" height="12" fill="%s"/>`+"\n", x-6, y-6, c)
	case theMaxAge:
		fmt.Fprintf(d, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="2" stroke-dasharray="4 3"/>`+"\n", x, y-7, x, y+7, c)
	case aDelivery:
		fmt.Fprintf(d, `<circle cx="%d" cy="%d" r="6" fill="%s"/>`+"\n", x, y, c)
	}
}

// foot has the legend, and what the message's stay leaves.
func (d *drawing) foot(t *Timing, a *axis) {
	var marks []mark
	stalled := false
	lanes := t.lanes()
	for i := range lanes {
		marks, stalled = append(marks, t.marks(&lanes[i])...), stalled || lanes[i].course.Stalled > 0
	}
	x := svgLeft
	var kinds []markKind
	words := legend(marks, a, func(k markKind) string {
		kinds = append(kinds, k)
		return ""
	}, stalled)
	for i, w := range words {
		w = strings.TrimSpace(w)
		if i < len(kinds) {
			d.sign(x+7, d.y+8, kinds[i])
			x += 20
		}
		d.text(x, d.y+12, "start", faint, ` font-size="11"`, w)
		x += len(w)*svgLetter + 16
	}
	d.y += svgFoot - 8
	d.text(svgLeft, d.y+8, "start", ink, "", t.stays())
	d.y += svgFoot
	for i := range t.Breaches {
		b := &t.Breaches[i]
		color := alarm
		if b.Risk {
			color = amber
		}
		d.text(svgLeft, d.y, "start", color, "", shorten(string(b.Kind)+": "+relation(b), "…", svgLine/svgLetter))
		d.y += 18
	}
}
