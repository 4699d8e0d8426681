package rehearse

import (
	"fmt"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// differences lists the points in which the broker's answer is not the model's.
// Different outcomes and errors say all there is to say.
func differences[C any](fields []broker.Field[C], model, got *audit.Answer) []audit.Difference {
	var found []audit.Difference
	add := func(field string, m, b any) {
		found = append(found, audit.Difference{Field: field, Model: m, Broker: b, Kind: broker.KindValue})
	}
	if model.Outcome != got.Outcome {
		add("outcome", model.Outcome, got.Outcome)
	}
	if !model.Error.Same(got.Error) {
		add("error", told(errorText(model.Error)), told(errorText(got.Error)))
	}
	if (model.Client == "") != (got.Client == "") {
		add("client", told(model.Client), told(got.Client))
	}
	m, ok := model.After.(*C)
	b, also := got.After.(*C)
	if len(found) > 0 || !ok || !also {
		return found
	}
	for _, f := range broker.Differing(fields, m, b) {
		found = append(found, audit.Difference{Field: f.Name, Model: f.Get(m), Broker: f.Get(b), Kind: f.Kind})
	}
	return found
}

// errorText is an error with both of its codes, "" for none.
func errorText(e *broker.APIError) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%d %s", e.Code, e.Error())
}

// told is nil for what was not said: in JSON, null.
func told[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// evidence is what it takes to see a difference again.
func (p *play) evidence(r *audit.Rehearsed, asked request, stream *broker.StreamConfig, live any, others []any) *audit.Evidence {
	return &audit.Evidence{
		BrokerVersion: p.now.Broker.Version.String(), Servers: p.servers,
		Stream: shownStream(stream), Live: live, Others: others,
		Subject: prefix + asked.subject, Request: asked.body, Model: r.Model, Broker: r.Broker,
	}
}

// shownStream is a config for evidence, nil where there is none.
func shownStream(c *broker.StreamConfig) any { return shown(broker.StreamFields(), c) }

func shownConsumer(c *broker.ConsumerConfig) any { return shown(broker.ConsumerFields(), c) }

func shown[C any](fields []broker.Field[C], c *C) any {
	if c == nil {
		return nil
	}
	return broker.Members(fields, c)
}
