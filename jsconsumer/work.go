package jsconsumer

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/natsmig/natsmig/internal/engine"
)

// workers are goroutines that handle messages: as many as it takes that one always
// waits for the next message, up to Config.Workers. Few that are busy are faster
// than many that take turns.
type workers struct {
	sync.WaitGroup
	idle, made atomic.Int64
}

// anotherWorker makes another worker, if there may be one.
func (r *Runner) anotherWorker() {
	if r.workers.made.Add(1) > int64(r.c.Workers) {
		return
	}
	r.workers.idle.Add(1)
	r.workers.Go(r.worker)
}

// worker handles messages until there are none any more.
func (r *Runner) worker() {
	w := newWatch(r)
	defer w.retire()
	for ; ; r.workers.idle.Add(1) {
		in, ok := r.e.Next()
		if !ok {
			return
		}
		if r.workers.idle.Add(-1) == 0 {
			r.anotherWorker()
		}
		h := &held{in: in} // one allocation for all that a message needs
		if r.c.Key == nil {
			r.handle(w, h)
			continue
		}
		if !r.order.enter(r, h) {
			continue // whoever has its key goes on with it
		}
		for h != nil {
			r.handle(w, h)
			h = r.order.leave(h)
		}
	}
}

// held is a delivery in this process.
type held struct {
	in    engine.Delivery
	lease lease // of the first attempt
	key   string
	watch *watch // while it waits for its key
}

// handle brings one delivery to its end.
func (r *Runner) handle(w *watch, h *held) {
	d, t := r.delivery(&h.in), r.timing.Load()
	var until time.Time
	if h.watch != nil {
		var lapsed bool
		until, _, lapsed = h.watch.end()
		h.watch.retire()
		if lapsed {
			r.settle(d, Retry(errWaited), 0, true)
			return
		}
	}
	if r.reserved(t, d) {
		if cause, ok := r.tried.has(d.Sequence()); ok {
			r.giveUp(w, d, cause)
			return
		}
	}
	for l := &h.lease; ; l = new(lease) {
		began := w.start(l, d, t, until)
		disposition := r.attempt(l, d)
		_, now, lapsed := w.end()
		if disposition.Decision() == Held && !lapsed && r.holdOn(w, d, t, disposition.delay) {
			until, _, _ = w.end()
			continue
		}
		r.conclude(w, t, d, disposition, now.Sub(began), lapsed)
		return
	}
}

func (r *Runner) delivery(in *engine.Delivery) Delivery {
	return Delivery{in: in, stream: r.c.Stream, consumer: r.name()}
}

// holdOn keeps a message for a while. False: a drain has begun.
func (r *Runner) holdOn(w *watch, d Delivery, t *timing, delay time.Duration) bool {
	w.keep(d, t)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.soft.Done():
		w.end()
		return false
	}
}

// conclude settles a message whose attempt is over, or gives it up.
func (r *Runner) conclude(w *watch, t *timing, d Delivery, disposition Disposition, took time.Duration, lapsed bool) {
	switch {
	case disposition.failed() && r.last(t, d):
		r.settled(d, disposition, took, false)
		r.giveUp(w, d, disposition.err)
		return
	case disposition.Decision() == Discarded && r.c.CaptureDiscarded:
		r.settled(d, disposition, took, false)
		r.capture(w, d, "discarded", disposition.err)
		return
	case disposition.failed() && t.maxDeliver > 0:
		r.tried.add(d.Sequence(), disposition.err)
	}
	r.settle(d, disposition, took, lapsed)
}

// attempt calls the handler once.
func (r *Runner) attempt(l *lease, d Delivery) (disposition Disposition) {
	defer func() {
		if v := recover(); v != nil {
			call(r.c.Hooks.Panicked, Panicked{r.about(), d, v, debug.Stack()})
			disposition = Retry(panicError{v})
		}
	}()
	return r.handler(l, d)
}

// settle tells the broker what was decided. After the lease has lapsed a nak would
// schedule one more delivery of a message that has one already; an ack and a term
// still count.
func (r *Runner) settle(d Delivery, disposition Disposition, took time.Duration, lapsed bool) {
	verb := ""
	switch disposition.Decision() {
	case Acked:
		verb = engine.Ack
		r.floor.acked(d.Sequence())
	case Discarded:
		verb = r.term(disposition.err)
	case RetryLater:
		if !lapsed {
			verb = r.timing.Load().nak(d.Attempt(), disposition.delay)
		}
	case Retried, Held, GivenUp:
		// The broker's ladder decides.
	}
	if d.Attempt() > 1 && (disposition.Decision() == Acked || disposition.Decision() == Discarded) {
		r.tried.remove(d.Sequence())
	}
	r.settled(d, disposition, took, r.e.Settle(d.in, verb))
}

func (r *Runner) settled(d Delivery, disposition Disposition, took time.Duration, sent bool) {
	r.figures.count(disposition.Decision())
	if r.c.Hooks.Disposed != nil {
		r.c.Hooks.Disposed(Disposed{r.about(), d, disposition, took, sent})
	}
}
