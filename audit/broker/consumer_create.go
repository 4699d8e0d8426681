package broker

import (
	"fmt"
	"slices"
	"strings"
)

func (b Broker) createConsumer(stream *Stream, next *ConsumerConfig, action Action) Result[ConsumerConfig] {
	if action == UpdateOnly {
		return reject[ConsumerConfig](nil, &APIError{400, 10149, "consumer does not exist"})
	}
	if no := b.createRefusal(stream, next); no != nil {
		return reject[ConsumerConfig](nil, no.err, no.field)
	}
	if next.Durable == "" && next.InactiveThreshold <= 0 {
		next.InactiveThreshold = EphemeralThreshold
	}
	return Result[ConsumerConfig]{Outcome: Create, Stored: next}
}

// createRefusal is what a new consumer is refused for, in the broker's order
// (consumer.go:1155 of 2.15.3).
func (b Broker) createRefusal(stream *Stream, next *ConsumerConfig) *refusal {
	if b.overLimit(stream, next) {
		return refuse("", 400, 10026, "maximum consumers limit reached")
	}
	if stream.Config.Retention == WorkQueueRetention && !next.Direct && !next.Sourcing {
		if no := b.workQueueRefusal(stream.Consumers, next); no != nil {
			return no
		}
	}
	if len(next.Durable) > maxName {
		return refuse("durable_name", 400, 10102, fmt.Sprintf("consumer name is too long, maximum allowed is %d", maxName))
	}
	if len(next.Name) > maxName && stream.Config.Storage == FileStorage && !next.MemStorage {
		return refuse("name", 500, 10012, "error creating store for consumer") // no file system takes it
	}
	if !b.Version.has(&assetNames) && strings.ContainsAny(next.ID(), " \t\r\n\f.*>") {
		return refuse("durable_name", 400, 10103, "durable name can not contain '.', '*', '>'")
	}
	return nil
}

// overLimit says whether the stream has as many consumers as it may. Consumers
// of mirrors and sources do not count, but before 2.15 they need room too.
func (b Broker) overLimit(stream *Stream, next *ConsumerConfig) bool {
	if (next.Direct || next.Sourcing) && (b.Version.AtLeast(15) || b.Clustered) {
		return false
	}
	limit := b.maxConsumers(stream.Config)
	return limit > 0 && counted(stream.Consumers) >= limit
}

func counted(all []Sibling) (n int) {
	for i := range all {
		if c := all[i].Config; !c.Direct && !c.Sourcing {
			n++
		}
	}
	return n
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

func (b Broker) workQueueRefusal(consumers []Sibling, next *ConsumerConfig) *refusal {
	if next.AckPolicy != AckExplicit && next.AckPolicy != AckFlowControl {
		return refuse("ack_policy", 400, 10098, "workqueue stream requires explicit ack")
	}
	notAll := refuse("deliver_policy", 400, 10101, "consumer must be deliver all on workqueue stream")
	if next.DeliverPolicy != DeliverAll && b.Version.AtLeast(12) {
		return notAll
	}
	if len(b.rivals(consumers, next)) > 0 && len(next.Filters()) == 0 {
		return refuse("filter_subject", 400, 10099, "multiple non-filtered consumers not allowed on workqueue stream")
	}
	if no := b.uniqueRefusal(consumers, next); no != nil {
		return no
	}
	if next.DeliverPolicy != DeliverAll {
		return notAll
	}
	return nil
}

// rivals are the other consumers that take messages off a work queue. Before
// 2.14 those of mirrors and sources count too.
func (b Broker) rivals(all []Sibling, next *ConsumerConfig) []Sibling {
	var rivals []Sibling
	for _, s := range all {
		if s.Name != next.ID() && (!s.Config.Direct && !s.Config.Sourcing || !b.Version.AtLeast(14)) {
			rivals = append(rivals, s)
		}
	}
	return rivals
}

// uniqueRefusal refuses a filter that shares a subject with another consumer's.
// A consumer without a filter slips past it.
func (b Broker) uniqueRefusal(consumers []Sibling, next *ConsumerConfig) *refusal {
	for _, f := range next.Filters() {
		for _, rival := range b.rivals(consumers, next) {
			theirs := rival.Config.Filters()
			if len(theirs) == 0 || slices.ContainsFunc(theirs, func(s string) bool { return SubjectsCollide(f, s) }) {
				return refuse("filter_subject", 400, 10100, "filtered consumer not unique on workqueue stream")
			}
		}
	}
	return nil
}
