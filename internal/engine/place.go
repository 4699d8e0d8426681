package engine

import (
	"sync"
	"time"
)

// place is where one caller waits for the next message. A caller that takes one and
// leaves nothing behind is expected back soon: its place is kept for it, and nobody
// is woken to stand there for a few microseconds. If it stays away for longer, its
// place is given to another, and for some time nobody's is kept.
//
// The engine's lock guards it.
type place struct {
	mu    *sync.Mutex
	baton chan struct{} // full: the place is taken, or kept
	alone bool          // there is one caller, whose place it is for life
	kept  bool
	turn  uint64 // counts the callers that came and went
	slow  int    // so many times it will not be
	timer *time.Timer
	armed bool
	asked uint64 // the turn when the timer was armed
}

// keptFor is how long a place is kept, twice that at most, and slowFor how often it
// is not after that was too long.
const (
	keptFor = time.Millisecond
	slowFor = 64
)

// take takes the place, with the lock held before and after.
func (p *place) take() {
	if p.kept {
		p.kept = false
		return
	}
	p.mu.Unlock()
	p.baton <- struct{}{}
	p.mu.Lock()
}

// leave leaves the place: for another caller at once, or for the same.
func (p *place) leave(atOnce bool) {
	if !atOnce && p.slow == 0 {
		p.kept = true
		p.turn++
		p.arm()
		return
	}
	p.slow = max(0, p.slow-1)
	<-p.baton
}

// passed says that a caller came by who did not need the place.
func (p *place) passed() { p.turn++ }

func (p *place) arm() {
	if p.armed || p.alone {
		return
	}
	p.armed, p.asked = true, p.turn
	if p.timer == nil {
		p.timer = time.AfterFunc(keptFor, p.overdue)
	} else {
		p.timer.Reset(keptFor)
	}
}

// overdue gives the place away if its caller has not come back.
func (p *place) overdue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = false
	switch {
	case !p.kept:
	case p.turn == p.asked:
		p.kept, p.slow = false, slowFor
		<-p.baton
	default:
		p.arm()
	}
}
