package audit

import (
	"fmt"
	"slices"
	"strings"

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
		return "a mirror can be removed (2.14+) but not added or changed: make a new stream"
	case 10065:
		return "take the subjects from " + strings.Join(p.overlapped(), ", ") + " first, or keep the old name: renaming makes a new, empty stream"
	case 10069:
		return "bring the consumers under the new limits first"
	case 10074:
		return "declare num_replicas: 1, or run a cluster"
	}
	if len(p.Result.Refused) == 0 || p.Live == nil {
		return ""
	}
	if i, ok := broker.StreamFieldIndex(p.Result.Refused[0]); ok {
		return fmt.Sprintf("declare %s: %s", p.Result.Refused[0], Show(broker.StreamFields()[i].Get(p.Live.Config)))
	}
	return ""
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
	Doc: `Lower limits delete what is over them at once and without a word; fewer replicas lose
redundancy; interest retention deletes what no consumer waits for. It is accepted, and can not
be undone. A default of the tool that applies the declaration does it too: NACK's resource
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
	s, next := p.Live.State, p.Result.Stored
	switch field {
	case "num_replicas":
		return "redundancy is lost"
	case "max_msgs":
		return fmt.Sprintf("%d of %d stored messages are deleted", s.Messages-uint64(next.MaxMsgs), s.Messages)
	case "max_bytes":
		return fmt.Sprintf("messages are deleted until %d of %d bytes are left", next.MaxBytes, s.Bytes)
	case "max_age":
		if s.FirstTime != nil && !p.Taken.IsZero() && p.Taken.Sub(*s.FirstTime) <= next.MaxAge {
			return "nothing stored is that old yet, but messages live shorter"
		}
		return fmt.Sprintf("of %d stored messages those older than that are deleted", s.Messages)
	case "retention":
		return fmt.Sprintf("of %d stored messages those that no consumer waits for are deleted", s.Messages)
	}
	return fmt.Sprintf("of %d stored messages those over the limit are deleted", s.Messages)
}

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
