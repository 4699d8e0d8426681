package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// narrowedFilter is the rule about an update that deletes stored messages.
const narrowedFilter = "NM211"

// standIns is how many messages stand in for those of a stream, at most.
const standIns = 1000

// deleted is the name of the effect, and of a difference in it.
const deleted = "messages deleted"

// settleTime is how long a broker may take to delete as many messages as the
// model says.
const settleTime = 3 * time.Second

// A position is a stream filled with stand-ins, as far as its consumers have come
// in it live.
type position struct {
	stored map[string]uint64 // by subject
	ahead  bool              // another consumer has handled some of them
}

// positioned fills the stream where what is stored in it decides what the request
// does. Nil: it does not, or nobody knows what is stored.
func (p *play) positioned(ctx context.Context, t *turn) (*position, error) {
	was := p.was.Stream(t.Stream)
	if !narrows(t.entry) || was.Stated && was.State.Messages == 0 {
		return nil, nil //nolint:nilnil // nothing can be deleted
	}
	if why := unfillable(was, t.config); why != "" {
		t.Notes = append(t.Notes, "what it deletes was not rehearsed: "+why)
		return nil, nil //nolint:nilnil // not possible
	}
	counts, note := scaled(was.State.Subjects)
	if note != "" {
		t.Notes = append(t.Notes, note)
	}
	if err := p.publish(ctx, counts); err != nil {
		return nil, err
	}
	pos := &position{}
	for _, k := range was.Consumers {
		moved, err := p.advance(ctx, was, k)
		if err != nil {
			return nil, err
		}
		pos.ahead = pos.ahead || moved && k.Name != t.Consumer
	}
	var err error
	pos.stored, err = p.stored(ctx, t.Stream)
	return pos, err
}

// unfillable says why no message can stand in for those of the stream, or "".
func unfillable(was *audit.StreamView, config *broker.StreamConfig) string {
	switch {
	case was.State.Subjects == nil:
		return "the snapshot does not count the messages by subject (--subjects)"
	case config.Draws() || config.SubjectTransform != nil:
		return "nobody can publish what the stream stores"
	}
	return ""
}

// narrows says whether the model foretells that stored messages are deleted.
func narrows(e *audit.Entry) bool {
	return slices.ContainsFunc(e.Findings, func(f audit.Finding) bool { return f.Code == narrowedFilter })
}

// scaled takes so few of each subject that they are standIns together, but one of
// each at least.
func scaled(subjects map[string]uint64) (counts map[string]int, note string) {
	var all uint64
	for _, n := range subjects {
		all += n
	}
	counts = map[string]int{}
	for subject, n := range subjects {
		switch {
		case n == 0:
		case all <= standIns:
			counts[subject] = int(n)
		default:
			counts[subject] = max(1, int(n*standIns/all))
		}
	}
	if all > standIns {
		note = fmt.Sprintf("%d stored messages are scaled down to about %d stand-ins", all, standIns)
	}
	return counts, note
}

// publish stores the messages of all subjects in turn, so that every part of the
// stream has some of each. What the stream refuses, such as a subject that it has
// no more, is not there.
func (p *play) publish(ctx context.Context, counts map[string]int) error {
	js, err := jetstream.New(p.nc)
	if err != nil {
		return fmt.Errorf("use JetStream: %w", err)
	}
	subjects := slices.Sorted(maps.Keys(counts))
	for i := 0; len(subjects) > 0; i++ {
		subjects = slices.DeleteFunc(subjects, func(s string) bool { return counts[s] <= i })
		for _, subject := range subjects {
			if _, err := js.PublishAsync(subject, nil); err != nil {
				return fmt.Errorf("publish a stand-in: %w", err)
			}
		}
	}
	select {
	case <-js.PublishAsyncComplete():
		return nil
	case <-time.After(patience):
		return errors.New("the stand-ins are not stored in time")
	case <-ctx.Done():
		return fmt.Errorf("publish stand-ins: %w", context.Cause(ctx))
	}
}

// advance lets a consumer handle as large a part of its messages as it has live.
// A consumer that pushes stays at the start.
func (p *play) advance(ctx context.Context, was *audit.StreamView, k *audit.ConsumerView) (moved bool, err error) {
	first, last, floor := was.State.FirstSeq, was.State.LastSeq, k.State.AckFloor.Stream
	if p.made[was.Name].consumers[k.Name] == nil || k.Config.Push() || k.Config.AckPolicy == broker.AckNone || floor < first || last < first {
		return false, nil
	}
	js, err := jetstream.New(p.nc)
	if err != nil {
		return false, fmt.Errorf("use JetStream: %w", err)
	}
	c, err := js.Consumer(ctx, was.Name, k.Name)
	if err != nil {
		return false, fmt.Errorf("look up %s/%s: %w", was.Name, k.Name, err)
	}
	part := float64(min(floor, last)-first+1) / float64(last-first+1)
	for todo := int(part * float64(c.CachedInfo().NumPending)); todo > 0; todo-- {
		m, err := c.Next(jetstream.FetchMaxWait(askTimeout))
		if err != nil {
			return moved, nil //nolint:nilerr // paused or slow: it has come as far as it has
		}
		if err := m.DoubleAck(ctx); err != nil {
			return moved, fmt.Errorf("acknowledge a stand-in: %w", err)
		}
		moved = true
	}
	return moved, nil
}

// stored counts the messages of a stream by subject.
func (p *play) stored(ctx context.Context, stream string) (map[string]uint64, error) {
	msg, err := p.nc.RequestWithContext(ctx, prefix+"STREAM.INFO."+stream, []byte(`{"subjects_filter": ">"}`))
	if err != nil {
		return nil, fmt.Errorf("count the stand-ins: %w", err)
	}
	var info struct {
		State audit.StreamState `json:"state"`
	}
	if err := json.Unmarshal(msg.Data, &info); err != nil {
		return nil, fmt.Errorf("count the stand-ins: %w", err)
	}
	return info.State.Subjects, nil
}

// effect counts what the update has deleted, beside the model's count, and takes
// the stand-ins away.
func (p *play) effect(ctx context.Context, t *turn, pos *position) error {
	next, ok := t.Model.After.(*broker.ConsumerConfig)
	if !ok || t.live == nil || len(t.Differences) > 0 { // there is no update to count for
		return p.empty(ctx, t.scene)
	}
	others := slices.DeleteFunc(slices.Clone(p.now.Stream(t.Stream).Siblings), func(o broker.Sibling) bool { return o.Name == t.Consumer })
	x := audit.Effect{Name: deleted, Of: sum(pos.stored), Model: audit.Lost(pos.stored, t.live.Filters(), next.Filters(), others)}
	if err := p.countDeleted(ctx, t.Stream, &x); err != nil {
		return err
	}
	t.Effects = append(t.Effects, x)
	switch {
	case x.Broker > x.Model && pos.ahead:
		t.Notes = append(t.Notes, "more is deleted than the model says, because other consumers have handled their messages on these subjects already")
	case x.Broker != x.Model:
		t.Differences = append(t.Differences, audit.Difference{Field: deleted, Model: x.Model, Broker: x.Broker})
	}
	return p.empty(ctx, t.scene)
}

// empty takes all messages out of the stream: no consumer has anything to do then,
// and those that come later find all of them in the same place.
func (p *play) empty(ctx context.Context, s *scene) error {
	got, err := p.ask(ctx, request{subject: "STREAM.PURGE." + s.name})
	if err == nil && got.Err != nil { // deny_purge
		return p.remake(ctx, s)
	}
	return err
}

// countDeleted asks until as many are gone as the model says, or until it stays
// at another number.
func (p *play) countDeleted(ctx context.Context, stream string, x *audit.Effect) error {
	until, last := time.Now().Add(settleTime), uint64(0)
	return p.await(ctx, "the broker does not say what it stores", func() (bool, error) {
		left, err := p.stored(ctx, stream)
		x.Broker = x.Of - sum(left)
		more := x.Broker > x.Model && x.Broker == last // it will not come down again
		last = x.Broker
		return x.Broker == x.Model || more || time.Now().After(until), err
	})
}

func sum(counts map[string]uint64) (all uint64) {
	for _, n := range counts {
		all += n
	}
	return all
}
