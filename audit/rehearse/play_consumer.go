package rehearse

import (
	"context"
	"slices"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

func (p *play) playConsumer(ctx context.Context, s *scene, e *audit.Entry) (audit.Rehearsed, error) {
	r := p.rehearsed(s, e)
	if r.Skipped != "" {
		return r, nil
	}
	if err := p.refresh(ctx, s); err != nil {
		return r, err
	}
	d, live := p.declared[e.Name()], p.live(e)
	req, sends := d.SentConsumer(live)
	var asked request
	if sends {
		var err error
		if asked, err = consumerRequest(d.Stream, req); unsendable(err) != "" {
			r.Skipped = unsendable(err)
			return r, nil
		}
	}
	pos, err := p.positioned(ctx, s, e, &r)
	if err != nil {
		return r, err
	}
	got, err := p.apply(ctx, d, live, asked, &r)
	if err != nil {
		return r, err
	}
	after, err := p.consumer(ctx, e.Stream, e.Consumer)
	if err != nil {
		return r, err
	}
	got.leave()
	r.Broker = consumerAnswer(live, after, sends, got, s.replicas())
	r.Differences = differences(broker.ConsumerFields(), r.Model, r.Broker)
	if pos != nil && len(r.Differences) == 0 {
		if err := p.effect(ctx, s, e, pos, &r); err != nil {
			return r, err
		}
	}
	r.Agrees = len(r.Differences) == 0
	if !r.Agrees {
		r.Evidence = p.evidence(&r, asked, s.config, shownConsumer(live), p.siblings(e))
	}
	if pos != nil { // the stand-ins go with the stream
		return r, p.remake(ctx, s)
	}
	return r, p.putBack(ctx, s, e, live, after)
}

// live is the config that the request meets, nil where there is none.
func (p *play) live(e *audit.Entry) *broker.ConsumerConfig {
	if s := p.now.Stream(e.Stream); s != nil {
		if k := s.Consumer(e.Consumer); k != nil {
			return k.Config
		}
	}
	return nil
}

// replicas are those of the stream, which a consumer's zero stands for.
func (s *scene) replicas() int {
	if s.config == nil {
		return 1
	}
	return s.config.Replicas
}

// refresh makes those consumers again that have gone away by themselves, because
// nobody pulls here.
func (p *play) refresh(ctx context.Context, s *scene) error {
	m := p.made[s.name]
	if m == nil {
		return nil
	}
	for _, name := range m.order {
		if !m.consumers[name].brief {
			continue
		}
		k, err := p.consumer(ctx, s.name, name)
		if err != nil {
			return err
		}
		if k == nil {
			if err := p.makeAgain(ctx, m.consumers[name].steps); err != nil {
				return err
			}
		}
	}
	return nil
}

// defaultLimit is how many consumers a broker from 2.15 allows on a stream where
// nobody says anything (jetstream_api.go:432).
const defaultLimit = 1000

// crowded says whether one consumer of the stream decides what the broker does for
// another: on a work queue, where there is a limit to their number, and where the
// others keep the messages that one of them gives up.
func (p *play) crowded(s *scene) bool {
	if s.config == nil {
		return false
	}
	count := len(s.consumers)
	if live := p.now.Stream(s.name); live != nil {
		count += len(live.Consumers)
	}
	return s.config.Retention == broker.WorkQueueRetention || slices.ContainsFunc(s.consumers, narrows) ||
		s.config.MaxConsumers > 0 || p.now.Broker.Limits.AccountConsumers > 0 || count >= defaultLimit
}

// putBack undoes what the request did to the consumer where the next is asked in
// another situation otherwise.
func (p *play) putBack(ctx context.Context, s *scene, e *audit.Entry, live, after *broker.ConsumerConfig) error {
	if !p.crowded(s) {
		return nil
	}
	if live == nil && after == nil || live != nil && after != nil && broker.ConsumerOutcome(live, after, s.replicas()) == broker.Noop {
		return nil
	}
	if after != nil {
		if err := p.gone(ctx, "CONSUMER.DELETE."+e.Stream+"."+e.Consumer); err != nil {
			return err
		}
	}
	m := p.made[s.name]
	if live == nil || m == nil {
		return nil
	}
	no, err := p.makeConsumer(ctx, s.name, e.Consumer, m.consumers[e.Consumer])
	if no != nil { // it could come to be only before another did
		return p.remake(ctx, s)
	}
	return err
}

// reply is what a request was answered with.
type reply struct {
	refused *broker.APIError
	client  string // what the client library said by itself
	leave   func() // ends what the client has left open
}

// apply does what the declaration's writer does.
func (p *play) apply(ctx context.Context, d *audit.Declaration, live *broker.ConsumerConfig, asked request, r *audit.Rehearsed) (reply, error) {
	got := reply{leave: func() {}}
	if subscribes(d) {
		done, err := p.subscribe(ctx, d, live, r, &got)
		if done || err != nil {
			return got, err
		}
	}
	if asked.subject == "" {
		return got, nil
	}
	a, err := p.ask(ctx, asked)
	got.refused = a.Err
	return got, err
}

func consumerAnswer(live, after *broker.ConsumerConfig, sent bool, got reply, replicas int) *audit.Answer {
	if got.refused != nil {
		return &audit.Answer{Outcome: broker.Reject, Error: got.refused}
	}
	a := &audit.Answer{Outcome: broker.Untouched, Client: got.client}
	if after == nil {
		return a
	}
	shown := *after
	shown.Metadata = broker.UserMetadata(shown.Metadata)
	a.After = &shown
	if outcome := broker.ConsumerOutcome(live, after, replicas); sent || outcome != broker.Noop {
		a.Outcome = outcome
	}
	return a
}

// siblings are the configs of the stream's other consumers, where they can
// decide.
func (p *play) siblings(e *audit.Entry) []any {
	s := p.now.Stream(e.Stream)
	if s == nil || s.Config.Retention != broker.WorkQueueRetention && s.Config.MaxConsumers <= 0 && p.now.Broker.Limits.AccountConsumers <= 0 {
		return nil
	}
	var all []any
	for _, k := range s.Consumers {
		if k.Name != e.Consumer {
			all = append(all, shownConsumer(k.Config))
		}
	}
	return all
}
