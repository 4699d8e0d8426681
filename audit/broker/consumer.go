package broker

import (
	"fmt"
	"slices"
	"strings"
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
}

// Consumer says what the broker does with req. Live is nil where the broker has
// no such consumer, stream nil where it has no such stream.
func (b Broker) Consumer(stream *Stream, live *LiveConsumer, req *ConsumerRequest) Result[ConsumerConfig] {
	var held *ConsumerConfig
	if live != nil {
		held = live.Config
	}
	if why := b.unknownLine(); why != "" {
		return Result[ConsumerConfig]{Outcome: Unknown, Reason: why}
	}
	next := req.Config
	next.fill()
	dropped, no := b.accept(&next, req)
	if no == nil && !b.Clustered && next.Replicas > 1 {
		no = refuse("num_replicas", 500, 10074, "replicas > 1 not supported in non-clustered mode")
	}
	if no == nil && stream == nil {
		no = refuse("", 404, 10059, "stream not found")
	}
	if no == nil {
		b.honorName(&next)
		if live != nil {
			next.PauseUntil = held.PauseUntil // counts at creation only (jetstream_api.go jsConsumerCreateRequest)
		}
		b.setConsumerDefaults(&next, stream.Config)
		no = (&consumerRequest{b, &next, stream.Config}).check()
	}
	if no == nil && b.nameMismatch(&req.Config) {
		no = refuse("name", 400, 10132, "Consumer Durable and Name have to be equal if both are provided")
	}
	if no != nil {
		res := reject(held, no.err, no.field)
		res.Asked = &next
		return res
	}
	var res Result[ConsumerConfig]
	if live == nil {
		res = b.createConsumer(stream, &next, req.Action)
	} else {
		res = b.updateConsumer(stream, live, &next, req.Action)
	}
	res.Dropped, res.Asked = dropped, &next
	return res
}

// accept does what the broker does on reading the JSON: from 2.12 it refuses
// what it does not know, before that it drops it.
func (b Broker) accept(next *ConsumerConfig, req *ConsumerRequest) ([]string, *refusal) {
	if req.Err != nil && (b.Version.AtLeast(12) || len(req.Unknown) == 0) {
		return nil, &refusal{req.Bad, req.Err}
	}
	dropped := drop(next, consumerFields, b.Version)
	dropped = append(dropped, req.Unknown...)
	if len(dropped) > 0 && b.Version.AtLeast(12) {
		return nil, &refusal{dropped[0], invalidJSON(fmt.Sprintf("json: unknown field %q", dropped[0]))}
	}
	if next.AckPolicy == AckFlowControl && !b.Version.AtLeast(14) {
		return nil, &refusal{"ack_policy", invalidJSON(`can not unmarshal "flow_control"`)}
	}
	if next.PriorityPolicy == PriorityPrioritized && !b.Version.AtLeast(12) {
		return nil, &refusal{"priority_policy", invalidJSON(`unknown priority policy: "prioritized"`)}
	}
	return dropped, nil
}

// honorName gives the consumer the name that stands in the request's subject,
// which from 2.12 is stored for durables too.
func (b Broker) honorName(c *ConsumerConfig) {
	if c.Durable != "" && b.Version.AtLeast(12) {
		c.Name = c.Durable
	}
}

func (b Broker) nameMismatch(c *ConsumerConfig) bool {
	return !b.Version.AtLeast(12) && c.Durable != "" && c.Name != "" && c.Name != c.Durable
}

func (b Broker) createConsumer(stream *Stream, next *ConsumerConfig, action Action) Result[ConsumerConfig] {
	if action == UpdateOnly {
		return reject[ConsumerConfig](nil, &APIError{400, 10149, "consumer does not exist"})
	}
	if no := b.createRefusal(stream, next); no != nil {
		return reject[ConsumerConfig](nil, no.err, no.field)
	}
	if next.Durable == "" && next.InactiveThreshold == 0 {
		next.InactiveThreshold = EphemeralThreshold
	}
	return Result[ConsumerConfig]{Outcome: Create, Stored: next}
}

func (b Broker) createRefusal(stream *Stream, next *ConsumerConfig) *refusal {
	if len(next.Durable) > maxName {
		return refuse("durable_name", 400, 10102, fmt.Sprintf("consumer name is too long, maximum allowed is %d", maxName))
	}
	if id := next.ID(); id != "" && !b.Version.AtLeast(12) && strings.ContainsAny(id, ".*> ") {
		return refuse("durable_name", 400, 10103, "durable name can not contain '.', '*', '>'")
	}
	counted := slices.DeleteFunc(slices.Clone(stream.Consumers), func(s Sibling) bool {
		return s.Config.Direct || s.Config.Sourcing || s.Name == next.ID()
	})
	if next.Direct || next.Sourcing {
		return nil
	}
	if limit := b.maxConsumers(stream.Config); limit > 0 && len(counted) >= limit {
		return refuse("", 400, 10026, "maximum consumers limit reached")
	}
	if stream.Config.Retention == WorkQueueRetention {
		return b.workQueueRefusal(counted, next)
	}
	return nil
}

// maxConsumers is the stream's limit, or the account's where it is lower; from
// 2.15 a server allows 1,000 where neither says anything (jetstream_api.go:432).
func (b Broker) maxConsumers(stream *StreamConfig) int {
	limit := stream.MaxConsumers
	if account := b.Limits.AccountConsumers; limit <= 0 || account > 0 && account < limit {
		limit = account
	}
	if limit <= 0 && b.Version.AtLeast(15) {
		limit = 1000
	}
	return limit
}

func (b Broker) workQueueRefusal(others []Sibling, next *ConsumerConfig) *refusal {
	if next.AckPolicy != AckExplicit && next.AckPolicy != AckFlowControl {
		return refuse("ack_policy", 400, 10098, "workqueue stream requires explicit ack")
	}
	notAll := refuse("deliver_policy", 400, 10101, "consumer must be deliver all on workqueue stream")
	if next.DeliverPolicy != DeliverAll && b.Version.AtLeast(10) {
		return notAll
	}
	if len(others) > 0 && len(next.Filters()) == 0 {
		return refuse("filter_subject", 400, 10099, "multiple non-filtered consumers not allowed on workqueue stream")
	}
	if no := uniqueRefusal(others, next); no != nil {
		return no
	}
	if next.DeliverPolicy != DeliverAll {
		return notAll
	}
	return nil
}

// uniqueRefusal refuses a filter that shares a subject with another consumer's.
// A consumer without a filter slips past it.
func uniqueRefusal(others []Sibling, next *ConsumerConfig) *refusal {
	for _, f := range next.Filters() {
		for _, o := range others {
			theirs := o.Config.Filters()
			if o.Name != next.ID() && (len(theirs) == 0 || slices.ContainsFunc(theirs, func(s string) bool { return SubjectsCollide(f, s) })) {
				return refuse("filter_subject", 400, 10100, "filtered consumer not unique on workqueue stream")
			}
		}
	}
	return nil
}

func (b Broker) updateConsumer(stream *Stream, live *LiveConsumer, next *ConsumerConfig, action Action) Result[ConsumerConfig] {
	replicas := stream.Config.Replicas
	before, after := live.Config.Canonical(replicas), next.Canonical(replicas)
	if action == CreateOnly && b.textDiffers(live.Config, next) {
		return reject(live.Config, &APIError{400, 10148, "consumer already exists"}, differing(&before, &after)...)
	}
	if stream.Config.Retention == WorkQueueRetention && b.Version.AtLeast(10) && !b.Clustered {
		if no := uniqueRefusal(stream.Consumers, next); no != nil {
			return reject(live.Config, no.err, no.field)
		}
	}
	if all := b.updateRefusals(live, next); len(all) > 0 {
		return reject(live.Config, all[0].err, fieldsOf(all)...)
	}
	b.stampThreshold(live.Config, next)
	after = next.Canonical(replicas)
	res := Result[ConsumerConfig]{Outcome: Update, Stored: next}
	if len(differing(&before, &after)) == 0 {
		res.Outcome = Noop
	}
	return res
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

func differing(a, b *ConsumerConfig) []string {
	var names []string
	for i := range consumerFields {
		if !consumerFields[i].Same(a, b) {
			names = append(names, consumerFields[i].Name)
		}
	}
	return names
}

// textDiffers compares as action=create does: literally, so that the order of
// filters and the zone of a time count. Server-owned metadata and, where the
// live config lacks it, the name do not.
func (b Broker) textDiffers(live, next *ConsumerConfig) bool {
	l := *live
	if l.Name == "" {
		l.Name = next.Name
	}
	sameZone := l.OptStartTime == nil || next.OptStartTime == nil ||
		l.OptStartTime.Format("-07:00") == next.OptStartTime.Format("-07:00")
	return !sameZone || len(differing(&l, next)) > 0
}
