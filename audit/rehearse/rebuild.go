package rehearse

import (
	"context"
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
		c.note(s.Name, "rehearsed without its placement, which no server here satisfies")
	}
	steps, err := streamSteps(&config)
	if err != nil {
		return err
	}
	refused, err := c.take(ctx, steps)
	if err != nil {
		return err
	}
	if refused != nil {
		c.leaveOut(s.Name, "the rehearsal's broker refuses the stream as it is live: "+refused.Error())
		return nil
	}
	c.made[s.Name] = &made{steps: steps, consumers: map[string]*madeConsumer{}}
	return nil
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

func consumerRequest(stream string, req *broker.ConsumerRequest) (r request, err error) {
	if r.subject, err = req.Subject(stream); err != nil {
		return r, err
	}
	r.body, err = req.Body(stream)
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

// rebuildConsumers makes those that are accepted as they are, and then the
// others by a detour. Consumers with a filter come first: on a work queue none is
// accepted beside one without.
func (c *cell) rebuildConsumers(ctx context.Context, s *audit.StreamView, m *made) error {
	var refused []*audit.ConsumerView
	order := slices.Clone(s.Consumers)
	slices.SortStableFunc(order, func(a, b *audit.ConsumerView) int { return unfiltered(a) - unfiltered(b) })
	for _, k := range order {
		if k.Bad != nil {
			c.leaveOut(s.Name+"/"+k.Name, k.Bad.Error())
			continue
		}
		if len(k.Unknown) > 0 {
			c.leaveOut(s.Name+"/"+k.Name, fmt.Sprintf("the live config has fields that the model does not know: %v", k.Unknown))
			continue
		}
		no, err := c.rebuildConsumer(ctx, s.Name, k, m, plain)
		if err != nil {
			return err
		}
		if no != nil {
			refused = append(refused, k)
		}
	}
	for _, k := range refused {
		no, err := c.rebuildConsumer(ctx, s.Name, k, m, detour)
		if err != nil {
			return err
		}
		if no != nil {
			c.leaveOut(s.Name+"/"+k.Name, "the rehearsal's broker refuses the consumer as it is live: "+no.Error())
		}
	}
	return nil
}

func unfiltered(k *audit.ConsumerView) int {
	if len(k.Config.Filters()) == 0 {
		return 1
	}
	return 0
}

// plain makes a consumer in one step.
func plain(config broker.ConsumerConfig) []broker.ConsumerConfig {
	return []broker.ConsumerConfig{config}
}

// detour makes what only an update can make, such as the second consumer of a
// work queue that has no filter: first a consumer that is in nobody's way, with
// the fields that no update changes.
func detour(config broker.ConsumerConfig) []broker.ConsumerConfig {
	first := broker.ConsumerConfig{
		Durable: config.Durable, Name: config.Name,
		DeliverPolicy: config.DeliverPolicy, OptStartSeq: config.OptStartSeq, OptStartTime: config.OptStartTime,
		AckPolicy: config.AckPolicy, ReplayPolicy: config.ReplayPolicy, MaxWaiting: config.MaxWaiting,
		DeliverSubject: config.DeliverSubject, IdleHeartbeat: config.IdleHeartbeat, FlowControl: config.FlowControl,
		MemStorage: config.MemStorage, Direct: config.Direct, Sourcing: config.Sourcing, Replicas: config.Replicas,
		PauseUntil:    config.PauseUntil,
		FilterSubject: "natsmig.rehearse.detour." + config.ID(),
	}
	return []broker.ConsumerConfig{first, config}
}

func (c *cell) rebuildConsumer(ctx context.Context, stream string, k *audit.ConsumerView, m *made, way func(broker.ConsumerConfig) []broker.ConsumerConfig) (*broker.APIError, error) {
	config := *k.Config
	config.Metadata = broker.UserMetadata(config.Metadata)
	made := &madeConsumer{
		bound: config.Push() && k.State.PushBound,
		brief: config.InactiveThreshold > 0 && config.InactiveThreshold < brief,
	}
	for _, step := range way(config) {
		r, err := consumerRequest(stream, &broker.ConsumerRequest{Config: step})
		if err != nil {
			return nil, err
		}
		made.steps = append(made.steps, r)
	}
	if made.bound {
		if err := c.listen(&config); err != nil {
			return nil, err
		}
	}
	no, err := c.makeConsumer(ctx, stream, k.Name, made)
	if no == nil && err == nil {
		m.consumers[k.Name] = made
		m.order = append(m.order, k.Name)
	}
	return no, err
}

// listen subscribes to the deliver subject of a push consumer, as somebody is
// live.
func (c *cell) listen(config *broker.ConsumerConfig) error {
	_, err := c.nc.QueueSubscribe(config.DeliverSubject, config.DeliverGroup, func(*nats.Msg) {})
	if err == nil {
		err = c.nc.Flush()
	}
	return err
}

// makeConsumer makes a consumer and waits until the broker knows who listens.
func (c *cell) makeConsumer(ctx context.Context, stream, name string, m *madeConsumer) (*broker.APIError, error) {
	no, err := c.take(ctx, m.steps)
	if no != nil || err != nil || !m.bound {
		return no, err
	}
	return nil, c.await(ctx, "the broker does not see who listens to "+name, func() (bool, error) {
		got, err := c.ask(ctx, request{subject: "CONSUMER.INFO." + stream + "." + name})
		return got.PushBound, err
	})
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
func (c *cell) note(name, text string) { c.aside[name] = append(c.aside[name], text) }
