package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/readiness"
)

// watch looks after a durable that is bound, and tells when to look again.
func (e *Engine) watch(soft context.Context) (time.Duration, error) {
	trouble, heard := e.due(time.Now())
	if gap := e.takeGap(); gap != nil {
		e.emit(Event{Kind: Gap, Err: gap})
	}
	if heard {
		e.emit(Event{Kind: Alive, Info: e.Info()})
	}
	if trouble == nil && time.Since(e.looked) < e.c.Inspect {
		e.topUp() // for pulls whose end was lost
		return e.c.Heartbeat / 2, nil
	}
	return e.examine(soft, trouble)
}

// due is what the supervisor should look into, and whether a silent inbox has been
// heard again.
func (e *Engine) due(now time.Time) (trouble error, heard bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.epoch.pulls
	if heard = !e.muted.IsZero() && e.heard.After(e.muted); heard {
		e.muted = time.Time{}
	}
	trouble, e.trouble = e.trouble, nil
	// What lies in the channel has arrived, only nobody was free to read it.
	if trouble == nil && p.asked > 0 && len(e.in) == 0 && now.Sub(e.heard) > 2*p.beat+slack && now.Sub(e.waiting) > 2*p.beat+slack {
		trouble = ErrSilent
	}
	p.expire(now)
	return trouble, heard
}

// examine looks at the consumer, for trouble or for none.
func (e *Engine) examine(soft context.Context, trouble error) (time.Duration, error) {
	if trouble != nil && !errors.Is(trouble, ErrReplaced) {
		e.emit(Event{Kind: Disturbed, Err: trouble})
	}
	ctx, cancel := context.WithTimeout(soft, e.c.Timeout)
	defer cancel()
	info, err := e.look(ctx)
	if err == nil {
		err = e.identify(info)
	}
	switch {
	case soft.Err() != nil:
		return 0, nil
	case errors.Is(err, ErrReplaced) || readiness.Classify(err).Missing():
		e.unbind(true)
		e.emit(Event{Kind: Lost, Err: err})
		return removal, nil
	case err == nil && trouble != nil && !passes(trouble):
		err = trouble
		fallthrough
	case err != nil:
		e.unbind(false)
		return e.failed(soft, err)
	}
	e.resume(info, trouble)
	return e.c.Heartbeat / 2, nil
}

// removal is how long the server has for the files of a consumer that is gone. It
// removes them after its answer: a consumer of the same name that was created at
// once has lost its directory, and every update is refused with err_code 10012
// ("meta.inf.tmp: no such file or directory", seen on nats-server 2.15.3).
const removal = 250 * time.Millisecond

// passes tells trouble after which it is right to ask again at once. Everything
// else is waited out: the broker answers such pulls at once, and for ever.
func passes(trouble error) bool {
	for _, t := range []error{
		ErrSilent, ErrReplaced, jetstream.ErrConsumerLeadershipChanged, jetstream.ErrServerShutdown, jetstream.ErrConsumerDeleted,
	} {
		if errors.Is(trouble, t) {
			return true
		}
	}
	return false
}

// unbind stops asking. The inbox stays: it may still deliver.
func (e *Engine) unbind(gone bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bound = false
	if gone && e.epoch != nil {
		e.epoch.pulls.forget()
	}
}

// resume goes on with a consumer that was found as it should be. After a silence
// nothing that was asked for counts, and only a sign of life ends it.
func (e *Engine) resume(info *jetstream.ConsumerInfo, trouble error) {
	silent := errors.Is(trouble, ErrSilent)
	e.mu.Lock()
	if e.epoch == nil {
		e.mu.Unlock()
		return // the connection went meanwhile
	}
	e.epoch.limit(&info.Config, e.c.InFlight)
	if silent {
		e.epoch.pulls.forget()
		if e.muted.IsZero() {
			e.muted = time.Now()
		}
	}
	mute := !e.muted.IsZero()
	e.mu.Unlock()
	switch full := info.Config.MaxWaiting > 0 && info.NumWaiting >= info.Config.MaxWaiting; {
	case silent && full:
		// A pull with a heartbeat gets no answer then (consumer.go:4942).
		e.emit(Event{Kind: Throttled, Info: info, Err: fmt.Errorf("max_waiting of %d pulls is used up", info.Config.MaxWaiting)})
	case !mute:
		e.emit(Event{Kind: Alive, Info: info})
	}
	e.topUp()
}
