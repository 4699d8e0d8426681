package broker

import (
	"reflect"
	"slices"
	"strings"
)

// A StreamRequest is what a writer sends.
type StreamRequest struct {
	Config  StreamConfig
	Action  Action // CreateOnly is STREAM.CREATE, anything else create or update
	Err     *APIError
	Bad     string
	Unknown []string
	Fields  FieldSet
}

// Stream says what the broker does with req. Live is nil where the broker has
// no such stream; peers are the account's other streams, consumers those on it.
func (b Broker) Stream(live *StreamConfig, peers []*StreamConfig, consumers []Sibling, req *StreamRequest) Result[StreamConfig] {
	if why := b.unknownLine(); why != "" {
		return Result[StreamConfig]{Outcome: Unknown, Reason: why}
	}
	next := req.Config
	dropped, no := b.acceptStream(&next, req)
	if no == nil && live == nil {
		no = preCreateRefusal(&next)
	}
	if no == nil {
		b.setStreamDefaults(&next, peers)
		no = (&streamRequest{b, &next, peers}).check()
	}
	if no == nil && !b.Clustered && next.Replicas > 1 {
		no = refuse("num_replicas", 500, 10074, "replicas > 1 not supported in non-clustered mode")
	}
	if no != nil {
		res := reject(live, no.err, no.field)
		res.Asked = &next
		return res
	}
	var res Result[StreamConfig]
	if live == nil {
		res = b.createStream(peers, &next)
	} else {
		res = b.updateStream(live, peers, consumers, &next, req.Action)
	}
	res.Dropped, res.Asked = dropped, &next
	return res
}

func (b Broker) acceptStream(next *StreamConfig, req *StreamRequest) ([]string, *refusal) {
	next.fill()
	if next.Compression == NoCompression {
		next.Compression = "" // as if left out, so that an old broker drops nothing
	}
	dropped, no := readAs(b.Version, next, streamFields, reading{req.Err, req.Bad, req.Unknown, req.Fields})
	next.fill()
	return dropped, no
}

func preCreateRefusal(next *StreamConfig) *refusal {
	if next.Sealed {
		return badStream("sealed", "stream configuration for create can not be sealed")
	}
	if next.MirrorDirect && next.Mirror == nil {
		return badStream("mirror_direct", "stream has no mirror but does have mirror direct")
	}
	return nil
}

func (b Broker) createStream(peers []*StreamConfig, next *StreamConfig) Result[StreamConfig] {
	if limit := b.Limits.AccountStreams; limit > 0 && len(peers) >= limit {
		return reject[StreamConfig](nil, &APIError{400, 10027, "maximum number of streams reached"})
	}
	if overlapping(peers, next) {
		return reject[StreamConfig](nil, overlapError(), "subjects")
	}
	return Result[StreamConfig]{Outcome: Create, Stored: next}
}

func overlapError() *APIError {
	return &APIError{400, 10065, "subjects overlap with an existing stream"}
}

func overlapping(peers []*StreamConfig, next *StreamConfig) bool {
	return slices.ContainsFunc(peers, func(p *StreamConfig) bool {
		return slices.ContainsFunc(p.Subjects, func(s string) bool { return overlapsFilter(next.Subjects, s) })
	})
}

func (b Broker) updateStream(live *StreamConfig, peers []*StreamConfig, consumers []Sibling, next *StreamConfig, action Action) Result[StreamConfig] {
	before, after := live.Canonical(), next.Canonical()
	changed := differingStream(&before, &after)
	if action == CreateOnly && len(changed) > 0 {
		return reject(live, &APIError{400, 10058, "stream name already in use with a different configuration"}, changed...)
	}
	if all := streamUpdateRefusals(live, next); len(all) > 0 {
		return reject(live, all[0].err, fieldsOf(all)...)
	}
	next.seal()
	if no := limitsRefusal(live, next, consumers); no != nil {
		return reject(live, no.err, no.field)
	}
	if overlapping(peers, next) {
		return reject(live, overlapError(), "subjects")
	}
	after = next.Canonical()
	if len(differingStream(&before, &after)) == 0 {
		return Result[StreamConfig]{Outcome: Noop, Stored: next}
	}
	return Result[StreamConfig]{Outcome: Update, Stored: next}
}

// streamUpdateRefusals lists what an update may not change, the broker's own
// answer first (stream.go configUpdateCheckLocked of 2.15.3).
func streamUpdateRefusals(live, next *StreamConfig) []*refusal {
	const update = "stream configuration update can not "
	workQueue := live.Retention == WorkQueueRetention || next.Retention == WorkQueueRetention
	rows := []struct {
		bad bool
		no  *refusal
	}{
		{next.Storage != live.Storage, badStream("storage", update+"change storage type")},
		{next.Retention != live.Retention && workQueue, badStream("retention", update+"change retention policy to/from workqueue")},
		{live.Sealed && !next.Sealed, badStream("sealed", update+"unseal a sealed stream")},
		{live.DenyDelete && !next.DenyDelete, badStream("deny_delete", update+"cancel deny message deletes")},
		{live.DenyPurge && !next.DenyPurge, badStream("deny_purge", update+"cancel deny purge")},
		{next.Mirror != nil && !reflect.DeepEqual(next.Mirror, live.Mirror), refuse("mirror", 400, 10055, "stream mirror configuration can not be updated")},
		{live.AllowMsgTTL && !next.AllowMsgTTL, badStream("allow_msg_ttl", "message TTL status can not be disabled")},
		{live.AllowMsgCounter != next.AllowMsgCounter, badStream("allow_msg_counter", update+"change message counter setting")},
		{live.AllowMsgSchedules && !next.AllowMsgSchedules, badStream("allow_msg_schedules", "message schedules can not be disabled")},
		{live.PersistMode != next.PersistMode, badStream("persist_mode", update+"change persist mode")},
	}
	var all []*refusal
	for _, r := range rows {
		if r.bad {
			all = append(all, r.no)
		}
	}
	return all
}

// limitsRefusal refuses new consumer limits that a live consumer exceeds.
func limitsRefusal(live, next *StreamConfig, consumers []Sibling) *refusal {
	was, now := live.ConsumerLimits, next.ConsumerLimits
	threshold := now.InactiveThreshold > 0 && now.InactiveThreshold != was.InactiveThreshold
	pending := now.MaxAckPending > 0 && now.MaxAckPending != was.MaxAckPending
	if !threshold && !pending {
		return nil
	}
	var over []string
	for _, s := range consumers {
		if now.InactiveThreshold > 0 && s.Config.InactiveThreshold > now.InactiveThreshold ||
			now.MaxAckPending > 0 && s.Config.MaxAckPending > now.MaxAckPending {
			over = append(over, s.Name)
		}
	}
	if len(over) == 0 {
		return nil
	}
	slices.Sort(over)
	return refuse("consumer_limits", 500, 10069, "change to limits violates consumers: "+strings.Join(over, ", "))
}

func differingStream(a, b *StreamConfig) []string {
	var names []string
	for i := range streamFields {
		if !streamFields[i].Same(a, b) {
			names = append(names, streamFields[i].Name)
		}
	}
	return names
}
