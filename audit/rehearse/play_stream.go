package rehearse

import (
	"context"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

func (p *play) playStream(ctx context.Context, s *scene) (audit.Rehearsed, error) {
	r := p.rehearsed(s, s.stream)
	if r.Skipped != "" {
		return r, nil
	}
	live := s.config
	req, sends := p.declared[s.name].SentStream(live)
	var asked request
	var refused *broker.APIError
	if sends {
		var err error
		if asked, err = streamRequest(req, live != nil); unsendable(err) != "" {
			r.Skipped = unsendable(err)
			return r, nil
		}
		got, err := p.ask(ctx, asked)
		if err != nil {
			return r, err
		}
		refused = got.Err
	}
	after, err := p.stream(ctx, s.name)
	if err != nil {
		return r, err
	}
	r.Broker = streamAnswer(live, after, sends, refused)
	r.Differences = differences(broker.StreamFields(), r.Model, r.Broker)
	r.Agrees = len(r.Differences) == 0
	if !r.Agrees {
		r.Evidence = p.evidence(&r, asked, nil, shownStream(live), p.peers(s.name))
	}
	return r, p.settle(ctx, s, asked, after, refused)
}

// settle keeps what the declaration made of the stream. What a refused request
// has changed all the same, which in a cluster can be, goes.
func (p *play) settle(ctx context.Context, s *scene, asked request, after *broker.StreamConfig, refused *broker.APIError) error {
	live := s.config
	same := live == nil && after == nil || live != nil && after != nil && broker.StreamOutcome(live, after) == broker.Noop
	switch {
	case same:
		return nil
	case refused == nil:
		s.config, s.sent = after, &asked
		return nil
	}
	return p.remake(ctx, s)
}

// remake makes the stream and its consumers anew, as they are to be for the
// declarations of the consumers.
func (p *play) remake(ctx context.Context, s *scene) error {
	if err := p.gone(ctx, "STREAM.DELETE."+s.name); err != nil {
		return err
	}
	if m := p.made[s.name]; m != nil {
		if err := p.makeAgain(ctx, m.steps); err != nil {
			return err
		}
		for _, name := range m.order {
			if no, err := p.makeConsumer(ctx, s.name, name, m.consumers[name]); err != nil || no != nil {
				return firstError(err, no)
			}
		}
	}
	if s.sent != nil {
		return p.must(ctx, *s.sent)
	}
	return nil
}

func firstError(err error, no *broker.APIError) error {
	if err != nil {
		return err
	}
	return no
}

func streamAnswer(live, after *broker.StreamConfig, sent bool, refused *broker.APIError) *audit.Answer {
	if refused != nil {
		return &audit.Answer{Outcome: broker.Reject, Error: refused}
	}
	a := &audit.Answer{Outcome: broker.Untouched}
	if after == nil {
		return a
	}
	shown := *after
	shown.Metadata = broker.UserMetadata(shown.Metadata)
	a.After = &shown
	if outcome := broker.StreamOutcome(live, after); sent || outcome != broker.Noop {
		a.Outcome = outcome
	}
	return a
}

// peers are the configs of the cell's other streams.
func (p *play) peers(but string) []any {
	var all []any
	for _, s := range p.now.Streams {
		if s.Name != but {
			all = append(all, shownStream(s.Config))
		}
	}
	return all
}
