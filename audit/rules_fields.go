package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
)

var silentReset = &Rule{
	Code: "NM201", Severity: Warning,
	Title: "a field that is left out is reset",
	Doc: `A create-or-update replaces the whole configuration. A field that the declaration
leaves out goes to the server's default, without an error and without a word in the
reply. Where the live value matters, declare it; where it does not, declare the
default, so that the change is somebody's decision.`,
	Consumer: func(p *ConsumerPass) {
		for _, f := range p.Entry.Fields {
			if f.Class == SilentReset {
				why := "the declaration leaves it out, so the broker resets it"
				if f.Declared != nil {
					why = f.Note
				}
				p.Report(Finding{
					Field: f.Name, Have: f.Have, Want: f.After,
					Message: fmt.Sprintf("%s %s -> %s: %s", f.Name, Show(f.Have), Show(f.After), why),
					Fix:     fmt.Sprintf("declare %s: %s to keep it, or %s to make the change a decision", f.Name, Show(f.Have), showDefault(f)),
				})
			}
		}
	},
}

func showDefault(f Field) string {
	if f.After == nil {
		return "an empty value"
	}
	return Show(f.After)
}

var orphanedLadder = &Rule{
	Code: "NM202", Severity: Warning,
	Title: "a backoff ladder that nobody declared is live",
	Doc: `The durable carries a ladder that the declaration does not have. A writer that binds
never updates a durable, and one that merges keeps what is left out, so the ladder
goes on deciding when a failing message is retried, whatever the code believes: a
nak with a delay of d waits d + backoff[n-1] - ack_wait. With a writer that replaces,
the ladder goes away with the next deploy. Declare backoff, or remove it on purpose.`,
	Consumer: func(p *ConsumerPass) {
		c := p.Stored()
		if p.Live == nil || p.Declaration == nil || c == nil || len(p.Live.Config.Backoff) == 0 || p.Declaration.declares("backoff") {
			return
		}
		ladder := Show(p.Live.Config.Backoff)
		f := Finding{Field: "backoff", Have: p.Live.Config.Backoff}
		if len(c.Backoff) > 0 {
			if p.Handler() != nil {
				f.Severity = Error
			}
			f.Message = fmt.Sprintf("an orphaned ladder %s stays in force, though the declaration has none: %s%s", ladder, tellEnvelope(p.After), p.believed())
			f.Fix = "declare the ladder you want and apply it with a writer that updates (CreateOrUpdateConsumer), or clear it once with `nats consumer edit`"
		} else {
			f.Message = fmt.Sprintf("the live ladder %s is nobody's: until it is applied over, %s", ladder, tellEnvelope(p.Before))
			f.Fix = "apply the declaration, or declare the ladder if it is wanted"
		}
		p.Report(f)
	},
}

// believed says when the declaration by itself would give up, which is what its
// author believes.
func (p *ConsumerPass) believed() string {
	res := p.Cell.Broker.Consumer(p.brokerStream(), nil, &broker.ConsumerRequest{Config: p.Declaration.Request.Config})
	e := p.envelope(res.Asked, p.Handler())
	if e == nil || p.After == nil || e.Unbounded || e.Stalled || e.LastAttempt.At == p.After.LastAttempt.At {
		return ""
	}
	return fmt.Sprintf(", not at %s as the declaration by itself would have it", Duration(e.LastAttempt.At))
}

var clamped = &Rule{
	Code: "NM203", Severity: Warning,
	Title: "the broker stores something else than was declared",
	Doc: `With a ladder, ack_wait is backoff[0], whatever was asked: they are one knob. Other
values are held to a floor or a limit. The declaration is accepted and says something
that is not so, and tools that compare it with the broker see a difference for ever.
Declare what is stored.`,
	Consumer: func(p *ConsumerPass) {
		for _, f := range p.Entry.Fields {
			if f.Class != Clamp {
				continue
			}
			msg := fmt.Sprintf("%s declared %s, stored %s", f.Name, Show(f.Declared), Show(f.After))
			if f.Note != "" {
				msg += " (" + f.Note + ")"
			}
			fix := fmt.Sprintf("declare %s: %s", f.Name, Show(f.After))
			sev := Warning
			if f.Name == "ack_wait" && len(p.Stored().Backoff) > 0 {
				fix = fmt.Sprintf("declare ack_wait: %s, or change backoff[0]: with a ladder they are one setting", Show(f.After))
			}
			if n := p.Declaration.noteOn(f.Name); n != nil {
				sev, msg = Info, msg+"; "+n.Message
			}
			p.Report(Finding{Severity: sev, Field: f.Name, Have: f.Have, Want: f.Declared, Message: msg, Fix: fix})
		}
	},
}

var refused = &Rule{
	Code: "NM204", Severity: Error,
	Title: "the broker refuses the declaration",
	Doc: `The request is answered with an error, and nothing in it happens: legal changes in the
same request are lost too. err_code 10012 is the general failure of a consumer create
and is permanent, though its code is 500: a service that retries it crash-loops. What
is fixed at creation can be kept as it is live, or had under a new durable name that
starts behind the old one's ack floor. Deleting and recreating loses the position.`,
	Consumer: func(p *ConsumerPass) {
		if p.Result.Outcome != broker.Reject {
			return
		}
		err := p.Result.Error
		fields := slices.DeleteFunc(slices.Clone(p.Result.Refused), func(s string) bool { return s == "" })
		f := Finding{Message: fmt.Sprintf("refused with err_code %d: %s", err.ErrCode, err.Description), Fix: p.refusalFix()}
		if len(fields) > 0 {
			f.Field = fields[0]
			f.Message += p.refusedValue(fields[0])
		}
		if lost := p.lostChanges(); lost != "" {
			f.Message += "; lost with it: " + lost
		}
		p.Report(f)
	},
}

// refusedValue shows the change that is refused.
func (p *ConsumerPass) refusedValue(field string) string {
	for _, f := range p.Entry.Fields {
		if f.Name != field || p.Live == nil {
			continue
		}
		if f.Asked != nil {
			asked := Show(f.Asked)
			if f.Declared == nil {
				asked += ", because it is left out"
			}
			return fmt.Sprintf(" (live %s, asked for %s)", Show(f.Have), asked)
		}
	}
	return ""
}

func (p *ConsumerPass) lostChanges() string {
	var lost []string
	for _, f := range p.Entry.Fields {
		if f.Class == Ignored && f.Note == "lost with the refused request" {
			lost = append(lost, f.Name)
		}
	}
	return strings.Join(lost, ", ")
}

// refusalFix is what to do about the broker's error.
func (p *ConsumerPass) refusalFix() string {
	switch p.Result.Error.ErrCode {
	case 10012:
		return p.immutableFix()
	case 10013:
		return "err_code 10013 means that somebody is still subscribed to the deliver subject: drain the subscribers first"
	case 10025:
		return "mend the field's name or value" + suggestField(p.Result.Refused, consumerNames())
	case 10059:
		return "create the stream first, or declare it in the same files"
	case 10074:
		return "leave num_replicas out (0 means the stream's), or run a cluster"
	case 10084, 10098:
		return "declare ack_policy: explicit"
	case 10099, 10100:
		return "give every consumer of a work queue filters that no other one shares"
	case 10101:
		return "declare deliver_policy: all"
	case 10116:
		return "shorten backoff to at most max_deliver rungs, or raise max_deliver"
	case 10126, 10134:
		return "leave num_replicas out: 0 means the stream's"
	case 10138:
		return overlappingPair(p.Result.Asked) + "make the filters disjoint, a consumer gets a subject once"
	case 10148:
		return "use create-or-update; action=create refuses any textual difference"
	}
	return ""
}

// overlappingPair names two filters that share subjects.
func overlappingPair(c *broker.ConsumerConfig) string {
	if c == nil {
		return ""
	}
	for i, a := range c.FilterSubjects {
		for j, b := range c.FilterSubjects {
			if i != j && broker.SubjectWithin(a, b) {
				return fmt.Sprintf("%s is inside %s: ", a, b)
			}
		}
	}
	return ""
}

func (p *ConsumerPass) immutableFix() string {
	field := p.Result.Refused[0]
	have := "the live value"
	if i, ok := broker.ConsumerFieldIndex(field); ok && p.Live != nil {
		if v := broker.ConsumerFields()[i].Get(p.Live.Config); v != nil {
			have = field + ": " + Show(v)
		}
	}
	if p.Live == nil {
		return ""
	}
	return fmt.Sprintf("%s is fixed at creation: declare %s%s. %s", field, have, p.underNewName(), p.recreated())
}

// underNewName says how to have the change without losing the position. A work
// queue takes no second consumer of the same subjects.
func (p *ConsumerPass) underNewName() string {
	if p.StreamConfig.Retention == broker.WorkQueueRetention {
		return ""
	}
	text := ", or take a new durable name with deliver_policy by_start_sequence and opt_start_seq "
	if !p.Live.Stated {
		return text + "one above its ack floor"
	}
	s := &p.Live.State
	text += fmt.Sprintf("%d (ack floor + 1)", s.AckFloor.Stream+1)
	if again := s.settledAbove(); again > 0 {
		text += fmt.Sprintf(", which also gets at most %d that were acknowledged above it", again)
	}
	return text
}

var clientArtifact = &Rule{
	Code: "NM205", Severity: Info,
	Title: "max_ack_pending 65536 is the legacy client's channel",
	Doc: `Nobody chose 65536: the legacy client's PullSubscribe copies the capacity of its own
channel into max_ack_pending when it creates a durable. A create-or-update that leaves
the field out turns it into 1000. For a serial consumer that is harmless, but it should
be a decision.`,
	Consumer: func(p *ConsumerPass) {
		if p.Live != nil && p.Live.Config.MaxAckPending == LegacyAckPending && (p.Declaration == nil || !p.Declaration.declares("max_ack_pending")) {
			p.Report(Finding{
				Field: "max_ack_pending", Have: LegacyAckPending,
				Message: "max_ack_pending is 65536, which the legacy client wrote and nobody chose",
				Fix:     "declare max_ack_pending: 1000 (the server's default), or what the consumer needs",
			})
		}
	},
}

var ignoredField = &Rule{
	Code: "NM206", Severity: Warning,
	Title: "the broker or the writer ignores a declared field",
	Doc: `A broker before 2.12 drops fields that it does not know, without an error: filter_subjects
sent to 2.9 leaves the consumer with every message of the stream. A writer that binds
sends nothing to a durable that exists. pause_until counts at creation only. Before 2.14.4
mem_storage shows in the config and moves nothing.`,
	Consumer: func(p *ConsumerPass) {
		for _, f := range p.Entry.Fields {
			if f.Class != Ignored || p.Result.Outcome == broker.Reject {
				continue
			}
			out := Finding{
				Field: f.Name, Have: f.Have, Want: f.Declared,
				Message: fmt.Sprintf("%s: %s is declared and has no effect: %s", f.Name, Show(f.Declared), f.Note),
				Fix:     "take it out of the declaration, or apply it with a writer and a broker that act on it",
			}
			if f.Name == "filter_subjects" && p.Result.Outcome != broker.Untouched {
				out.Severity = Error
				out.Message += ": the consumer gets every message of the stream"
			}
			p.Report(out)
		}
		p.checkStoredWithoutEffect()
	},
}

// checkStoredWithoutEffect tells what is stored and does nothing.
func (p *ConsumerPass) checkStoredWithoutEffect() {
	d := p.Declaration
	if p.Live == nil || d == nil || p.Result.Outcome == broker.Reject || p.Sent == nil {
		return
	}
	live, next := p.Live.Config, p.Stored()
	if next == nil { // nobody knows
		return
	}
	if d.declares("pause_until") && !sameTime(d.Request.Config.PauseUntil, next.PauseUntil) {
		p.Report(Finding{Field: "pause_until", Message: "pause_until counts at creation only: an update keeps the live value without a word", Fix: "use the pause request (nats consumer pause)"})
	}
	if live.MemStorage != next.MemStorage { // later brokers refuse the update
		p.Report(Finding{Field: "mem_storage", Message: "mem_storage is stored, but before 2.14.4 the consumer's store does not move", Fix: "recreate the consumer under a new name"})
	}
}

func sameTime(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

func consumerNames() []string {
	var names []string
	for _, f := range broker.ConsumerFields() {
		names = append(names, f.Name)
	}
	return names
}
