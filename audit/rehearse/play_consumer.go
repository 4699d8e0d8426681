package rehearse

import (
	"context"
	"slices"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// A turn is the declaration of one consumer, while it is asked.
type turn struct {
	*scene
	entry       *audit.Entry // the model's
	declaration *audit.Declaration
	live        *broker.ConsumerConfig // nil: there is none
	sends       bool                   // the writer sends something
	asked       request
	audit.Rehearsed
}

func (p *play) playConsumer(ctx context.Context, s *scene, e *audit.Entry) (audit.Rehearsed, error) {
	t := &turn{scene: s, entry: e, declaration: p.declared[e.Name()], live: p.live(e), Rehearsed: p.rehearsed(s, e)}
	if t.Skipped != "" {
		return t.Rehearsed, nil
	}
	if p.forgotten(t) {
		t.Skipped, t.Model = "a cluster remembers whether the 5 s of inactive_threshold were asked for, and tells nobody", nil
		return t.Rehearsed, nil
	}
	if err := t.word(); err != nil || t.Skipped != "" {
		return t.Rehearsed, err
	}
	if err := p.refresh(ctx, s); err != nil {
		return t.Rehearsed, err
	}
	return t.Rehearsed, p.question(ctx, t)
}

// forgotten says whether the answer hangs on what no snapshot has: action=create
// compares with what was asked for, and a meta leader does not know of the
// threshold that the stream's leader gave an ephemeral.
func (p *play) forgotten(t *turn) bool {
	return p.now.Broker.Clustered && t.Writer == audit.Create &&
		t.live != nil && t.live.Durable == "" && t.live.InactiveThreshold == broker.EphemeralThreshold
}

// word makes the request that the writer sends.
func (t *turn) word() error {
	var req *broker.ConsumerRequest
	if req, t.sends = t.declaration.SentConsumer(t.live); !t.sends {
		return nil
	}
	var err error
	t.asked, err = consumerRequest(t.Stream, req)
	if t.Skipped = unsendable(err); t.Skipped != "" {
		t.Model = nil
		return nil
	}
	return err
}

// question does what the writer does, reads back, and compares.
func (p *play) question(ctx context.Context, t *turn) error {
	pos, err := p.positioned(ctx, t)
	if err != nil {
		return err
	}
	got, err := p.apply(ctx, t)
	if err != nil {
		return err
	}
	after, err := p.consumer(ctx, t.Stream, t.Consumer)
	if err != nil {
		return err
	}
	got.leave()
	t.Broker = consumerAnswer(t, after, got)
	t.Differences = differences(broker.ConsumerFields(), t.Model, t.Broker)
	if pos != nil {
		if err := p.effect(ctx, t, pos); err != nil {
			return err
		}
	}
	if t.Agrees = len(t.Differences) == 0; !t.Agrees {
		t.Evidence = p.evidence(&t.Rehearsed, t.asked, t.config, shownConsumer(t.live), p.siblings(t.entry))
	}
	return p.putBack(ctx, t, after)
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
func (p *play) putBack(ctx context.Context, t *turn, after *broker.ConsumerConfig) error {
	same := t.live == nil && after == nil ||
		t.live != nil && after != nil && broker.ConsumerOutcome(t.live, after, t.replicas()) == broker.Noop
	if same || !p.crowded(t.scene) {
		return nil
	}
	if after != nil {
		if err := p.gone(ctx, "CONSUMER.DELETE."+t.Stream+"."+t.Consumer); err != nil {
			return err
		}
	}
	m := p.made[t.Stream]
	if t.live == nil || m == nil {
		return nil
	}
	no, err := p.makeConsumer(ctx, t.Stream, t.Consumer, m.consumers[t.Consumer])
	if no != nil { // it could come to be only before another did
		return p.remake(ctx, t.scene)
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
func (p *play) apply(ctx context.Context, t *turn) (reply, error) {
	got := reply{leave: func() {}}
	if subscribes(t.declaration) {
		done, err := p.subscribe(ctx, t, &got)
		if done || err != nil {
			return got, err
		}
	}
	if !t.sends {
		return got, nil
	}
	a, err := p.ask(ctx, t.asked)
	got.refused = a.Err
	return got, err
}

func consumerAnswer(t *turn, after *broker.ConsumerConfig, got reply) *audit.Answer {
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
	if outcome := broker.ConsumerOutcome(t.live, after, t.replicas()); t.sends || outcome != broker.Noop {
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
