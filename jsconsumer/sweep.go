package jsconsumer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/engine"
	"github.com/natsmig/natsmig/readiness"
)

// sweeper finds messages that the broker gave up although nobody had captured them:
// the process was killed during the last attempt, or it had more to do than the
// ladder leaves time for. The broker tells it once, in an advisory, to whoever
// listens then; with Config.Advisories a stream does, and the sweeper reads that.
// Without, it looks for what was missed whenever the durable is bound.
type sweeper struct {
	r       *Runner
	due     chan *jetstream.ConsumerInfo // what to scan
	rescued tried                        // what a scan must not find again
}

// exhausted is the advisory of max_deliver (jetstream_events.go:122, nats-server
// 2.15.3).
type exhausted struct {
	Sequence   uint64 `json:"stream_seq"`
	Deliveries uint64 `json:"deliveries"`
}

func (r *Runner) advisories() string {
	return "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + r.c.Stream + "." + r.name()
}

// run sweeps until a drain begins.
func (s *sweeper) run(ctx context.Context) {
	if s.r.c.GiveUp != Capture && s.r.c.Hooks.Exhausted == nil {
		return
	}
	if s.r.c.Advisories != "" {
		s.r.workers.Go(func() { s.read(ctx) })
		return
	}
	s.r.workers.Go(func() { s.listen(ctx) })
	if s.r.c.GiveUp == Capture {
		s.r.workers.Go(func() { s.scans(ctx) })
	}
}

// read consumes the stream that stores the advisories.
func (s *sweeper) read(ctx context.Context) {
	c := s.r.c
	inner, err := New(s.r.js, Config{
		Stream: c.Advisories,
		Consumer: jetstream.ConsumerConfig{
			Durable: "natsmig-sweep-" + c.Stream + "-" + s.r.name(), FilterSubject: s.r.advisories(), AckPolicy: jetstream.AckExplicitPolicy,
		},
		Expires: c.Expires, Inspect: c.Inspect, Timeout: c.Timeout, DrainTimeout: c.DrainTimeout,
		Hooks: Hooks{Report: func(r Report) {
			if r.Kind == readiness.Loud || r.Kind == readiness.Escalated {
				s.failing(r.Err)
			}
		}},
	}, func(ctx context.Context, d Delivery) Disposition {
		var e exhausted
		if err := d.JSON(&e); err != nil {
			return Discard(err)
		}
		if !s.advised(ctx, e) {
			return Retry(nil)
		}
		return Ack()
	})
	if err == nil {
		err = inner.Run(ctx)
	}
	if err != nil {
		s.failing(err)
	}
}

func (s *sweeper) failing(err error) {
	call(s.r.c.Hooks.SweepFailing, Trouble{s.r.about(), err})
}

// listen hears the advisories that are sent while this process is there. Of several
// processes one hears each.
func (s *sweeper) listen(ctx context.Context) {
	var busy sync.Mutex
	sub, err := s.r.js.Conn().QueueSubscribe(s.r.advisories(), "natsmig-sweep", func(m *nats.Msg) {
		busy.Lock()
		defer busy.Unlock()
		var e exhausted
		if json.Unmarshal(m.Data, &e) == nil && e.Sequence > 0 && ctx.Err() == nil {
			s.advised(ctx, e)
		}
	})
	if err == nil {
		_ = sub.SetPendingLimits(-1, -1) // fails on a subscription that is over
		err = s.allowed()
	}
	if err != nil {
		s.failing(fmt.Errorf("listen to advisories: %w", err))
		return
	}
	<-ctx.Done()
	_ = sub.Unsubscribe() // fails on a closed connection, where it is gone
	busy.Lock()           // hooks are over when Run is
	defer busy.Unlock()
}

// allowed says whether the server took the subscription: a denial is told to the
// connection alone, before the answer to a ping.
func (s *sweeper) allowed() error {
	nc := s.r.js.Conn()
	if err := nc.FlushTimeout(s.r.c.Timeout); err != nil {
		return nil //nolint:nilerr // the connection is away, and subscribes when it is back
	}
	err := nc.LastError()
	if errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), s.r.advisories()) {
		return err
	}
	return nil
}

// scans looks for what was missed, when told to.
func (s *sweeper) scans(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case info := <-s.due:
			if err := s.scan(ctx, info); err != nil && ctx.Err() == nil {
				s.failing(fmt.Errorf("look for exhausted messages: %w", err))
			}
		}
	}
}

// look has a consumer scanned, unless that can not find anything.
func (s *sweeper) look(info *jetstream.ConsumerInfo) {
	if info.Config.MaxDeliver < 1 {
		return
	}
	select {
	case s.due <- info:
	default: // one is due already
	}
}

// scan finds what can be known to be exhausted. In a work queue that is whatever is
// left although it is not pending. Elsewhere only the message behind the ack floor
// is known, while nothing is pending: the floor would have passed it otherwise. What
// the floor has passed since can not be told from what was acknowledged.
func (s *sweeper) scan(ctx context.Context, info *jetstream.ConsumerInfo) error {
	stream, err := s.r.js.Stream(ctx, s.r.c.Stream)
	if err != nil {
		return err
	}
	from, to, most := info.AckFloor.Stream+1, info.Delivered.Stream, 1
	if info.NumAckPending > 0 {
		to = info.AckFloor.Stream
	}
	if stream.CachedInfo().Config.Retention == jetstream.WorkQueuePolicy {
		from, most = stream.CachedInfo().State.FirstSeq, int(to)
	}
	filters := info.Config.FilterSubjects
	if len(filters) == 0 {
		filters = []string{info.Config.FilterSubject}
	}
	for _, filter := range filters {
		if err := s.between(ctx, stream, filter, from, to, most); err != nil {
			return err
		}
	}
	return nil
}

func (s *sweeper) between(ctx context.Context, stream jetstream.Stream, filter string, from, to uint64, most int) error {
	if filter == "" {
		filter = ">"
	}
	for n := 0; from <= to && n < most; n++ {
		m, err := stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(filter))
		if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && m.Sequence > to {
			return nil
		}
		if err != nil {
			return err
		}
		if _, known := s.rescued.has(m.Sequence); !known {
			s.rescue(ctx, m, 0)
		}
		from = m.Sequence + 1
	}
	return nil
}

// advised follows an advisory. False: it is still to be done.
func (s *sweeper) advised(ctx context.Context, e exhausted) bool {
	if s.r.c.GiveUp != Capture {
		s.tell(e, false, nil)
		return true
	}
	m, err := s.fetch(ctx, e.Sequence)
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		s.tell(e, false, err)
		return true
	}
	return s.rescue(ctx, m, e.Deliveries)
}

// rescue captures a message that was given up, as if it had been delivered once
// more. False: it is still to be done.
func (s *sweeper) rescue(ctx context.Context, m *jetstream.RawStreamMsg, deliveries uint64) bool {
	msg := &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data}
	d := s.r.delivery(engine.Fetched(msg, m.Sequence, deliveries, m.Time))
	if !s.r.deadLetter(ctx, d, "swept", nil, func() { s.remove(d) }) {
		return false
	}
	s.rescued.add(m.Sequence, nil)
	s.tell(exhausted{m.Sequence, deliveries}, true, nil)
	return true
}

func (s *sweeper) tell(e exhausted, captured bool, why error) {
	call(s.r.c.Hooks.Exhausted, Exhausted{s.r.about(), e.Sequence, e.Deliveries, captured, why})
}

// errGone: max_age or a purge was faster.
var errGone = errors.New("the stream has the message no more")

// fetch reads a message, however long that takes.
func (s *sweeper) fetch(ctx context.Context, seq uint64) (m *jetstream.RawStreamMsg, err error) {
	persist(ctx, func(int) bool {
		m, err = s.get(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) || readiness.Classify(err) == readiness.MissingStream {
			err = errors.Join(errGone, err)
			return true
		}
		return err == nil
	})
	return m, err
}

func (s *sweeper) get(ctx context.Context, seq uint64) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, s.r.c.Timeout)
	defer cancel()
	stream, err := s.r.js.Stream(ctx, s.r.c.Stream)
	if err != nil {
		return nil, err
	}
	return stream.GetMsg(ctx, seq)
}

// remove takes a captured message out of a work queue, where it would stay for good:
// an ack does that though the message is not pending (processAckMsg, consumer.go:3898,
// nats-server 2.15.3). Elsewhere it changes nothing.
func (s *sweeper) remove(d Delivery) {
	subject := fmt.Sprintf("$JS.ACK.%s.%s.%d.%d.0.%d.0", d.Stream(), d.Consumer(), d.Attempt(), d.Sequence(), d.Stored().UnixNano())
	_ = s.r.js.Conn().Publish(subject, []byte(engine.Ack)) // the message stays, and is captured again as a duplicate
}
