package rehearse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// A cell is one cell of the fleet, rebuilt.
type cell struct {
	was     *audit.CellView // as the snapshot has it
	now     *audit.CellView // as the rehearsal's broker has it
	nc      *nats.Conn
	servers int
	made    map[string]*made    // the streams that could be rebuilt
	skip    map[string]string   // by stream or stream/consumer: why it is not rehearsed
	aside   map[string][]string // by stream or stream/consumer: what is not as it is live
	notes   []string
}

// made is how a stream and its consumers are made, for when they have to be made
// again.
type made struct {
	steps     []request
	consumers map[string]*madeConsumer
	order     []string // in which the consumers were made
}

type madeConsumer struct {
	steps []request
	bound bool // somebody is subscribed to its deliver subject
	brief bool // it is deleted when nobody pulls for a while
}

// brief is the inactive_threshold from which on a consumer outlives a rehearsal.
const brief = 5 * time.Minute

func rebuildAll(ctx context.Context, f *audit.Fleet, b *brokers) ([]*cell, error) {
	var all []*cell
	for i, view := range f.Cells {
		nc, servers, err := b.connect(i, view.Broker.Clustered)
		if err != nil {
			return nil, err
		}
		c := &cell{
			was: view, nc: nc, servers: servers,
			made: map[string]*made{}, skip: map[string]string{}, aside: map[string][]string{},
		}
		if err := c.rebuild(ctx); err != nil {
			return nil, fmt.Errorf("rebuild cell %q: %w", view.Name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// rebuild makes the streams, then their consumers. A stream that draws from
// another comes first: beside the other it might be refused for what the other
// has become since.
func (c *cell) rebuild(ctx context.Context) error {
	order := slices.Clone(c.was.Streams)
	slices.SortStableFunc(order, func(a, b *audit.StreamView) int { return drawn(b.Config) - drawn(a.Config) })
	for _, s := range order {
		if err := c.rebuildStream(ctx, s); err != nil {
			return err
		}
	}
	for _, s := range c.was.Streams {
		if m := c.made[s.Name]; m != nil {
			if err := c.rebuildConsumers(ctx, s, m); err != nil {
				return err
			}
		}
	}
	return nil
}

func drawn(s *broker.StreamConfig) int {
	if s.Draws() {
		return 1
	}
	return 0
}

func (c *cell) rebuildStream(ctx context.Context, s *audit.StreamView) error {
	if len(s.Unknown) > 0 {
		c.leaveOut(s.Name, fmt.Sprintf("the live config has fields that the model does not know: %v", s.Unknown))
		return nil
	}
	config := *s.Config
	config.Metadata = broker.UserMetadata(config.Metadata)
	if config.Placement != nil {
		config.Placement = nil
		c.note(s.Name, withoutPlacement)
	}
	steps, err := streamSteps(&config)
	if err != nil {
		return err
	}
	refused, err := c.take(ctx, steps)
	if no := unmade("stream", refused, err); no != "" {
		c.leaveOut(s.Name, no)
		return nil
	}
	if err != nil {
		return err
	}
	c.made[s.Name] = &made{steps: steps, consumers: map[string]*madeConsumer{}}
	return nil
}

// unmade says why something could not be made as it is live, or "".
func unmade(what string, refused *broker.APIError, err error) string {
	switch {
	case errors.Is(err, errNoAnswer):
		return "the rehearsal's broker does not make the " + what + " as it is live: " + err.Error()
	case refused != nil:
		return "the rehearsal's broker refuses the " + what + " as it is live: " + refused.Error()
	}
	return ""
}

// streamSteps are the requests that make a stream. No stream is created sealed.
func streamSteps(config *broker.StreamConfig) ([]request, error) {
	first := *config
	first.Sealed = false
	create, err := streamRequest(&broker.StreamRequest{Config: first}, false)
	if err != nil || !config.Sealed {
		return []request{create}, err
	}
	seal, err := streamRequest(&broker.StreamRequest{Config: *config}, true)
	return []request{create, seal}, err
}

func streamRequest(req *broker.StreamRequest, exists bool) (r request, err error) {
	if r.subject, err = req.Subject(exists); err != nil {
		return r, err
	}
	r.body, err = req.Body()
	return r, err
}

// take sends requests up to the first that is refused.
func (c *cell) take(ctx context.Context, steps []request) (refused *broker.APIError, err error) {
	for _, r := range steps {
		got, err := c.ask(ctx, r)
		if err != nil || got.Err != nil {
			return got.Err, err
		}
	}
	return nil, nil //nolint:nilnil // nothing was refused
}

// await asks again until the answer is yes.
func (c *cell) await(ctx context.Context, what string, yes func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		ok, err := yes()
		if ok || err != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		}
	}
}

// leaveOut says why something is not rehearsed.
func (c *cell) leaveOut(name, why string) {
	if _, told := c.skip[name]; !told {
		c.skip[name] = why
		c.notes = append(c.notes, name+" is not there: "+why)
	}
}

// note says what is not as it is live.
func (c *cell) note(name, text string) {
	if !slices.Contains(c.aside[name], text) {
		c.aside[name] = append(c.aside[name], text)
	}
}
