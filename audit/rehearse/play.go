package rehearse

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// A play is the declarations of one cell, put to what it was rebuilt as.
type play struct {
	*cell
	declared map[string]*audit.Declaration
	scenes   []*scene // by stream
}

// A scene is one stream, with what the model says about its declaration and
// about those of its consumers.
type scene struct {
	name      string
	stream    *audit.Entry // nil: not declared
	consumers []*audit.Entry

	config *broker.StreamConfig // as it is now; nil: there is none
	sent   *request             // the declaration that made it so; nil: it is as it was rebuilt
	failed string               // why the declaration could not be asked
}

func newPlay(c *cell, ds []*audit.Declaration, placed map[*audit.Declaration]bool, predicted *audit.Report) *play {
	p := &play{cell: c, declared: map[string]*audit.Declaration{}}
	for _, d := range ds {
		if !d.Target.Matches(c.now) {
			continue
		}
		p.declared[d.Name()] = d
		if placed[d] {
			p.note(d.Name(), withoutPlacement)
		}
	}
	byName := map[string]*scene{}
	at := func(e *audit.Entry) *scene {
		s := byName[e.Stream]
		if s == nil {
			s = &scene{name: e.Stream}
			byName[e.Stream] = s
			p.scenes = append(p.scenes, s)
		}
		return s
	}
	for _, e := range p.mine(predicted.Streams) {
		at(e).stream = e
	}
	for _, e := range p.mine(predicted.Consumers) {
		s := at(e)
		s.consumers = append(s.consumers, e)
	}
	slices.SortFunc(p.scenes, func(a, b *scene) int { return cmp.Compare(a.name, b.name) })
	return p
}

// mine are the entries of this cell's declarations.
func (p *play) mine(all []audit.Entry) []*audit.Entry {
	var found []*audit.Entry
	for i := range all {
		if e := &all[i]; e.Cell == p.was.Name && p.declared[e.Name()] != nil {
			found = append(found, e)
		}
	}
	return found
}

func (p *play) run(ctx context.Context) ([]audit.Rehearsed, error) {
	var all []audit.Rehearsed
	for _, s := range p.scenes {
		entries, err := p.scene(ctx, s)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

// scene plays the stream's declaration, those of its consumers while it holds,
// and puts the stream back as the others are to see it.
func (p *play) scene(ctx context.Context, s *scene) (all []audit.Rehearsed, err error) {
	if live := p.now.Stream(s.name); live != nil {
		s.config = live.Config
	}
	if s.stream != nil {
		r, err := p.playStream(ctx, s)
		if r, err = p.answered(ctx, s, r, err); err != nil {
			return nil, err
		}
		s.failed = p.failure(&r)
		all = append(all, r)
	}
	for _, e := range s.consumers {
		r, err := p.playConsumer(ctx, s, e)
		if r, err = p.answered(ctx, s, r, err); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if s.sent == nil {
		return all, nil
	}
	if err := p.gone(ctx, "STREAM.DELETE."+s.name); err != nil {
		return nil, err
	}
	if m := p.made[s.name]; m != nil {
		return all, p.makeAgain(ctx, m.steps)
	}
	return all, nil
}

// answered makes a skipped entry of one that the broker did not answer, and makes
// the stream anew, since nobody knows what came of it.
func (p *play) answered(ctx context.Context, s *scene, r audit.Rehearsed, err error) (audit.Rehearsed, error) {
	if !errors.Is(err, errNoAnswer) || ctx.Err() != nil {
		return r, err
	}
	r.Skipped, r.Agrees, r.Model, r.Broker, r.Differences = err.Error(), false, nil, nil, nil
	return r, p.remake(ctx, s)
}

// failure is why the consumers of a stream whose declaration was skipped are, or
// "".
func (p *play) failure(r *audit.Rehearsed) string {
	if r.Skipped == "" {
		return ""
	}
	return "the stream's declaration was skipped: " + r.Skipped
}

// makeAgain sends what was accepted before.
func (c *cell) makeAgain(ctx context.Context, steps []request) error {
	no, err := c.take(ctx, steps)
	if no != nil {
		err = no
	}
	return err
}

// rehearsed begins an entry. What is skipped already has its reason.
func (p *play) rehearsed(s *scene, e *audit.Entry) audit.Rehearsed {
	r := audit.Rehearsed{
		Cell: e.Cell, Stream: e.Stream, Consumer: e.Consumer, Writer: e.Writer, Position: e.Position,
		Notes: slices.Concat(p.aside[e.Stream], p.consumerNotes(e)),
	}
	r.Skipped = cmp.Or(p.skip[e.Stream], p.skip[e.Name()], e.Reason)
	if r.Skipped == "" && e.Consumer != "" {
		r.Skipped = s.failed
	}
	if r.Skipped == "" {
		r.Model = &audit.Answer{Outcome: e.Outcome, Error: e.Error, After: e.After}
		if d := p.declared[e.Name()]; d.Consumer != "" && subscribes(d) {
			r.Model.Client = refusedBinding(e)
		}
	}
	return r
}

func (p *play) consumerNotes(e *audit.Entry) []string {
	if e.Consumer == "" {
		return nil
	}
	return p.aside[e.Name()]
}

// unsendable says that no broker would see a request, or "".
func unsendable(err error) string {
	if errors.Is(err, broker.ErrUnsendable) {
		return "nothing can be sent: " + err.Error()
	}
	return ""
}
