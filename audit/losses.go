package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/natsmig/natsmig/audit/broker"
)

// bounds is a number as far as a snapshot tells it.
type bounds struct{ least, most uint64 }

func exactly(n uint64) bounds { return bounds{n, n} }

// String is the number, or how large and how small it can be.
func (b bounds) String() string {
	switch b.least {
	case b.most:
		return fmt.Sprint(b.least)
	case 0:
		return fmt.Sprintf("at most %d", b.most)
	}
	return fmt.Sprintf("%d to %d", b.least, b.most)
}

// less is the number without n.
func (b bounds) less(n uint64) bounds { return bounds{below(b.least, n), below(b.most, n)} }

// below is a - b, and zero where that would be less.
func below(a, b uint64) uint64 { return a - min(a, b) }

// matching counts the stored messages that the filters let through. Not ok: the
// snapshot has no state of the stream.
func (s *StreamView) matching(filters []string) (n bounds, ok bool) {
	switch {
	case s == nil || !s.Stated:
		return bounds{}, false
	case s.State.Messages == 0 || len(uncovered(nil, filters, s.Config.Subjects)) == 0 && !s.Config.Draws():
		return exactly(s.State.Messages), true
	case s.State.Subjects == nil:
		return bounds{0, s.State.Messages}, true
	}
	return exactly(s.count(func(subject string) bool { return within(subject, filters) })), true
}

// count counts the stored messages on some subjects.
func (s *StreamView) count(on func(subject string) bool) (n uint64) {
	for subject, held := range s.State.Subjects {
		if on(subject) {
			n += held
		}
	}
	return n
}

// unread are the messages that the consumer has not settled: pending, and
// outstanding.
func (s *ConsumerState) unread() uint64 { return s.NumPending + s.outstanding() }

func (s *ConsumerState) outstanding() uint64 { return uint64(max(s.NumAckPending, 0)) }

// settledAbove bounds how many messages above the ack floor are acknowledged: a
// consumer that starts at the floor gets them again.
func (s *ConsumerState) settledAbove() uint64 { return below(s.gap(), s.outstanding()) }

// position tells where the live consumer stands.
func (c *ConsumerView) position() string {
	if !c.Stated {
		return "which the snapshot does not tell"
	}
	s := &c.State
	return fmt.Sprintf("delivered %d, ack floor %d, %d pending, %d outstanding", s.Delivered.Stream, s.AckFloor.Stream, s.NumPending, s.outstanding())
}

// recreated says what becomes of the position, and of messages, when the durable
// is deleted and made anew.
func (p *ConsumerPass) recreated() string {
	if !p.Live.Stated {
		return "Deleting the durable loses its position, which the snapshot does not tell"
	}
	text := "Deleting the durable loses its position: " + p.Live.position()
	switch p.StreamConfig.Retention {
	case broker.InterestRetention:
		return text + fmt.Sprintf(", and the broker deletes at once the messages that no other consumer waits for, %s", p.heldAlone())
	case broker.WorkQueueRetention:
		stored, ok := p.Stream.matching(p.Live.Config.Filters())
		if !ok {
			return text + "; made anew, it gets all that is stored for it, and delivery counts start at one"
		}
		return text + fmt.Sprintf("; made anew, it gets %s messages, all that is stored for it, and delivery counts start at one", stored)
	case broker.LimitsRetention:
	}
	return text + "; made anew, " + p.replayed()
}

// heldAlone bounds the messages of an interest stream that only this consumer
// waits for.
func (p *ConsumerPass) heldAlone() bounds {
	unread := p.Live.State.unread()
	for _, o := range p.Stream.Siblings {
		if o.Name != p.Live.Name && overlap(p.Live.Config.Filters(), o.Config.Filters()) {
			return bounds{0, unread}
		}
	}
	return exactly(unread)
}

// replayed says what a new consumer of a limits stream gets, by its deliver
// policy.
func (p *ConsumerPass) replayed() string {
	s := &p.Live.State
	unread := s.unread()
	all := "it gets all that the stream holds with deliver_policy all (the snapshot does not tell how much)"
	if stored, ok := p.Stream.matching(p.Live.Config.Filters()); ok {
		all = fmt.Sprintf("it gets %s messages with deliver_policy all, %s of them again", stored, stored.less(s.NumPending))
	}
	return all + fmt.Sprintf(", skips %d with new, and gets %s with by_start_sequence %d", unread, bounds{unread, unread + s.settledAbove()}, s.AckFloor.Stream+1)
}

// goesWith lists what a stream that is deleted takes with it.
func (s *StreamView) goesWith() string {
	held := "its messages (the snapshot does not tell how many)"
	if s.Stated {
		held = fmt.Sprintf("its %d messages", s.State.Messages)
	}
	if len(s.Consumers) == 0 {
		return held
	}
	const most = 5
	var parts []string
	for _, c := range s.Consumers[:min(most, len(s.Consumers))] {
		name := c.Name
		if c.Stated {
			name += " (" + c.position() + ")"
		}
		parts = append(parts, name)
	}
	if more := len(s.Consumers) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return held + " and the positions of " + strings.Join(parts, ", ")
}

// settles says whether a consumer certainly holds nothing of what is stored, or
// certainly holds all of it that its filters let through.
func (c *ConsumerView) settles() (nothing, everything bool) {
	if !c.Stated {
		return false, false
	}
	return c.State.unread() == 0, c.State.Delivered.Stream == 0 && c.State.AckFloor.Stream == 0
}

// lostByNarrowing bounds the stored messages that lose their last consumer when
// this one's filters change. Not ok: the snapshot has no counts by subject.
func (p *ConsumerPass) lostByNarrowing(was, next []string) (n bounds, ok bool) {
	if p.Stream == nil || p.Stream.State.Subjects == nil {
		return bounds{}, false
	}
	for subject, held := range p.Stream.State.Subjects {
		if !within(subject, was) || within(subject, next) {
			continue
		}
		alone, shared := p.aloneOn(subject)
		if alone {
			n.least += held
		}
		if alone || shared {
			n.most += held
		}
	}
	return n, true
}

// aloneOn says whether no other consumer holds messages on the subject, or
// whether that depends on which of them the others have acknowledged.
func (p *ConsumerPass) aloneOn(subject string) (alone, unsure bool) {
	alone = true
	for _, o := range p.Stream.Consumers {
		if o.Name == p.Live.Name || o.Bad != nil || !within(subject, o.Config.Filters()) {
			continue
		}
		switch nothing, everything := o.settles(); {
		case everything:
			return false, false
		case !nothing:
			alone = false
		}
	}
	return alone, !alone
}

// handedToBoth bounds the stored messages that a consumer of a work queue and
// another one both get, after the first one's filters changed. Not ok: the
// snapshot does not tell.
func (p *ConsumerPass) handedToBoth(mine, theirs []string) (n bounds, ok bool) {
	s := p.Stream
	if !s.Stated || p.Live == nil || !p.Live.Stated {
		return bounds{}, false
	}
	if p.passed().least >= s.State.LastSeq {
		return bounds{}, true
	}
	if s.State.Subjects == nil {
		return bounds{0, s.State.Messages}, true
	}
	return bounds{0, s.count(func(subject string) bool { return within(subject, mine) && within(subject, theirs) })}, true
}

// passed bounds the sequence up to which the consumer does not look any more. A
// pull moves it past messages that its filters do not let through, and the
// delivered sequence does not always tell: with nothing pending it may have
// looked to the end.
func (p *ConsumerPass) passed() bounds {
	at := exactly(p.Live.State.Delivered.Stream)
	if p.Live.State.NumPending == 0 && p.Stream.Stated {
		at.most = max(at.most, p.Stream.State.LastSeq)
	}
	return at
}

// overSubjectLimit bounds the messages over a limit for each subject.
func (s *StreamState) overSubjectLimit(limit uint64) bounds {
	if s.Subjects == nil {
		if s.NumSubjects == 0 { // there is one at least, and its last message stays
			return bounds{0, below(s.Messages, 1)}
		}
		return bounds{below(s.Messages, limit*s.NumSubjects), below(s.Messages, s.NumSubjects)}
	}
	var n uint64
	for _, held := range s.Subjects {
		n += below(held, limit)
	}
	return exactly(n)
}

// unwanted bounds the messages that go at once when the stream becomes an
// interest stream: without consumers all, and otherwise those that lie below an
// ack floor and that no consumer waits for (stream.go:3025 and consumer.go:7379
// of 2.15.3).
func (s *StreamView) unwanted() (n bounds, ok bool) {
	if !s.Stated || len(s.Consumers) < s.State.Consumers {
		return bounds{}, false
	}
	if len(s.Consumers) == 0 {
		return exactly(s.State.Messages), true
	}
	var largest uint64
	lowest, highest := s.State.LastSeq, uint64(0)
	for _, c := range s.Consumers {
		if !c.Stated {
			return bounds{}, false
		}
		largest = max(largest, c.State.unread())
		lowest, highest = min(lowest, c.State.AckFloor.Stream), max(highest, c.State.AckFloor.Stream)
	}
	n.most = min(below(s.State.Messages, largest), s.upTo(highest))
	if s.State.Messages == s.upTo(s.State.LastSeq) { // no gaps
		n.least = min(s.upTo(lowest), n.most)
	}
	return n, true
}

// upTo is how many sequences there are from the first one to seq.
func (s *StreamView) upTo(seq uint64) uint64 { return below(seq+1, max(s.State.FirstSeq, 1)) }

// Lost counts the stored messages, given by subject, that no consumer wants any
// more when the filters of one of them become next. Others are the stream's other
// consumers. Where they have got to is not looked at: what one of them has handled
// already counts as wanted.
func Lost(stored map[string]uint64, was, next []string, others []broker.Sibling) (lost uint64) {
	for subject, n := range stored {
		wanted := slices.ContainsFunc(others, func(s broker.Sibling) bool { return within(subject, s.Config.Filters()) })
		if within(subject, was) && !within(subject, next) && !wanted {
			lost += n
		}
	}
	return lost
}
