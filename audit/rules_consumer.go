package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
)

var ackNoneByDefault = &Rule{
	Code: "NM208", Severity: Warning,
	Title: "ack_policy is left out, and the server's default is none",
	Doc: `The API's default for ack_policy is none: every message counts as acknowledged when it is
delivered, nothing is ever retried, and ack_wait, max_deliver and backoff do nothing. Client
libraries differ (some send explicit), NACK's resource definition says none, Terraform
explicit. State it always.`,
	Consumer: func(p *ConsumerPass) {
		d, c := p.Declaration, p.Stored()
		if d == nil || c == nil || p.Result.Outcome != broker.Create || c.AckPolicy != broker.AckNone {
			return
		}
		n := d.noteOn("ack_policy")
		if d.declares("ack_policy") && n == nil {
			return
		}
		msg := "ack_policy is left out and becomes none: messages are delivered at most once, and ack_wait, max_deliver and backoff have no effect"
		if n != nil {
			msg = n.Message + ": messages are delivered at most once, and ack_wait, max_deliver and backoff have no effect"
		}
		p.Report(Finding{Field: "ack_policy", Want: broker.AckNone, Message: msg, Fix: "declare ack_policy: explicit"})
	},
}

var inheritedThreshold = &Rule{
	Code: "NM209", Severity: Warning,
	Title: "inactive_threshold is inherited from the stream",
	Doc: `A durable that declares no inactive_threshold takes the stream's
consumer_limits.inactive_threshold. It is then deleted, with its position, when nothing pulls
for that long: a weekend's outage is enough. Declare the threshold you want, up to the
stream's limit.`,
	Consumer: func(p *ConsumerPass) {
		c, s := p.Stored(), p.StreamConfig
		if p.Declaration == nil || c == nil || s == nil || c.Durable == "" || p.Result.Outcome == broker.Reject || p.Result.Outcome == broker.Untouched {
			return
		}
		if limit := s.ConsumerLimits.InactiveThreshold; limit > 0 && c.InactiveThreshold == limit && !p.Declaration.declares("inactive_threshold") {
			p.Report(Finding{
				Field: "inactive_threshold", Want: limit,
				Message: fmt.Sprintf("inactive_threshold is left out and becomes the stream's %s: the durable is deleted after that long without a pull", Duration(limit)),
				Fix:     fmt.Sprintf("declare inactive_threshold: %s if that is meant", Duration(limit)),
			})
		}
	},
}

var unlimitedOnWorkQueue = &Rule{
	Code: "NM210", Severity: Warning,
	Title: "unlimited deliveries on a work queue",
	Doc: `With max_deliver unlimited a message that can not be handled is retried for ever. On a work
queue it also stays in the stream for ever, and holds the consumer's ack floor. Bound
max_deliver and capture what is given up.`,
	Consumer: func(p *ConsumerPass) {
		c, s := p.Stored(), p.StreamConfig
		if p.Declaration == nil || c == nil || s == nil || s.Retention != broker.WorkQueueRetention || c.MaxDeliver > 0 || p.Result.Outcome == broker.Reject {
			return
		}
		f := Finding{
			Field: "max_deliver", Have: c.MaxDeliver,
			Message: "max_deliver is unlimited on a work queue: a message that always fails is retried for ever and never leaves the stream",
			Fix:     "declare max_deliver, and capture what is given up",
		}
		if s.MaxAge > 0 {
			f.Message = fmt.Sprintf("max_deliver is unlimited on a work queue: a message that always fails is retried until max_age (%s) deletes it, and nobody is told", Duration(s.MaxAge))
		}
		p.Report(f)
	},
}

var stampedThreshold = &Rule{
	Code: "NM213", Severity: Error,
	Title: "an ephemeral's threshold is stamped on a durable",
	Doc: `When a consumer that had only a name gets a durable_name by an update that declares no
inactive_threshold, the broker answers with success and stores the ephemeral's default of five
seconds: the new "durable" is deleted after about five seconds without a pull. A second,
identical update clears it. Declare a new durable under another name, or apply twice and read
back.`,
	Consumer: func(p *ConsumerPass) {
		if c := p.Stored(); p.stamped() {
			p.Report(Finding{
				Field: "inactive_threshold", Have: p.Live.Config.InactiveThreshold, Want: c.InactiveThreshold,
				Message: fmt.Sprintf("inactive_threshold %s -> %s: the broker stamps the ephemeral's default on the new durable, which is deleted after 5 to 6 seconds without a pull",
					Show(positive(p.Live.Config.InactiveThreshold)), Duration(c.InactiveThreshold)),
				Fix: "apply twice (the second update clears it) and read back, or declare the durable under a new name",
			})
		}
	},
}

// stamped says whether an update turns an ephemeral into a durable that keeps an
// ephemeral's threshold.
func (p *ConsumerPass) stamped() bool {
	c := p.Stored()
	return p.Live != nil && c != nil && p.Result.Outcome == broker.Update && p.Live.Config.Durable == "" && c.Durable != "" &&
		c.InactiveThreshold == broker.EphemeralThreshold && !p.Declaration.declares("inactive_threshold")
}

// demotes says whether an update turns a durable into an ephemeral.
func (p *ConsumerPass) demotes() bool {
	c := p.Stored()
	return p.Live != nil && c != nil && p.Result.Outcome == broker.Update && p.Live.Config.Durable != "" && c.Durable == ""
}

func positive(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return d
}

var demoted = &Rule{
	Code: "NM214", Severity: Error,
	Title: "a durable is demoted to an ephemeral",
	Doc: `An update that leaves durable_name out is accepted, and the consumer is an ephemeral
afterwards. Nothing shows until the broker restarts: then it gets the ephemeral's threshold, and
is deleted, with its position, when nothing pulls for five seconds. Always declare durable_name.`,
	Consumer: func(p *ConsumerPass) {
		if !p.demotes() {
			return
		}
		p.Report(Finding{
			Field: "durable_name", Have: p.Live.Config.Durable,
			Message: fmt.Sprintf("durable_name is left out: the durable becomes an ephemeral, and after the next restart it is deleted when nothing pulls for %s, with its position (%s)", Duration(broker.EphemeralThreshold), p.Live.position()),
			Fix:     "declare durable_name: " + p.Live.Config.Durable,
		})
	},
}

var deferredGroup = &Rule{
	Code: "NM216", Severity: Warning,
	Title: "deliver_group changes while members are bound",
	Doc: `The broker accepts another deliver_group and reports it, while the members of the old group
go on receiving until they subscribe anew. New members of the new group get nothing until
then. Drain the old members first.`,
	Consumer: func(p *ConsumerPass) {
		c := p.Stored()
		if p.Live == nil || c == nil || p.Result.Outcome != broker.Update || !p.Live.State.PushBound || p.Live.Config.DeliverGroup == c.DeliverGroup {
			return
		}
		p.Report(Finding{
			Field: "deliver_group", Have: p.Live.Config.DeliverGroup, Want: c.DeliverGroup,
			Message: fmt.Sprintf("deliver_group %s -> %s is accepted, but members of %s keep receiving until they rebind", Show(text(p.Live.Config.DeliverGroup)), Show(text(c.DeliverGroup)), Show(text(p.Live.Config.DeliverGroup))),
			Fix:     "drain the members of the old group first",
		})
	},
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

var starved = &Rule{
	Code: "NM217", Severity: Warning,
	Title: "max_ack_pending keeps pullers waiting",
	Doc: `max_ack_pending counts per consumer, not per process. A value of one, written as if it were
per pod, makes a whole fleet handle one message at a time. In the snapshot everything that may
be outstanding is, pulls are waiting, and messages are pending. Concurrency per process belongs
into the client.`,
	Consumer: func(p *ConsumerPass) {
		if p.Live == nil || p.Live.Bad != nil {
			return
		}
		c, s := p.Live.Config, p.Live.State
		if c.MaxAckPending > 0 && s.NumAckPending >= c.MaxAckPending && s.NumWaiting > 0 && s.NumPending > 0 {
			p.Report(Finding{
				Field: "max_ack_pending", Have: c.MaxAckPending,
				Message: fmt.Sprintf("max_ack_pending is %d for the whole consumer: %d outstanding, %d pulls waiting, %d messages pending", c.MaxAckPending, s.NumAckPending, s.NumWaiting, s.NumPending),
				Fix:     "raise max_ack_pending to at least the workers of all processes together, unless the order matters",
			})
		}
	},
}

var brokenOrder = &Rule{
	Code: "NM221", Severity: Warning,
	Title: "max_ack_pending leaves one, and the order with it",
	Doc: `A consumer with max_ack_pending 1 hands out one message after the other, which is how a lane
keeps its order. Raising it lets later messages overtake an earlier one that fails. If the
order does not matter, this is only more throughput.`,
	Consumer: func(p *ConsumerPass) {
		c := p.Stored()
		if p.Live == nil || c == nil || p.Result.Outcome != broker.Update || p.Live.Config.MaxAckPending != 1 || c.MaxAckPending == 1 {
			return
		}
		p.Report(Finding{
			Field: "max_ack_pending", Have: 1, Want: c.MaxAckPending,
			Message: fmt.Sprintf("max_ack_pending 1 -> %d: messages are no longer handed out one after the other, so a lane that relies on their order breaks", c.MaxAckPending),
			Fix:     "declare max_ack_pending: 1 if the order matters",
		})
	},
}

var loweredMaxDeliver = &Rule{
	Code: "NM218", Severity: Warning,
	Title: "lowering max_deliver gives up messages in flight",
	Doc: `Lowering max_deliver is a mass give-up: every message that has already been delivered that
often is given up at its next deadline. Raising it later does not bring them back. Wait until
nothing is redelivered, or capture them first. What the broker tells is how many messages were
delivered more than once, so the count is exact for a max_deliver of 1 and 2, and a bound above.`,
	Consumer: func(p *ConsumerPass) {
		if !p.givesUp() {
			return
		}
		was, next := p.Live.Config.MaxDeliver, p.Stored().MaxDeliver
		f := Finding{
			Field: "max_deliver", Have: was, Want: next,
			Message: fmt.Sprintf("max_deliver %d -> %d: %s are given up at their next deadline; raising it later does not revive them", was, next, p.countGivenUp()),
			Fix:     "wait until num_redelivered is zero, or capture those messages first",
		}
		if !p.Live.Stated {
			f.Severity = Info
		}
		p.Report(f)
	},
}

// givesUp says whether an update lowers max_deliver to what outstanding messages
// may have reached.
func (p *ConsumerPass) givesUp() bool {
	c := p.Stored()
	if p.Live == nil || c == nil || p.Result.Outcome != broker.Update || c.MaxDeliver <= 0 {
		return false
	}
	was, s := p.Live.Config.MaxDeliver, &p.Live.State
	lowered := was <= 0 || c.MaxDeliver < was
	return lowered && (!p.Live.Stated || s.NumRedelivered > 0 || c.MaxDeliver == 1 && s.NumAckPending > 0)
}

// countGivenUp counts the messages that reached the new max_deliver.
func (p *ConsumerPass) countGivenUp() string {
	s, limit := &p.Live.State, p.Stored().MaxDeliver
	switch {
	case !p.Live.Stated:
		return fmt.Sprintf("messages that reached %d attempts (the snapshot does not tell how many)", limit)
	case limit == 1:
		return fmt.Sprintf("%d messages that reached 1 attempt", s.outstanding())
	case limit == 2:
		return fmt.Sprintf("%d redelivered messages that reached 2 attempts", s.NumRedelivered)
	}
	return fmt.Sprintf("up to %d redelivered messages that reached %d attempts", s.NumRedelivered, limit)
}

var textualCreate = &Rule{
	Code: "NM220", Severity: Info,
	Title: "action=create would refuse what create-or-update accepts",
	Doc: `action=create compares literally: another order of the filters, another zone of a start time
or, on brokers before 2.12, a name that is stored by one API and not by the other are answered
with 10148. Create-or-update accepts them. Clients that "create if missing" use action=create.`,
	Consumer: func(p *ConsumerPass) {
		if p.Live == nil || p.Declaration == nil || p.Result.Outcome != broker.Noop || p.Declaration.Writer == Create || !p.literallyOther() {
			return
		}
		req := *p.Declaration.Request
		req.Action = broker.CreateOnly
		live := &broker.LiveConsumer{Config: p.Live.Config}
		if res := p.Cell.Broker.Consumer(p.brokerStream(), live, &req); res.Error != nil && res.Error.ErrCode == 10148 {
			p.Report(Finding{
				Message: "nothing would change, but a client that creates with action=create is refused (10148): it compares the text",
				Fix:     "use create-or-update, or write the value as the broker stores it",
			})
		}
	},
}

// literallyOther keeps the remark to what people trip over: filters in another
// order or field, a start time in another zone, a name that is not stored.
func (p *ConsumerPass) literallyOther() bool {
	live, sent := p.Live.Config, p.Result.Asked
	return sent != nil && (live.FilterSubject != sent.FilterSubject || !slices.Equal(live.FilterSubjects, sent.FilterSubjects) ||
		live.OptStartTime != nil || live.Name == "")
}

var bindRefused = &Rule{
	Code: "NM215", Severity: Error,
	Title: "the client refuses to bind",
	Doc: `The legacy client compares what the code asks for with the durable that exists and returns an
untyped error for some fields: description, the policies, start position, ack_wait, max_deliver,
rate limit, max_waiting, max_ack_pending, heartbeat, replicas. It does not look at
backoff, filter_subjects, inactive_threshold, headers_only, the request limits or metadata, and
skips what is zero or negative (nats.go js.go:1631, v1.55.0). Before that it wants the subject to be
the durable's filter_subject, and the durable to be one that is pulled from. The subscription
fails at start-up.`,
	Consumer: func(p *ConsumerPass) {
		if p.Live == nil || p.Declaration == nil || p.Declaration.Writer != Bind || p.Declaration.Origin == FromNACK {
			return
		}
		if f, no := p.unfitForBinding(); no {
			p.Report(f)
			return
		}
		for _, f := range p.Entry.Fields {
			if f.Class == Ignored && bindCompares[f.Name] && !unasked(f.Declared) {
				p.Report(Finding{
					Field: f.Name, Have: f.Have, Want: f.Declared,
					Message: fmt.Sprintf("PullSubscribe fails: the configuration requests %s to be %s, but the consumer's value is %s", f.Name, Show(f.Declared), Show(f.Have)),
					Fix:     "declare the live value, or update the durable with CreateOrUpdateConsumer first",
				})
			}
		}
	},
}

// unasked says whether the legacy client takes a value for nothing that was asked
// for: one that is left at zero, or a number below it.
func unasked(v any) bool {
	switch n := v.(type) {
	case nil:
		return true
	case int:
		return n < 0
	case time.Duration:
		return n < 0
	}
	return false
}

// unfitForBinding is what the legacy client refuses before it compares the
// settings (nats.go js.go:1579 processConsInfo, v1.55.0). A declaration that
// leaves the filter out does not tell with which subject the code subscribes.
func (p *ConsumerPass) unfitForBinding() (f Finding, unfit bool) {
	live, d := p.Live.Config, p.Declaration
	filtered := d.declares("filter_subject") || d.declares("filter_subjects")
	switch asks := d.Request.Config.FilterSubject; {
	case filtered && live.FilterSubject != "" && asks != live.FilterSubject:
		return Finding{
			Field: "filter_subject", Have: live.FilterSubject, Want: text(asks),
			Message: fmt.Sprintf("PullSubscribe fails: the subject %s is not the consumer's filter %s", Show(text(asks)), live.FilterSubject),
			Fix:     "declare the live filter, or update the durable with CreateOrUpdateConsumer first",
		}, true
	case live.Push() && !d.Request.Config.Push():
		return Finding{
			Field: "deliver_subject", Have: live.DeliverSubject,
			Message: "PullSubscribe fails: the consumer pushes to " + live.DeliverSubject,
			Fix:     "subscribe to the push consumer, or declare a durable under another name",
		}, true
	}
	return Finding{}, false
}

// bindCompares are the fields that the legacy client's checkConfig looks at. It
// would look at sample_freq, too, and has no option for it.
var bindCompares = map[string]bool{
	"durable_name": true, "description": true, "deliver_policy": true, "opt_start_seq": true, "opt_start_time": true, "ack_policy": true,
	"ack_wait": true, "max_deliver": true, "replay_policy": true, "rate_limit_bps": true,
	"max_waiting": true, "max_ack_pending": true, "flow_control": true, "idle_heartbeat": true, "num_replicas": true,
	"mem_storage": true,
}

var unsent = &Rule{
	Code: "NM222", Severity: Warning,
	Title: "a setting is written down and never sent",
	Doc: `The tool that applies the declaration drops the setting: NACK sends the pinned_client policy
only together with pinnedTtl, so without it the consumer is an ordinary one, the resource is
Ready, and clients that ask with a group fail.`,
	Consumer: func(p *ConsumerPass) {
		if p.Declaration == nil {
			return
		}
		for _, n := range p.Declaration.Notes {
			if n.Unsent {
				p.Report(Finding{Field: n.Field, Message: n.Message, Fix: n.Fix})
			}
		}
	},
}
