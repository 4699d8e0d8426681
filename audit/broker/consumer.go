package broker

import (
	"cmp"
	"encoding/json"
	"maps"
)

// A ConsumerRequest is what a writer sends.
type ConsumerRequest struct {
	Config ConsumerConfig
	Action Action
	// Err is what a strict broker says to the request's JSON, see [Decoded].
	Err *APIError
	Bad string // the field that Err is about
	// Unknown are the fields of the JSON that no supported broker knows.
	Unknown []string
	// Fields are those that the JSON names, see [Decoded]: from 2.12 a broker
	// refuses a name that it does not know, whatever the value. Zero: those that
	// have a value in Config.
	Fields FieldSet
	// Raw is the configuration's JSON as it was read, which may hold what Config
	// can not. Empty: Config is all there is.
	Raw json.RawMessage
}

// Consumer says what the broker does with req, sent to its
// [ConsumerRequest.Subject]. Live is nil where the broker has no such consumer,
// stream nil where it has no such stream.
func (b Broker) Consumer(stream *Stream, live *LiveConsumer, req *ConsumerRequest) Result[ConsumerConfig] {
	var held *ConsumerConfig
	if live != nil {
		held = live.Config
	}
	if why := cmp.Or(b.unknownLine(), req.unknown()); why != "" {
		return Result[ConsumerConfig]{Outcome: Unknown, Reason: why}
	}
	next := req.Config
	next.fill()
	dropped, no := b.accept(&next, req)
	if no == nil {
		no = b.requestRefusal(stream, &next)
	}
	if no == nil {
		b.honorName(&next)
		b.honorLive(held, &next)
		b.setConsumerDefaults(&next, stream.Config)
		no = (&consumerRequest{b, &next, stream.Config, stream}).check()
	}
	var res Result[ConsumerConfig]
	switch {
	case no != nil:
		res = reject(held, no.err, no.field)
	case live == nil:
		res = b.createConsumer(stream, &next, b.action(req.Action))
	default:
		res = b.updateConsumer(stream, live, &next, b.action(req.Action))
	}
	res.Dropped, res.Asked = dropped, &next
	return res
}

// unknown says why no answer is possible, or "".
func (req *ConsumerRequest) unknown() string {
	if c := &req.Config; c.Direct && c.Sourcing && c.ID() != "" {
		return "direct and sourcing together are what servers ask of each other: the broker picks another name or makes a durable of it"
	}
	return ""
}

// action is what the broker takes a for: 2.9 knows no actions.
func (b Broker) action(a Action) Action {
	if !b.Version.AtLeast(10) {
		return CreateOrUpdate
	}
	return a
}

// honorLive keeps what an update can not change and does not refuse either
// (jetstream_api.go:5289 of 2.15.3): the pause, which counts at creation only,
// and the start of a durable that sources.
func (b Broker) honorLive(live, next *ConsumerConfig) {
	if live == nil {
		return
	}
	if !b.Clustered { // a meta leader does so later
		next.PauseUntil = live.PauseUntil
	}
	if next.Sourcing && next.Durable != "" {
		next.DeliverPolicy, next.OptStartSeq, next.OptStartTime = live.DeliverPolicy, live.OptStartSeq, live.OptStartTime
	}
}

// accept does what the broker does on reading the JSON.
func (b Broker) accept(next *ConsumerConfig, req *ConsumerRequest) ([]string, *refusal) {
	dropped, no := readAs(b.Version, next, consumerFields, reading{req.Err, req.Bad, req.Unknown, req.Fields})
	if no != nil {
		return dropped, no
	}
	if next.AckPolicy == AckFlowControl && !b.Version.AtLeast(14) {
		return nil, b.Version.invalidValue("ack_policy", `can not unmarshal "flow_control"`)
	}
	if next.PriorityPolicy == PriorityPrioritized && !b.Version.AtLeast(12) {
		return nil, b.Version.invalidValue("priority_policy", `unknown priority policy: "prioritized"`)
	}
	return dropped, nil
}

func (b Broker) updateConsumer(stream *Stream, live *LiveConsumer, next *ConsumerConfig, action Action) Result[ConsumerConfig] {
	replicas := stream.Config.Replicas
	b.setClusterDefaults(next)
	if action == CreateOnly && b.textDiffers(live.Config, next) {
		return reject(live.Config, &APIError{400, 10148, "consumer already exists"}, changed(live.Config, next, replicas)...)
	}
	if b.Version.AtLeast(11) {
		next.PauseUntil = live.Config.PauseUntil
	}
	if stream.Config.Retention == WorkQueueRetention && b.Version.AtLeast(10) && !b.Clustered {
		if no := b.uniqueRefusal(stream.Consumers, next); no != nil {
			return reject(live.Config, no.err, no.field)
		}
	}
	if all := b.updateRefusals(live, next); len(all) > 0 {
		return reject(live.Config, all[0].err, fieldsOf(all)...)
	}
	b.stampThreshold(live.Config, next)
	return Result[ConsumerConfig]{Outcome: ConsumerOutcome(live.Config, next, replicas), Stored: next}
}

// changed lists the fields that differ in canonical form. Most often nothing
// differs even as it stands, and then no form is made.
func changed(live, next *ConsumerConfig, replicas int) []string {
	if len(differing(live, next)) == 0 {
		return nil
	}
	before, after := live.form(replicas), next.form(replicas)
	return differing(&before, &after)
}

// stampThreshold gives a consumer that was no durable before the update the
// ephemeral's threshold when it declares none: the broker looks at what the
// consumer was, so a promotion to a durable is deleted after five idle seconds
// (consumer.go updateInactiveThreshold of 2.15.3).
func (b Broker) stampThreshold(live, next *ConsumerConfig) {
	if live.Durable == "" && next.InactiveThreshold <= 0 && next.InactiveThreshold != live.InactiveThreshold {
		next.InactiveThreshold = EphemeralThreshold
	}
}

func fieldsOf(all []*refusal) []string {
	names := make([]string, len(all))
	for i, no := range all {
		names[i] = no.field
	}
	return names
}

func differing(a, b *ConsumerConfig) []string { return namesOf(Differing(consumerFields, a, b)) }

// textDiffers compares as action=create does: literally, so that the order of
// filters, the zone of a time and an empty list count, and all metadata but the
// three keys that brokers write from 2.11 (consumer.go:1116 of 2.15.3).
func (b Broker) textDiffers(live, next *ConsumerConfig) bool {
	sameZone := live.OptStartTime == nil || next.OptStartTime == nil ||
		live.OptStartTime.Format("-07:00") == next.OptStartTime.Format("-07:00")
	emptied := emptyList(next.Backoff) || emptyList(next.FilterSubjects) || emptyList(next.PriorityGroups)
	was, is := live.Metadata, next.Metadata
	if b.Version.AtLeast(11) {
		was, is = written(was), written(is)
	} else {
		emptied = emptied || is != nil && len(is) == 0
	}
	l := *live
	b.setClusterDefaults(&l)
	if b.Clustered && l.Durable == "" && l.InactiveThreshold == EphemeralThreshold && next.InactiveThreshold <= 0 {
		l.InactiveThreshold = next.InactiveThreshold // a meta leader knows what was asked for, not what came of it
	}
	return !sameZone || emptied || !maps.Equal(was, is) || len(differing(&l, next)) > 0
}

// emptyList says whether the request has the list and nothing in it.
func emptyList[T any](l []T) bool { return l != nil && len(l) == 0 }

// written is metadata without the keys that the broker writes.
func written(m map[string]string) map[string]string {
	m = maps.Clone(m)
	for _, key := range []string{"_nats.ver", "_nats.level", "_nats.req.level"} {
		delete(m, key)
	}
	return m
}
