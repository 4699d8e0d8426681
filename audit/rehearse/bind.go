package rehearse

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// bindRefused is the rule that foretells what the legacy client refuses.
const bindRefused = "NM215"

// refusedBinding is what the model says that the legacy client says, or "".
func refusedBinding(e *audit.Entry) string {
	for _, f := range e.Findings {
		if f.Code == bindRefused {
			return f.Message
		}
	}
	return ""
}

// subscribes says whether the writer is the legacy client's PullSubscribe. NACK
// with preventUpdate binds too, and no client is involved; a consumer that is no
// durable, or that pushes, is not bound by PullSubscribe.
func subscribes(d *audit.Declaration) bool {
	return d.Writer == audit.Bind && d.Origin != audit.FromNACK && d.Request.Config.Durable != "" && !d.Request.Config.Push()
}

// subscribe calls PullSubscribe. It is not done where the client has no option for
// what is declared, or refuses to ask the broker: then the request that it would
// send is the question.
func (p *play) subscribe(ctx context.Context, t *turn, got *reply) (done bool, err error) {
	o := optionsOf(t.declaration, t.live)
	if len(o.lacking) > 0 && t.live == nil {
		t.Notes = append(t.Notes, "PullSubscribe has no option for "+strings.Join(o.lacking, ", ")+": sent without the client")
		return false, nil
	}
	js, err := p.nc.JetStream(nats.MaxWait(askTimeout))
	if err != nil {
		return false, fmt.Errorf("use the legacy client: %w", err)
	}
	sub, refusal := js.PullSubscribe(o.subject, t.Consumer, o.opts...)
	if refusal == nil {
		got.leave = func() { _ = sub.Unsubscribe() } // a consumer that it made goes, too
		return true, nil
	}
	if ctx.Err() != nil {
		return false, fmt.Errorf("subscribe to %s: %w", t.Name(), refusal)
	}
	return p.clientRefused(t, refusal, got), nil
}

// clientRefused takes what PullSubscribe said for the broker's answer, for the
// client's own, or for a reason to ask the broker without it.
func (p *play) clientRefused(t *turn, refusal error, got *reply) (done bool) {
	if got.refused = apiError(refusal); got.refused != nil {
		return true
	}
	if t.live != nil {
		got.client = refusal.Error()
		return true
	}
	t.Notes = append(t.Notes, fmt.Sprintf("PullSubscribe refuses by itself (%v): sent without the client", refusal))
	return false
}

// apiError is the broker's part in a client's error, nil where it has none.
func apiError(err error) *broker.APIError {
	var js nats.JetStreamError
	if !errors.As(err, &js) || js.APIError() == nil {
		return nil
	}
	a := js.APIError()
	return &broker.APIError{Code: a.Code, ErrCode: int(a.ErrorCode), Description: a.Description}
}

// bindOptions are a declaration in the words of PullSubscribe. Code that leaves the
// filter out subscribes with the live one.
type bindOptions struct {
	subject string
	opts    []nats.SubOpt
	lacking []string // declared fields without an option
}

func optionsOf(d *audit.Declaration, live *broker.ConsumerConfig) bindOptions {
	c := &d.Request.Config
	o := bindOptions{subject: c.FilterSubject, opts: []nats.SubOpt{nats.BindStream(d.Stream)}}
	if live != nil && len(c.Filters()) == 0 {
		o.subject = live.FilterSubject
	}
	for i, f := range broker.ConsumerFields() {
		if !d.Declared.Has(i) || f.Get(c) == nil || f.Name == "durable_name" || f.Name == "filter_subject" {
			continue
		}
		opt, ok := optionFor(f.Name, c)
		switch {
		case !ok:
			o.lacking = append(o.lacking, f.Name)
		case opt != nil:
			o.opts = append(o.opts, opt)
		}
	}
	o.lacking = append(o.lacking, d.Request.Unknown...)
	return o
}

// optionFor is the option that declares a field, nil where its value is the
// client's zero. It is not there for fields that the client has no option for.
func optionFor(field string, c *broker.ConsumerConfig) (opt nats.SubOpt, ok bool) {
	switch field {
	case "description":
		return nats.Description(c.Description), true
	case "deliver_policy":
		return deliverOption(c), true
	case "opt_start_seq", "opt_start_time":
		return nil, true // deliver_policy has it
	case "ack_policy":
		return ackOption(c.AckPolicy)
	case "ack_wait":
		return nats.AckWait(c.AckWait), true
	case "max_deliver":
		return nats.MaxDeliver(c.MaxDeliver), true
	case "backoff":
		return nats.BackOff(c.Backoff), true
	case "filter_subjects":
		return nats.ConsumerFilterSubjects(c.FilterSubjects...), true
	case "replay_policy":
		return replayOption(c.ReplayPolicy), true
	case "rate_limit_bps":
		return nats.RateLimit(c.RateLimit), true
	case "max_waiting":
		return nats.PullMaxWaiting(c.MaxWaiting), true
	case "max_ack_pending":
		return nats.MaxAckPending(c.MaxAckPending), true
	case "idle_heartbeat":
		return nats.IdleHeartbeat(c.IdleHeartbeat), true
	case "flow_control":
		return when(c.FlowControl, nats.EnableFlowControl()), true
	case "headers_only":
		return when(c.HeadersOnly, nats.HeadersOnly()), true
	case "max_batch":
		return nats.MaxRequestBatch(c.MaxBatch), true
	case "max_expires":
		return nats.MaxRequestExpires(c.MaxExpires), true
	case "max_bytes":
		return nats.MaxRequestMaxBytes(c.MaxBytes), true
	case "inactive_threshold":
		return nats.InactiveThreshold(c.InactiveThreshold), true
	case "num_replicas":
		return when(c.Replicas > 0, nats.ConsumerReplicas(c.Replicas)), true
	case "mem_storage":
		return when(c.MemStorage, nats.ConsumerMemoryStorage()), true
	}
	return nil, false
}

func when(set bool, opt nats.SubOpt) nats.SubOpt {
	if set {
		return opt
	}
	return nil
}

func deliverOption(c *broker.ConsumerConfig) nats.SubOpt {
	switch c.DeliverPolicy {
	case broker.DeliverLast:
		return nats.DeliverLast()
	case broker.DeliverNew:
		return nats.DeliverNew()
	case broker.DeliverLastPerSubject:
		return nats.DeliverLastPerSubject()
	case broker.DeliverByStartSequence:
		return nats.StartSequence(c.OptStartSeq)
	case broker.DeliverByStartTime:
		if c.OptStartTime != nil {
			return nats.StartTime(*c.OptStartTime)
		}
	case broker.DeliverAll:
	}
	return nats.DeliverAll()
}

func ackOption(p broker.AckPolicy) (nats.SubOpt, bool) {
	switch p {
	case broker.AckAll:
		return nats.AckAll(), true
	case broker.AckExplicit:
		return nats.AckExplicit(), true
	case broker.AckNone:
		return nats.AckNone(), true
	case broker.AckFlowControl:
	}
	return nil, false
}

func replayOption(p broker.ReplayPolicy) nats.SubOpt {
	if p == broker.ReplayOriginal {
		return nats.ReplayOriginal()
	}
	return nats.ReplayInstant()
}
