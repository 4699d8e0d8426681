package audit

import (
	"slices"

	"github.com/natsmig/natsmig/audit/broker"
)

// AdoptOptions say what to adopt. The zero value takes durables, and leaves out
// what belongs to something else.
type AdoptOptions struct {
	// Ephemerals takes consumers without a durable name, too.
	Ephemerals bool
	// Internal takes the streams behind key-value buckets, object stores and
	// MQTT sessions, too.
	Internal bool
}

// Adopt declares what is live, writer replace, with just the fields that it
// takes to get the same again from the same broker, and those that a reader
// wants to see. Applied or audited over the same fleet nothing would change.
// With several cells each declaration is for its own.
func Adopt(f *Fleet, o AdoptOptions) []*Declaration {
	var all []*Declaration
	for _, c := range f.Cells {
		var target Target
		if len(f.Cells) > 1 {
			target.Cell = c.Name
		}
		for _, s := range c.Streams {
			if internalStream(s.Name) && !o.Internal {
				continue
			}
			for _, d := range adoptStream(c, s, o) {
				d.Target, d.Origin, d.Writer = target, FromSnapshot, Replace
				all = append(all, d)
			}
		}
	}
	return all
}

func adoptStream(c *CellView, s *StreamView, o AdoptOptions) []*Declaration {
	var all []*Declaration
	if !s.Assumed {
		all = append(all, minimalStream(c, s))
	}
	for _, k := range s.Consumers {
		if k.Bad == nil && (k.Config.Durable != "" || o.Ephemerals) {
			all = append(all, minimalConsumer(c, s, k))
		}
	}
	return all
}

// shown are the fields that stand in an adopted declaration even where the
// server's default is the same: they decide when a message is retried.
var shown = []string{"ack_policy", "max_deliver", "max_ack_pending", "deliver_policy"}

func minimalConsumer(c *CellView, s *StreamView, k *ConsumerView) *Declaration {
	stream := &broker.Stream{Config: s.Config, Consumers: s.Siblings, Peers: c.configs}
	live := &broker.LiveConsumer{Config: k.Config}
	cfg := *k.Config
	cfg.Metadata = broker.UserMetadata(cfg.Metadata)
	same := func() bool {
		res := c.Broker.Consumer(stream, live, &broker.ConsumerRequest{Config: cfg})
		return res.Outcome == broker.Noop
	}
	declared := minimize(&cfg, broker.ConsumerFields(), same)
	for _, name := range shown {
		restore(&cfg, k.Config, broker.ConsumerFields(), name, &declared)
	}
	if len(cfg.Backoff) == 0 && cfg.AckPolicy != broker.AckNone {
		restore(&cfg, k.Config, broker.ConsumerFields(), "ack_wait", &declared)
	}
	return &Declaration{
		Stream: s.Name, Consumer: k.Name, Declared: declared,
		Request: &broker.ConsumerRequest{Config: cfg},
	}
}

func minimalStream(c *CellView, s *StreamView) *Declaration {
	peers := c.peers(s.Name)
	cfg := *s.Config
	cfg.Metadata = broker.UserMetadata(cfg.Metadata)
	same := func() bool {
		res := c.Broker.Stream(s.Config, peers, s.Siblings, &broker.StreamRequest{Config: cfg})
		return res.Outcome == broker.Noop
	}
	declared := minimize(&cfg, broker.StreamFields(), same)
	for _, name := range []string{"subjects", "retention", "storage", "num_replicas"} {
		restore(&cfg, s.Config, broker.StreamFields(), name, &declared)
	}
	return &Declaration{Stream: s.Name, Declared: declared, StreamRequest: &broker.StreamRequest{Config: cfg}}
}

// identity are the fields that name a thing, and always stay.
var identity = []string{"name", "durable_name"}

// minimize clears every field that can be left out without changing what the
// broker stores, and returns those that stay.
func minimize[C any](cfg *C, fields []broker.Field[C], same func() bool) broker.FieldSet {
	var zero C
	var kept broker.FieldSet
	for i := range fields {
		f := &fields[i]
		if f.Get(cfg) == nil {
			continue
		}
		saved := *cfg
		f.Copy(cfg, &zero)
		if slices.Contains(identity, f.Name) || !same() {
			*cfg = saved
			kept.Add(i)
		}
	}
	return kept
}

// restore puts a field back.
func restore[C any](cfg, live *C, fields []broker.Field[C], name string, kept *broker.FieldSet) {
	for i := range fields {
		if fields[i].Name == name && fields[i].Get(live) != nil {
			fields[i].Copy(cfg, live)
			kept.Add(i)
		}
	}
}
