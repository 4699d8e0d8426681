package prove

import (
	"fmt"
	"time"

	"github.com/natsmig/natsmig/timingcontract"
)

// apart is how far two explanations must differ to be told apart on a busy
// machine.
const apart = 200 * time.Millisecond

// judge holds what was seen against the prediction and its rivals.
func (r *run) judge() {
	p := &r.proof
	p.Events = r.predicted()
	p.Rivals = r.rivals(p.Events)
	r.compare()
	if p.Reason = r.refusal(); p.Reason != "" {
		p.Verdict = Refuted
		return
	}
	for i := range p.Rivals {
		if !p.Rivals[i].RuledOut {
			p.Reason = fmt.Sprintf("nothing tells it from: %s", p.Rivals[i].Name)
			return
		}
	}
	p.Verdict = Proved
}

// predicted lists the events of the course.
func (r *run) predicted() []Event {
	var all []Event
	ds := r.course.Deliveries
	for n := 1; n < len(ds); n++ {
		all = append(all, Event{What: Redelivered, After: n, Predicted: ds[n] - ds[n-1]})
	}
	switch last := len(ds); {
	case r.course.Ended:
		all = append(all, Event{What: Silence, After: last, Predicted: r.quiet()})
	case r.course.Stalled > 0:
		all = append(all, Event{What: Silence, After: last, Predicted: r.quiet()})
	case r.exhausts():
		all = append(all, Event{What: Exhausted, After: last, Predicted: r.course.Exhausted - ds[last-1]})
	}
	return all
}

// exhausts says whether the broker is predicted to give the message up.
func (r *run) exhausts() bool {
	c := &r.course
	return !c.Ended && c.Stalled == 0 && r.proof.Scaled.MaxDeliver > 0 && (c.Lapsed == 0 || c.Lapsed == len(c.Deliveries))
}

// quiet is how long nothing has to happen: longer than the broker would wait.
func (r *run) quiet() time.Duration {
	c := &r.proof.Scaled
	wait := base
	for n := range ladderLength(c) {
		wait = max(wait, c.Rung(n+1))
	}
	return r.budget() + delay + wait + step
}

// compare measures each event, and finds the rival that is nearest to it.
func (r *run) compare() {
	p := &r.proof
	for i := range p.Events {
		e := &p.Events[i]
		e.Measured, e.Tolerance = r.measured(e), apart
		for j := range p.Rivals {
			far := (p.Rivals[j].Gaps[i] - e.Predicted).Abs()
			if far >= apart && (e.Nearest == "" || far/2 < e.Tolerance) {
				e.Tolerance, e.Nearest = far/2, p.Rivals[j].Name
			}
		}
		for j := range p.Rivals {
			if (p.Rivals[j].Gaps[i]-e.Predicted).Abs() >= apart && e.near() {
				p.Rivals[j].RuledOut = true
			}
		}
	}
}

// measured is when the event happened, after the delivery it follows.
func (r *run) measured(e *Event) time.Duration {
	from, ok := r.moment("delivery", e.After)
	if !ok {
		return -1
	}
	next, again := r.moment("delivery", e.After+1)
	switch e.What {
	case Redelivered:
		if again {
			return next - from
		}
	case Exhausted:
		if at, ok := r.moment(maxDeliveries, 0); ok {
			return at - from
		}
	case Silence:
		if again {
			return next - from
		}
		return e.Predicted
	}
	return -1
}

// moment is the first record of a kind; of a delivery, the one with that number.
func (r *run) moment(what string, delivery int) (time.Duration, bool) {
	for _, rec := range r.proof.Raw {
		if rec.What == what && (delivery == 0 || rec.Delivery == delivery) {
			return rec.At, true
		}
	}
	return 0, false
}

// refusal says what did not come as predicted, or "".
func (r *run) refusal() string {
	for i := range r.proof.Events {
		e := &r.proof.Events[i]
		switch {
		case e.near():
		case e.Measured < 0:
			return fmt.Sprintf("%s after delivery %d did not come, predicted after %s", e.What, e.After, timingcontract.Duration(e.Predicted))
		default:
			return fmt.Sprintf("%s came %s after delivery %d, predicted after %s, give or take %s", e.What, e.Measured.Round(time.Millisecond), e.After, timingcontract.Duration(e.Predicted), timingcontract.Duration(e.Tolerance))
		}
	}
	if _, more := r.moment("delivery", r.last+1); more && r.proof.Scaled.MaxDeliver > 0 && r.course.Lapsed == 0 {
		return fmt.Sprintf("delivery %d came, and was not predicted", r.last+1)
	}
	if _, done := r.moment(msgTerminated, 0); r.course.Ended && !done {
		return "the handler terminated the message, and no advisory says so"
	}
	return ""
}
