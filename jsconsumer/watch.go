package jsconsumer

import (
	"context"
	"sync"
	"time"
)

// watch keeps an eye on one delivery at a time: it sends its heartbeats, ends its
// lease, and tells of a handler that does not end. A worker has one for life, with
// one timer.
type watch struct {
	r *Runner

	mu    sync.Mutex
	timer *time.Timer
	armed time.Time // when the timer fires, zero: it does not
	on    bool
	d     Delivery
	t     *timing
	l     *lease // nil: there is no handler, the message is kept
	every time.Duration
	// until is when the broker takes the delivery for lost.
	until time.Time
	beat  time.Time // the next heartbeat, zero: none
	last  time.Time // no heartbeat after it, zero: as long as it takes
	over  time.Time // the attempt's budget is used up, zero: it has none
	stuck time.Time // when a handler is told to be stuck
}

func newWatch(r *Runner) *watch { return &watch{r: r} }

// start begins the lease of an attempt. If the delivery was kept before, the lease
// goes on from there.
func (w *watch) start(l *lease, d Delivery, t *timing, until time.Time) (now time.Time) {
	h := &w.r.c.Handling
	now = d.Received()
	if w.d.in == d.in || !until.IsZero() {
		now = time.Now() // it has been here for a while
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follow(d, t)
	if !until.IsZero() {
		w.until = until
	}
	w.beat, w.last, w.over, w.stuck = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	if h.Heartbeat.Every > 0 {
		// The first one has to come before the current rung ends.
		w.every = min(h.Heartbeat.Every, t.rung(d.Attempt())/2)
		w.beat = now.Add(w.every)
		if h.Heartbeat.Cap > 0 {
			w.last = now.Add(h.Heartbeat.Cap)
		}
	}
	if h.Budget > 0 {
		w.over = now.Add(h.Budget)
	}
	l.parent, l.deadline = w.r.work, w.deadline()
	w.l = l
	w.arm(now)
	return now
}

// follow turns to a delivery. One that it followed before has the time that its
// heartbeats have won.
func (w *watch) follow(d Delivery, t *timing) {
	if w.d.in != d.in {
		w.until = d.Received().Add(t.rung(d.Attempt()))
	}
	w.on, w.d, w.t = true, d, t
}

// deadline is when the lease ends at the latest.
func (w *watch) deadline() time.Time {
	end := w.until
	switch {
	case !w.beat.IsZero() && w.last.IsZero():
		end = time.Time{}
	case !w.beat.IsZero():
		end = w.last.Add(w.t.rung(w.d.Attempt()))
	}
	return sooner(end, w.over)
}

// keep keeps a message without a handler, in progress, as long as it takes.
func (w *watch) keep(d Delivery, t *timing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.follow(d, t)
	w.l = nil
	w.last, w.over, w.stuck = time.Time{}, time.Time{}, time.Time{}
	w.every = t.rung(d.Attempt()) / 2
	w.beat = now
	if w.until.Sub(now) > w.every {
		w.beat = now.Add(w.every / 2)
	}
	w.arm(now)
}

// end ends the watch, and tells whether the lease had lapsed.
func (w *watch) end() (until, now time.Time, lapsed bool) {
	now = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on = false
	if w.l != nil {
		w.l.end(context.Canceled)
		w.l = nil
	}
	return w.until, now, now.After(w.until)
}

// retire stops the timer of a watch that is not used any more: it would hold the
// runner until it fires.
func (w *watch) retire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}

// arm sees to it that the timer fires when the next thing is due. It is left alone
// between messages: most end long before.
func (w *watch) arm(now time.Time) {
	next := sooner(sooner(w.beat, w.over), w.stuck)
	if w.l != nil && w.l.err == nil {
		next = sooner(next, w.until)
	}
	if next.IsZero() || !w.armed.IsZero() && !w.armed.After(next) {
		return // it fires early enough, and looks then
	}
	w.armed = next
	if wait := max(next.Sub(now), 0); w.timer == nil {
		w.timer = time.AfterFunc(wait, w.fire)
	} else {
		w.timer.Reset(wait)
	}
}

// fire does what is due.
func (w *watch) fire() {
	w.mu.Lock()
	w.armed = time.Time{}
	if !w.on {
		w.mu.Unlock()
		return
	}
	now := time.Now()
	if due(w.beat, now) {
		w.heartbeat(now)
	}
	lost, stuck := w.lapse(now)
	m := Message{w.r.about(), w.d, now.Sub(w.d.Received())}
	w.arm(now)
	w.mu.Unlock()
	if lost {
		call(w.r.c.Hooks.LeaseLost, m)
	}
	if stuck {
		w.r.figures.stuck.Add(1)
		call(w.r.c.Hooks.Stuck, m)
	}
}

// heartbeat restarts the broker's clock, unless that is not in its hands any more.
func (w *watch) heartbeat(now time.Time) {
	if !w.last.IsZero() && now.After(w.last) || now.After(w.until) {
		w.beat = time.Time{}
		return
	}
	if sent, err := w.r.e.Progress(w.d.in); sent && err == nil {
		w.until = now.Add(w.t.rung(w.d.Attempt()))
	}
	w.beat = now.Add(w.every)
}

// lapse ends the context of a handler whose time is over.
func (w *watch) lapse(now time.Time) (lost, stuck bool) {
	if w.l == nil {
		return false, false
	}
	if w.stuck.IsZero() && (due(w.until, now) || due(w.over, now)) {
		lost = due(w.until, now)
		w.over, w.stuck = time.Time{}, now.Add(w.r.c.StuckAfter)
		w.l.end(context.DeadlineExceeded)
	}
	if stuck = due(w.stuck, now); stuck {
		w.stuck = now.Add(w.r.c.StuckAfter)
	}
	return lost, stuck
}

func due(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
