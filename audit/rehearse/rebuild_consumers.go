package rehearse

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

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
		switch {
		case no != nil:
			refused = append(refused, k)
		case errors.Is(err, errNoAnswer):
			c.leaveOut(s.Name+"/"+k.Name, unmade("consumer", no, err))
		case err != nil:
			return err
		}
	}
	for _, k := range refused {
		no, err := c.rebuildConsumer(ctx, s.Name, k, m, detour)
		if err != nil {
			return err
		}
		if no != nil {
			c.leaveOut(s.Name+"/"+k.Name, unmade("consumer", no, nil))
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

func consumerRequest(stream string, req *broker.ConsumerRequest) (r request, err error) {
	if r.subject, err = req.Subject(stream); err != nil {
		return r, err
	}
	r.body, err = req.Body(stream)
	return r, err
}
