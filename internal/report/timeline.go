package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/natsmig/natsmig/timingcontract"
)

// A markKind is what happens at a moment of a timeline. A later one hides an
// earlier one that would stand in the same place.
type markKind int

const (
	aDelivery markKind = iota
	theCapture
	theLastAttempt
	theMaxAge
	theEnd // terminated by the handler, or nothing happens any more
	theExhaustion
)

// A mark is one moment of a timeline.
type mark struct {
	at     time.Duration
	number int // of a delivery; 0 for other moments
	kind   markKind
	later  bool // a capture after the first
}

// marks are the moments of a lane, in order.
func (t *Timing) marks(l *lane) []mark {
	var all []mark
	last := t.envelope.LastAttempt.Delivery
	for i, at := range l.course.Deliveries {
		m := mark{at: at, number: i + 1}
		switch {
		case m.number == last && t.contract.Handler.OnFailure != timingcontract.Discard:
			m.kind = theLastAttempt
		case last > 0 && m.number > last && t.contract.Handler.Reserve > 0:
			m.kind, m.later = theCapture, m.number > last+1
		}
		all = append(all, m)
	}
	c := &l.course
	switch {
	case c.Ended:
		all = append(all, mark{at: c.Exhausted, kind: theEnd})
	case c.Stalled > 0:
		all = append(all, mark{at: c.Deliveries[len(c.Deliveries)-1], kind: theEnd})
	case c.Lapsed == 0 || c.Exhausted > 0:
		all = append(all, mark{at: c.Exhausted, kind: theExhaustion})
	}
	return all
}

// An axis is where moments stand on a timeline.
type axis struct {
	first, end time.Duration // the shortest and the longest time that is not zero
	log        bool
	maxAge     time.Duration // 0: not on it
}

// decades is how far apart times may be on a linear scale.
const decades = 100

// axis is the same for all lanes of a contract, so that they can be compared. A
// max_age that is far away is left out, and told in words.
func (t *Timing) axis(lanes []lane) axis {
	a := axis{}
	for i := range lanes {
		for _, m := range t.marks(&lanes[i]) {
			a.take(m.at)
		}
	}
	if age := t.around.MaxAge; age > 0 && age <= 4*a.end {
		a.maxAge = age
		a.take(age)
	}
	a.log = a.first > 0 && a.end/a.first > decades
	return a
}

func (a *axis) take(at time.Duration) {
	if at <= 0 {
		return
	}
	a.end = max(a.end, at)
	if a.first == 0 || at < a.first {
		a.first = at
	}
}

// place is where a moment stands, from 0 to 1.
func (a *axis) place(at time.Duration) float64 {
	switch {
	case a.end == 0:
		return 0
	case a.log:
		unit := float64(a.first)
		return math.Log1p(float64(at)/unit) / math.Log1p(float64(a.end)/unit)
	default:
		return float64(at) / float64(a.end)
	}
}

// A spot is the marks that share one place of a picture.
type spot struct {
	x     int
	kind  markKind
	at    time.Duration // of the mark that is shown
	first int           // deliveries, 0 for none
	last  int
	later bool // a capture after the first
}

// spots put marks into places of a picture that is so wide.
func (a *axis) spots(marks []mark, width int) []spot {
	var all []spot
	for _, m := range marks {
		x := int(math.Round(a.place(m.at) * float64(width)))
		i := len(all) - 1
		if i < 0 || all[i].x != x {
			all = append(all, spot{x: x, kind: m.kind, at: m.at})
			i++
		}
		s := &all[i]
		if m.kind >= s.kind {
			s.kind, s.at, s.later = m.kind, m.at, m.later
		}
		if m.number > 0 {
			if s.first == 0 {
				s.first = m.number
			}
			s.last = m.number
		}
	}
	return all
}

// numbers are the deliveries of a spot.
func (s *spot) numbers() string {
	switch s.first {
	case 0:
		return ""
	case s.last:
		return fmt.Sprint(s.first)
	}
	return fmt.Sprintf("%d-%d", s.first, s.last)
}

// byWeight lists the spots such that those whose label matters most come first:
// what is special, from the right, then where the clock starts, then the rest.
func byWeight(spots []spot) []int {
	var order []int
	for i := len(spots) - 1; i > 0; i-- {
		if spots[i].special() {
			order = append(order, i)
		}
	}
	order = append(order, 0)
	for i := 1; i < len(spots); i++ {
		if !spots[i].special() {
			order = append(order, i)
		}
	}
	return order
}

// special says whether the label of a spot has a line of its own where there is no
// room on the first.
func (s *spot) special() bool { return s.kind != aDelivery && !s.later }

// legend explains the kinds that a picture has.
func legend(marks []mark, a *axis, sign func(markKind) string, stalled bool) []string {
	words := map[markKind]string{
		aDelivery: "delivery", theCapture: "capture", theLastAttempt: "last attempt", theExhaustion: "given up", theEnd: "terminated",
	}
	if stalled {
		words[theEnd] = "nothing happens any more"
	}
	var out []string
	for _, k := range []markKind{aDelivery, theLastAttempt, theCapture, theExhaustion, theEnd} {
		if slices.ContainsFunc(marks, func(m mark) bool { return m.kind == k }) {
			out = append(out, sign(k)+" "+words[k])
		}
	}
	if a.maxAge > 0 {
		out = append(out, sign(theMaxAge)+" max_age "+timingcontract.Duration(a.maxAge))
	}
	if a.log {
		out = append(out, "log scale")
	}
	return out
}
