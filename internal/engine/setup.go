package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/readiness"
)

// setUp makes the durable what it should be and binds it. Only the supervisor
// calls it, so that one is under way at most.
func (e *Engine) setUp(ctx context.Context) error {
	e.mu.Lock()
	e.counts.SetUps++
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, e.c.Timeout)
	defer cancel()
	info, err := e.provision(ctx)
	if err != nil {
		return err
	}
	if err := e.identify(info); err != nil {
		return err
	}
	return e.bind(info)
}

func (e *Engine) provision(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	before := e.Info()
	if before == nil {
		return e.first(ctx)
	}
	info, err := e.look(ctx)
	missing := readiness.Classify(err) == readiness.MissingConsumer
	if !missing || e.c.Recreate == Never {
		return info, err
	}
	return e.recreate(ctx, before)
}

// first provisions a durable that was never bound.
func (e *Engine) first(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	if e.c.Provision == CreateOrUpdate {
		return e.createOrUpdate(ctx)
	}
	info, err := e.look(ctx)
	if e.c.Provision == BindOnly || readiness.Classify(err) != readiness.MissingConsumer {
		return info, err
	}
	info, err = cached(e.js.CreateConsumer(ctx, e.c.Stream, e.c.Consumer))
	if errors.Is(err, jetstream.ErrConsumerExists) {
		return e.look(ctx) // somebody else was faster
	}
	return info, err
}

// createOrUpdate declares the durable. One that an engine created again from its
// floor keeps its start, which can not be updated (err_code 10012).
func (e *Engine) createOrUpdate(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	info, err := cached(e.js.CreateOrUpdateConsumer(ctx, e.c.Stream, e.c.Consumer))
	if err == nil || readiness.Classify(err) != readiness.Rejected {
		return info, err
	}
	live, lookErr := e.look(ctx)
	if lookErr != nil || live.Config.Metadata[floorKey] == "" {
		return nil, err
	}
	c := e.c.Consumer
	from(&c, live.Config.OptStartSeq)
	return cached(e.js.CreateOrUpdateConsumer(ctx, e.c.Stream, c))
}

// recreate creates a durable that was bound and is gone.
func (e *Engine) recreate(ctx context.Context, before *jetstream.ConsumerInfo) (*jetstream.ConsumerInfo, error) {
	c := e.c.Consumer
	if e.c.Provision == BindOnly {
		c = before.Config
	}
	stream, err := e.js.Stream(ctx, e.c.Stream)
	if err != nil {
		return nil, err
	}
	// A stream younger than the consumer is another stream, and its messages have
	// other numbers.
	same := !stream.CachedInfo().Created.After(before.Created)
	e.mu.Lock()
	floor := e.floor
	e.mu.Unlock()
	if e.c.Recreate == FromFloor && same {
		from(&c, floor+1)
	}
	info, err := cached(e.js.CreateConsumer(ctx, e.c.Stream, c))
	if errors.Is(err, jetstream.ErrConsumerExists) {
		return e.look(ctx)
	}
	return info, err
}

// floorKey marks a durable that was created again from the floor of another.
const floorKey = "natsmig.recreated-from-floor"

func from(c *jetstream.ConsumerConfig, seq uint64) {
	c.DeliverPolicy, c.OptStartSeq, c.OptStartTime = jetstream.DeliverByStartSequencePolicy, seq, nil
	metadata := map[string]string{floorKey: strconv.FormatUint(seq-1, 10)}
	maps.Copy(metadata, c.Metadata)
	c.Metadata = metadata
}

// look asks what the consumer is.
func (e *Engine) look(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	return cached(e.js.Consumer(ctx, e.c.Stream, e.c.durable()))
}

func cached(c jetstream.Consumer, err error) (*jetstream.ConsumerInfo, error) {
	if err != nil {
		return nil, err
	}
	return c.CachedInfo(), nil
}

// identify compares a consumer with the one that was bound before. Whoever waited
// to know whose deliveries it has, knows then.
func (e *Engine) identify(info *jetstream.ConsumerInfo) error {
	e.mu.Lock()
	before, floor := e.info, e.floor
	replaced := before != nil && !before.Created.Equal(info.Created)
	if replaced && !e.seen.Equal(info.Created) {
		e.identity++
		if e.epoch != nil {
			e.epoch.pulls.forget() // they went with the consumer
		}
	}
	e.seen, e.looked = info.Created, time.Now()
	if replaced {
		if e.c.Recreate == Never {
			e.trustLocked()
			e.mu.Unlock()
			return fmt.Errorf("%w at %s", ErrReplaced, info.Created.Format(time.RFC3339Nano))
		}
		e.floor = 0
	}
	back := !replaced && info.AckFloor.Stream < e.floor
	e.floor = max(e.floor, info.AckFloor.Stream)
	e.info = info
	e.trustLocked()
	e.mu.Unlock()
	switch {
	case replaced:
		e.emit(Event{Kind: Recreated, Info: info, Floor: floor})
	case back:
		e.emit(Event{Kind: RolledBack, Info: info, Floor: floor})
	}
	return nil
}

// trustLocked ends the doubt about the identity.
func (e *Engine) trustLocked() {
	if e.suspect != nil {
		close(e.suspect)
		e.suspect = nil
	}
}

// bind asks for messages, on a new inbox if the connection is a new one.
func (e *Engine) bind(info *jetstream.ConsumerInfo) error {
	ep := e.current()
	if ep == nil {
		inbox := e.nc.NewInbox()
		sub, err := e.nc.ChanSubscribe(inbox+".*", e.in)
		if err != nil {
			return fmt.Errorf("subscribe to the inbox: %w", err)
		}
		ep = &epoch{sub: sub, pulls: newPulls(inbox, e.c.Expires, e.c.Heartbeat)}
	}
	e.mu.Lock()
	ep.limit(&info.Config, e.c.InFlight)
	e.epoch, e.bound, e.trouble, e.muted = ep, true, nil, time.Time{}
	e.counts.Bound++
	e.mu.Unlock()
	e.emit(Event{Kind: Bound, Info: info})
	e.topUp()
	return nil
}

func (e *Engine) current() *epoch {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.epoch
}

// limit keeps pulls within what the consumer allows.
func (ep *epoch) limit(c *jetstream.ConsumerConfig, inFlight int) {
	ep.maxBatch = inFlight
	if c.MaxRequestBatch > 0 {
		ep.maxBatch = min(inFlight, c.MaxRequestBatch)
	}
	if c.MaxRequestExpires > 0 && c.MaxRequestExpires < ep.pulls.expires {
		ep.pulls.within(c.MaxRequestExpires)
	}
}

// epoch is one inbox: the subscription, and what was asked for on it.
type epoch struct {
	sub   *nats.Subscription
	pulls *pulls
	// maxBatch is the consumer's limit, or InFlight.
	maxBatch int
}
