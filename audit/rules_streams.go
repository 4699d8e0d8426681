package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/internal/spell"
)

var streamRefused = &Rule{
	Code: "NM301", Severity: Error,
	Title: "the broker refuses the stream",
	Doc: `The request is answered with an error, and nothing in it happens. Storage can not be changed,
retention not to or from workqueue, a mirror not added or changed; subjects may not overlap
another stream's (10065). A name is the stream's identity: a renamed stream is a new one, and
the old one with its messages stays, or is deleted.`,
	Stream: func(p *StreamPass) {
		if p.Result.Outcome != broker.Reject {
			return
		}
		err := p.Result.Error
		f := Finding{Message: fmt.Sprintf("refused with err_code %d: %s", err.ErrCode, err.Description), Fix: p.refusalFix()}
		if len(p.Result.Refused) > 0 {
			f.Field = p.Result.Refused[0]
			f.Message += p.refusedValue(f.Field)
		}
		p.Report(f)
	},
}

func (p *StreamPass) refusedValue(field string) string {
	i, ok := broker.StreamFieldIndex(field)
	if !ok || p.Live == nil || p.Result.Asked == nil || field == p.Declaration.StreamRequest.Bad {
		return ""
	}
	get := broker.StreamFields()[i].Get
	text := fmt.Sprintf(" (live %s, asked for %s", Show(get(p.Live.Config)), Show(get(p.Result.Asked)))
	if n := p.Declaration.noteOn(field); n != nil {
		text += ": " + n.Message
	}
	return text + ")"
}

func (p *StreamPass) refusalFix() string {
	switch p.Result.Error.ErrCode {
	case 10025:
		return "mend the field's name or value" + suggestField(p.Result.Refused, streamNames())
	case 10055:
		return "a mirror can be removed (2.12+) but not added or changed: make a new stream. Deleting this one loses " + p.Live.goesWith()
	case 10065:
		return "take the subjects from " + strings.Join(p.overlapped(), ", ") + " first, or keep the old name: renaming makes a new, empty stream"
	case 10069:
		return "bring the consumers under the new limits first" + p.overLimits()
	case 10074:
		return "declare num_replicas: 1, or run a cluster"
	}
	if len(p.Result.Refused) == 0 || p.Live == nil {
		return ""
	}
	if i, ok := broker.StreamFieldIndex(p.Result.Refused[0]); ok {
		fix := fmt.Sprintf("declare %s: %s", p.Result.Refused[0], Show(broker.StreamFields()[i].Get(p.Live.Config)))
		if strings.Contains(p.Result.Error.Description, "update") || strings.Contains(p.Result.Error.Description, "can not be disabled") {
			fix += ". Deleting the stream to make it anew loses " + p.Live.goesWith()
		}
		return fix
	}
	return ""
}

// overLimits lists the consumers that exceed the new consumer_limits.
func (p *StreamPass) overLimits() string {
	var over []string
	if p.Result.Asked == nil || p.Live == nil {
		return ""
	}
	limits := p.Result.Asked.ConsumerLimits
	for _, c := range p.Live.Siblings {
		if c.Config.MaxAckPending > limits.MaxAckPending && limits.MaxAckPending > 0 {
			over = append(over, fmt.Sprintf("%s max_ack_pending %d > %d", c.Name, c.Config.MaxAckPending, limits.MaxAckPending))
		}
		if c.Config.InactiveThreshold > limits.InactiveThreshold && limits.InactiveThreshold > 0 {
			over = append(over, fmt.Sprintf("%s inactive_threshold %s > %s", c.Name, Duration(c.Config.InactiveThreshold), Duration(limits.InactiveThreshold)))
		}
	}
	if len(over) == 0 {
		return ""
	}
	return ": " + strings.Join(over, ", ")
}

func (p *StreamPass) overlapped() []string {
	var names []string
	for _, s := range p.Cell.Streams {
		if s.Name != p.Declaration.Stream && p.Result.Asked != nil && len(s.Config.Subjects) > 0 && overlap(s.Config.Subjects, p.Result.Asked.Subjects) {
			names = append(names, s.Name)
		}
	}
	return names
}

func streamNames() []string {
	var names []string
	for _, f := range broker.StreamFields() {
		names = append(names, f.Name)
	}
	return names
}

// suggestField names the field that an unknown one was meant to be.
func suggestField(refused, known []string) string {
	if len(refused) == 0 || slices.Contains(known, refused[0]) {
		return ""
	}
	if near := spell.Nearest(refused[0], known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

var streamLoss = &Rule{
	Code: "NM302", Severity: Error,
	Title: "a stream update loses messages or redundancy",
	Doc: `Lower limits delete what is over them at once and without a word (with discard new, max_msgs
and max_bytes do not: see NM306); fewer replicas lose redundancy; interest retention deletes what
no consumer waits for. It is accepted, and can not be undone. A lower max_msg_size deletes
nothing. A default of the tool that applies the declaration does it too: NACK's resource
definition has replicas 1.`,
	Stream: func(p *StreamPass) {
		for _, f := range p.Entry.Fields {
			if f.Class != Destructive {
				continue
			}
			out := Finding{
				Field: f.Name, Have: f.Have, Want: f.After,
				Message: fmt.Sprintf("%s %s -> %s: %s", f.Name, Show(f.Have), Show(f.After), p.loss(f.Name)),
				Fix:     fmt.Sprintf("declare %s: %s unless the loss is meant", f.Name, Show(f.Have)),
			}
			if f.Note != "" {
				out.Message += " (" + f.Note + ")"
			} else if f.Declared == nil {
				out.Message += " (the declaration leaves it out)"
			}
			p.Report(out)
		}
	},
}

func (p *StreamPass) loss(field string) string {
	s, next := &p.Live.State, p.Result.Stored
	if field == "num_replicas" {
		return "redundancy is lost"
	}
	if !p.Live.Stated {
		return "messages are deleted, how many the snapshot does not tell"
	}
	switch field {
	case "max_msgs":
		return fmt.Sprintf("%d of %d stored messages are deleted, the oldest first", s.Messages-uint64(next.MaxMsgs), s.Messages)
	case "max_bytes":
		return fmt.Sprintf("the oldest messages are deleted until %d of %d bytes are left, about %d of %d messages by their mean size", next.MaxBytes, s.Bytes, s.overBytes(uint64(next.MaxBytes)), s.Messages)
	case "max_age":
		return p.aged(next.MaxAge)
	case "retention":
		return p.Live.tellUnwanted()
	}
	text := fmt.Sprintf("%s of %d stored messages are deleted, those over the limit of their subject", s.overSubjectLimit(uint64(next.MaxMsgsPer)), s.Messages)
	if p.Live.Config.MaxMsgsPer <= 0 && !p.Cell.Broker.Version.AtLeast(12) { // filestore.go:846 of 2.15.3 asks for more
		text += ", before 2.12 with the next message on it"
	}
	return text
}

// overBytes estimates how many messages are deleted to come down to a size.
func (s *StreamState) overBytes(limit uint64) uint64 {
	mean := float64(s.Bytes) / float64(max(s.Messages, 1))
	return min(s.Messages, uint64(math.Ceil(float64(below(s.Bytes, limit))/mean)))
}

// aged tells how many messages are too old by now. A snapshot knows when the
// first and the last one came.
func (p *StreamPass) aged(limit time.Duration) string {
	s := &p.Live.State
	old := func(at *time.Time) bool { return p.Taken.Sub(*at) > limit }
	switch {
	case s.FirstTime == nil || p.Taken.IsZero():
		return fmt.Sprintf("of %d stored messages those older than that are deleted", s.Messages)
	case !old(s.FirstTime):
		return "nothing stored is that old yet, but messages live shorter"
	case s.LastTime != nil && old(s.LastTime):
		return fmt.Sprintf("all %d stored messages are older than that and are deleted", s.Messages)
	case s.LastTime != nil && s.Messages > 1:
		return fmt.Sprintf("%s of %d stored messages are older than that and are deleted", bounds{1, s.Messages - 1}, s.Messages)
	}
	return fmt.Sprintf("at least 1 of %d stored messages is older than that and is deleted", s.Messages)
}

// tellUnwanted tells what a stream loses that becomes an interest stream.
func (s *StreamView) tellUnwanted() string {
	n, ok := s.unwanted()
	if !ok {
		return fmt.Sprintf("of %d stored messages those that no consumer waits for are deleted", s.State.Messages)
	}
	return fmt.Sprintf("%s of %d stored messages are deleted, those that no consumer waits for", n, s.State.Messages)
}

var fullAtOnce = &Rule{
	Code: "NM306", Severity: Error,
	Title: "the stream is full at once, and refuses what is published",
	Doc: `With discard new a lower limit deletes nothing (2.9 does): the stream keeps what it holds, and refuses
every message that is published until enough of it is gone. On a limits stream that is until
max_age, or somebody, deletes messages. Raise the limit, or make room first.`,
	Stream: func(p *StreamPass) {
		next := p.Result.Stored
		if p.Live == nil || next == nil || p.Result.Outcome != broker.Update || next.Discard != broker.DiscardNew || !p.Live.Stated || !p.Cell.Broker.Version.AtLeast(10) {
			return
		}
		s, was := &p.Live.State, p.Live.Config
		for _, l := range []struct {
			field, unit string
			was, next   int64
			held        uint64
		}{
			{"max_msgs", "messages", was.MaxMsgs, next.MaxMsgs, s.Messages},
			{"max_bytes", "bytes", was.MaxBytes, next.MaxBytes, s.Bytes},
		} {
			if !full(l.next, l.held) || was.Discard == broker.DiscardNew && full(l.was, l.held) {
				continue
			}
			p.Report(Finding{
				Field: l.field, Have: l.was, Want: l.next,
				Message: fmt.Sprintf("the stream holds %d %s and may hold %d with discard new: nothing is deleted, and every publish is refused until it holds less than %d", l.held, l.unit, l.next, l.next),
				Fix:     fmt.Sprintf("declare %s above %d, or make room first", l.field, l.held),
			})
		}
	},
}

func full(limit int64, held uint64) bool { return limit > 0 && held >= uint64(limit) }

var streamReset = &Rule{
	Code: "NM303", Severity: Warning,
	Title: "a stream field that is left out is reset",
	Doc: `A stream update replaces the whole configuration. What the declaration leaves out goes to
the server's default, without a word. Declare the live value, or the default.`,
	Stream: func(p *StreamPass) {
		for _, f := range p.Entry.Fields {
			if f.Class == SilentReset {
				p.Report(Finding{
					Field: f.Name, Have: f.Have, Want: f.After,
					Message: fmt.Sprintf("%s %s -> %s: the declaration leaves it out, so the broker resets it", f.Name, Show(f.Have), Show(f.After)),
					Fix:     fmt.Sprintf("declare %s: %s to keep it", f.Name, Show(f.Have)),
				})
			}
		}
	},
}

var stays = &Rule{
	Code: "NM304", Severity: Info,
	Title: "a live setting stays that the declaration does not have",
	Doc: `A writer that merges leaves alone what the declaration leaves out. NACK can switch a stream's
booleans on and not off, and can not clear max_age or max_msgs_per_subject; it has no way to
clear a consumer's ladder. What is live is then nobody's decision. Declare it, or clear it once
by hand.`,
	Stream: func(p *StreamPass) {
		for _, f := range p.Entry.Fields {
			if f.Class == Orphan {
				p.Report(Finding{Field: f.Name, Have: f.Have, Message: fmt.Sprintf("%s: live %s, not declared: stays", f.Name, Show(f.Have)), Fix: fmt.Sprintf("declare %s: %s if it is wanted", f.Name, Show(f.Have))})
			}
		}
	},
	Consumer: func(p *ConsumerPass) {
		for _, f := range p.Entry.Fields {
			if f.Class == Orphan && f.Name != "backoff" && f.Name != "ack_wait" && f.Name != "max_ack_pending" {
				p.Report(Finding{Field: f.Name, Have: f.Have, Message: fmt.Sprintf("%s: live %s, not declared: stays", f.Name, Show(f.Have)), Fix: fmt.Sprintf("declare %s: %s if it is wanted", f.Name, Show(f.Have))})
			}
		}
	},
}

var stranded = &Rule{
	Code: "NM305", Severity: Warning,
	Title: "work-queue messages that no consumer gets",
	Doc: `A work queue keeps a message that was delivered max_deliver times and never acknowledged: it
is in the stream, out of reach of its consumer, and counts in no pending figure. 2.12.3 and
2.12.4 lost some of them on R3. Copy them by sequence from the advisories and delete them, or
acknowledge late: that still works.`,
	Stream: func(p *StreamPass) {
		s := p.Live
		if s == nil || !s.Stated || s.Config.Retention != broker.WorkQueueRetention || len(s.Consumers) == 0 || len(s.Consumers) < s.State.Consumers {
			return
		}
		var reach uint64
		for _, c := range s.Consumers {
			if c.Bad != nil {
				return
			}
			reach += c.State.NumPending + uint64(max(c.State.NumAckPending, 0))
		}
		if !s.coversAll() || reach >= s.State.Messages {
			return
		}
		p.Report(Finding{
			Have: s.State.Messages - reach,
			Message: fmt.Sprintf("%d stored - %d pending or outstanding = %d messages that were delivered max_deliver times and never acknowledged",
				s.State.Messages, reach, s.State.Messages-reach),
			Fix: "copy them by sequence (MAX_DELIVERIES advisories name them) and delete them",
		})
	},
}

// coversAll says whether the consumers' filters reach every subject.
func (s *StreamView) coversAll() bool {
	for _, subject := range s.Config.Subjects {
		if !slices.ContainsFunc(s.Consumers, func(c *ConsumerView) bool { return within(subject, c.Config.Filters()) }) {
			return false
		}
	}
	return true
}
