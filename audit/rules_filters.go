package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/natsmig/natsmig/audit/broker"
)

var deadFilter = &Rule{
	Code: "NM207", Severity: Warning,
	Title: "a filter matches no subject of the stream",
	Doc: `A filter that meets none of the stream's subjects is accepted since 2.10: the consumer is
healthy and receives nothing. 2.9 refuses it (10093). It happens when a stream is renamed
or gets other subjects. Streams with sources, a mirror or a subject transform are left
alone, because their subjects do not tell what they hold.`,
	Consumer: func(p *ConsumerPass) {
		c, s := p.Stored(), p.StreamConfig
		if c == nil || s == nil || len(s.Subjects) == 0 || s.Draws() {
			return
		}
		for _, f := range c.Filters() {
			if slices.ContainsFunc(s.Subjects, func(subject string) bool { return broker.SubjectsCollide(f, subject) }) {
				continue
			}
			p.Report(Finding{
				Field: filterField(c), Have: f, Want: s.Subjects,
				Message: fmt.Sprintf("the filter %s does not meet %s: nothing is ever delivered", f, strings.Join(s.Subjects, ", ")),
				Fix:     "filter on a subject that the stream has",
			})
		}
	},
}

func filterField(c *broker.ConsumerConfig) string {
	if c.FilterSubject != "" {
		return "filter_subject"
	}
	return "filter_subjects"
}

// filterChange gives the filters before and after an update that changes them.
func (p *ConsumerPass) filterChange() (was, next []string, ok bool) {
	if p.Live == nil || p.Result.Outcome != broker.Update {
		return nil, nil, false
	}
	was, next = slices.Sorted(slices.Values(p.Live.Config.Filters())), slices.Sorted(slices.Values(p.Stored().Filters()))
	return was, next, !slices.Equal(was, next)
}

// within says whether the filters let a subject through.
func within(subject string, filters []string) bool {
	return len(filters) == 0 || slices.ContainsFunc(filters, func(f string) bool { return broker.SubjectWithin(subject, f) })
}

// uncovered lists the filters of from, or all subjects of the stream where there are
// none, that the filters of to do not cover.
func uncovered(from, to, subjects []string) []string {
	if len(from) == 0 {
		from = subjects
	}
	return slices.DeleteFunc(slices.Clone(from), func(f string) bool { return within(f, to) })
}

var narrowedFilter = &Rule{
	Code: "NM211", Severity: Error,
	Title: "narrowing a filter deletes messages of an interest stream",
	Doc: `An interest stream keeps a message while some consumer wants it. Narrowing a filter is
accepted, and the broker at once deletes every stored message that lost its last interested
consumer, also one that the others have acknowledged by then. With more than 100,000 messages
it does so later, and may leave some; 2.9 deletes none. Widening it again does not bring them back. Consume or
copy the messages first. The count needs a snapshot with --subjects.`,
	Consumer: func(p *ConsumerPass) {
		if !p.narrows() {
			return
		}
		was, next, _ := p.filterChange()
		gone := uncovered(was, next, p.StreamConfig.Subjects)
		severity := Error
		if lost, ok := p.lostByNarrowing(was, next); ok && lost.most == 0 {
			severity = Warning // until the deploy there may be some
		}
		p.Report(Finding{
			Severity: severity, Field: filterField(p.Stored()), Have: was, Want: next,
			Message: fmt.Sprintf("the filter %s -> %s on an interest stream: %s and are deleted at once; widening again does not restore them", Show(was), Show(next), p.countLost(was, next, gone)),
			Fix:     "keep the filter until the messages are consumed, or copy them first",
		})
	},
}

// countLost counts the stored messages that lose their last consumer.
func (p *ConsumerPass) countLost(was, next, gone []string) string {
	on := strings.Join(gone, ", ")
	lost, ok := p.lostByNarrowing(was, next)
	if !ok {
		return fmt.Sprintf("stored messages on %s lose this consumer (the snapshot has no subject counts)", on)
	}
	return fmt.Sprintf("%s stored messages on %s lose their last consumer", lost, on)
}

// markLosses marks what an update throws away, before the rules tell it.
func (p *ConsumerPass) markLosses() {
	_, _, filters := p.filterChange()
	if _, shares := p.sharer(); p.narrows() || shares && filters {
		p.markDestructive("filter_subject", "filter_subjects")
	}
	if p.stamped() {
		p.markDestructive("inactive_threshold")
	}
	if p.demotes() {
		p.markDestructive("durable_name", "inactive_threshold")
	}
	if p.givesUp() {
		p.markDestructive("max_deliver")
	}
}

// narrows says whether an update of an interest stream's consumer leaves
// subjects without it, and deletes what is stored on them (consumer.go
// updateConfig: not in 2.9.25, from 2.10).
func (p *ConsumerPass) narrows() bool {
	was, next, ok := p.filterChange()
	return ok && p.Cell.Broker.Version.AtLeast(10) && p.StreamConfig.Retention == broker.InterestRetention && len(uncovered(was, next, p.StreamConfig.Subjects)) > 0
}

// markDestructive marks the fields by whose change something is lost.
func (p *ConsumerPass) markDestructive(names ...string) {
	for i := range p.Entry.Fields {
		f := &p.Entry.Fields[i]
		if slices.Contains(names, f.Name) && (f.Class == Change || f.Class == SilentReset || f.Class == Clamp) {
			f.Class = Destructive
		}
	}
}

var widenedFilter = &Rule{
	Code: "NM212", Severity: Warning,
	Title: "widening a filter does not rewind",
	Doc: `A wider filter is in force for messages after the consumer's position. Older messages on
the added subjects are not delivered: the consumer has already moved past them. Reset the
consumer (2.14 and later), or take a new durable that starts earlier.`,
	Consumer: func(p *ConsumerPass) {
		was, next, ok := p.filterChange()
		if !ok || len(was) == 0 {
			return
		}
		added := uncovered(next, was, p.StreamConfig.Subjects)
		if len(added) == 0 {
			return
		}
		if p.Live.Stated && p.passed().most == 0 {
			return
		}
		p.Report(Finding{
			Field: filterField(p.Stored()), Have: was, Want: next,
			Message: fmt.Sprintf("the filter %s -> %s does not rewind: %s", Show(was), Show(next), p.countSkipped(added)),
			Fix:     "reset the consumer (2.14+), or declare a new durable with deliver_policy by_start_sequence",
		})
	},
}

// countSkipped tells how many messages a wider filter comes too late for.
func (p *ConsumerPass) countSkipped(added []string) string {
	on, upTo := strings.Join(added, ", "), p.passed().most
	switch {
	case !p.Live.Stated:
		return fmt.Sprintf("messages on %s below the consumer's position, which the snapshot does not tell, are not delivered", on)
	case p.Stream.State.Subjects == nil:
		return fmt.Sprintf("messages on %s up to sequence %d are not delivered", on, upTo)
	}
	n := bounds{0, p.Stream.count(func(subject string) bool { return within(subject, added) })}
	if p.passed().least >= p.Stream.State.LastSeq {
		n.least = n.most
	}
	return fmt.Sprintf("%s stored messages on %s (to sequence %d) are not delivered", n, on, upTo)
}

var sharedWork = &Rule{
	Code: "NM219", Severity: Error,
	Title: "two consumers of a work queue get the same work",
	Doc: `On a work queue every message is for one consumer, and the broker refuses a second one
that shares a subject (10099, 10100). Removing a filter by an update slips past that check,
and from then on two consumers are handed the same messages: the new ones, and the stored ones
that lie above the position of the consumer whose filter went. Keep the filters disjoint.`,
	Consumer: func(p *ConsumerPass) {
		o, ok := p.sharer()
		if !ok {
			return
		}
		c := p.Stored()
		p.Report(Finding{
			Severity: p.ifNew(Error),
			Field:    filterField(c),
			Message:  fmt.Sprintf("%s and %s share subjects of a work queue: a message is handed to both%s", c.ID(), o.Name, p.countShared(c.Filters(), o.Config.Filters())),
			Fix:      "give each of them filters of its own",
		})
	},
}

// sharer is a consumer of the same work queue that shares subjects with what
// would be stored.
func (p *ConsumerPass) sharer() (broker.Sibling, bool) {
	c, s := p.Stored(), p.StreamConfig
	if c == nil || s == nil || s.Retention != broker.WorkQueueRetention || p.Result.Outcome == broker.Reject || p.Stream == nil {
		return broker.Sibling{}, false
	}
	for _, o := range p.Stream.Siblings {
		if o.Name != c.ID() && overlap(c.Filters(), o.Config.Filters()) {
			return o, true
		}
	}
	return broker.Sibling{}, false
}

// countShared says how many messages two consumers of a work queue get both.
func (p *ConsumerPass) countShared(mine, theirs []string) string {
	if p.Result.Outcome != broker.Update {
		return ""
	}
	n, ok := p.handedToBoth(mine, theirs)
	if !ok {
		return ", every new one and of the stored ones the snapshot does not tell how many"
	}
	return fmt.Sprintf(", %s of the stored ones and every new one", n)
}

func overlap(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	for _, x := range a {
		for _, y := range b {
			if broker.SubjectsCollide(x, y) {
				return true
			}
		}
	}
	return false
}
