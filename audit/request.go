package audit

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/natsmig/natsmig/audit/broker"
)

// LegacyAckPending is what the legacy client's PullSubscribe writes into
// max_ack_pending when it creates a durable and nothing else was asked for: the
// capacity of its own channel (nats.go js.go:1907, v1.55.0).
const LegacyAckPending = 65536

// SentConsumer is what the writer of a consumer's declaration sends to a broker
// that holds live, nil when it holds nothing. The second result is false when the
// writer sends nothing.
func (d *Declaration) SentConsumer(live *broker.ConsumerConfig) (*broker.ConsumerRequest, bool) {
	if d.Writer == Replace || d.Writer == "" {
		return d.Request, true // nobody changes it
	}
	req := *d.Request
	switch d.Writer {
	case Bind:
		if live != nil {
			return nil, false
		}
		if d.Origin != FromNACK { // there it is preventUpdate, and no client is involved
			d.legacyDefaults(&req.Config)
			req.Raw = nil
		}
	case Create:
		req.Action = broker.CreateOnly
	case Merge:
		if live != nil {
			req.Config = overlay(live, &req.Config, d.Declared, d.Always, broker.ConsumerFields())
			d.mergeFilters(live, &req.Config)
			req.Raw = nil
		}
	case Replace:
	}
	if req.Raw == nil {
		req.Raw = unheld(&req.Config, broker.ConsumerFields(), d.Request.Raw, slices.Concat(req.Unknown, []string{req.Bad}))
	}
	return &req, true
}

// unheld is the JSON of a config that the writer has changed, with the members
// that raw has and the config can not hold: those that no broker knows, and one
// whose value is bad. Nil where there are none.
func unheld[C any](config *C, fields []broker.Field[C], raw json.RawMessage, names []string) json.RawMessage {
	var read members
	if json.Unmarshal(raw, &read) != nil {
		return nil
	}
	maps.DeleteFunc(read, func(name string, _ json.RawMessage) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	})
	if len(read) == 0 {
		return nil
	}
	all := broker.Members(fields, config)
	for name, value := range read {
		all[name] = value
	}
	text, err := all.JSON()
	if err != nil {
		return nil
	}
	return text
}

// legacyDefaults fills what PullSubscribe fills (nats.go js.go:1884, v1.55.0).
func (d *Declaration) legacyDefaults(c *broker.ConsumerConfig) {
	if !d.declares("ack_policy") {
		c.AckPolicy = broker.AckExplicit
	}
	if c.MaxAckPending == 0 && c.AckPolicy != broker.AckNone && !c.Push() {
		c.MaxAckPending = LegacyAckPending
	}
}

// declares says whether somebody chose a value for the field.
func (d *Declaration) declares(field string) bool {
	find := broker.ConsumerFieldIndex
	if d.Consumer == "" {
		find = broker.StreamFieldIndex
	}
	i, ok := find(field)
	return ok && d.Declared.Has(i)
}

// mergeFilters treats the two filter fields as the one setting that they are:
// declaring either replaces both.
func (d *Declaration) mergeFilters(live, merged *broker.ConsumerConfig) {
	one, many := d.declares("filter_subject"), d.declares("filter_subjects")
	switch {
	case one && !many:
		merged.FilterSubjects = nil
	case many && !one:
		merged.FilterSubject = ""
	case !one && !many:
		merged.FilterSubject, merged.FilterSubjects = live.FilterSubject, live.FilterSubjects
	}
}

// overlay lays the declared fields, and those that are always sent, over what
// is live.
func overlay[C any](live, declared *C, chosen, always broker.FieldSet, fields []broker.Field[C]) C {
	merged := *live
	for i := range fields {
		if chosen.Has(i) || always.Has(i) {
			fields[i].Copy(&merged, declared)
		}
	}
	return merged
}

// SentStream is what the writer of a stream's declaration sends, as
// [Declaration.SentConsumer] tells it for a consumer's.
func (d *Declaration) SentStream(live *broker.StreamConfig) (*broker.StreamRequest, bool) {
	req := *d.StreamRequest
	switch d.Writer {
	case Bind:
		if live != nil {
			return nil, false
		}
	case Create:
		req.Action = broker.CreateOnly
	case Merge:
		if live != nil {
			req.Config = overlay(live, &req.Config, d.Declared, d.Always, broker.StreamFields())
			if d.Origin == FromNACK {
				keepSwitches(live, &req.Config)
			}
			req.Raw = unheld(&req.Config, broker.StreamFields(), d.StreamRequest.Raw, slices.Concat(req.Unknown, []string{req.Bad}))
		}
	case Replace:
	}
	return &req, true
}

// keepSwitches is NACK's way with streams: a boolean can be switched on and not
// off, a limit set and not cleared (nack stream_controller.go).
func keepSwitches(live, next *broker.StreamConfig) {
	for _, b := range []struct{ live, next *bool }{
		{&live.AllowDirect, &next.AllowDirect},
		{&live.MirrorDirect, &next.MirrorDirect},
		{&live.DenyDelete, &next.DenyDelete},
		{&live.DenyPurge, &next.DenyPurge},
		{&live.AllowRollup, &next.AllowRollup},
		{&live.Sealed, &next.Sealed},
		{&live.DiscardNewPer, &next.DiscardNewPer},
		{&live.NoAck, &next.NoAck},
		{&live.AllowMsgTTL, &next.AllowMsgTTL},
	} {
		*b.next = *b.next || *b.live
	}
	if next.MaxAge == 0 {
		next.MaxAge = live.MaxAge
	}
	if next.MaxMsgsPer == 0 {
		next.MaxMsgsPer = live.MaxMsgsPer
	}
}
