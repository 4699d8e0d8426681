package broker

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A streamUpdateCheck is one thing that an update may not change (stream.go:2586
// configUpdateCheckLocked of 2.15.3).
type streamUpdateCheck struct {
	Check
	says string
	bad  func(live, next *StreamConfig) bool
}

const cannot = "stream configuration update can not "

// streamUpdateChecks are in the broker's order. All are 10052.
var streamUpdateChecks = []streamUpdateCheck{
	{check("max_consumers", 0, 12, "stream.go:1867 of 2.11.17").to(&consumersChange), cannot + "change MaxConsumers", func(l, n *sc) bool { return l.MaxConsumers != n.MaxConsumers }},
	{check("storage", 0, 0, "stream.go:2600"), cannot + "change storage type", func(l, n *sc) bool { return l.Storage != n.Storage }},
	{check("retention", 0, 9, "stream.go:1405 of 2.9.25"), cannot + "change retention policy", func(l, n *sc) bool { return l.Retention != n.Retention }},
	{check("retention", 10, 0, "stream.go:2604"), cannot + "change retention policy to/from workqueue", func(l, n *sc) bool {
		return l.Retention != n.Retention && (l.Retention == WorkQueueRetention || n.Retention == WorkQueueRetention)
	}},
	{check("sealed", 0, 0, "stream.go:2610"), cannot + "unseal a sealed stream", func(l, n *sc) bool { return l.Sealed && !n.Sealed }},
	{check("deny_delete", 0, 0, "stream.go:2614"), cannot + "cancel deny message deletes", func(l, n *sc) bool { return l.DenyDelete && !n.DenyDelete }},
	{check("deny_purge", 0, 0, "stream.go:2618"), cannot + "cancel deny purge", func(l, n *sc) bool { return l.DenyPurge && !n.DenyPurge }},
	{check("mirror", 0, 11, "stream.go:1901 of 2.11.17"), "", func(l, n *sc) bool { return !reflect.DeepEqual(n.Mirror, l.Mirror) }},
	{check("mirror", 12, 0, "stream.go:2622"), "", func(l, n *sc) bool { return n.Mirror != nil && !reflect.DeepEqual(n.Mirror, l.Mirror) }},
	{check("republish", 0, 9, "stream.go:1430 of 2.9.25"), cannot + "change RePublish", func(l, n *sc) bool { return !reflect.DeepEqual(n.Republish, l.Republish) }},
	{check("allow_msg_ttl", 11, 0, "stream.go:2638"), "message TTL status can not be disabled", func(l, n *sc) bool { return l.AllowMsgTTL && !n.AllowMsgTTL }},
	{check("allow_msg_counter", 12, 0, "stream.go:2643"), cannot + "change message counter setting", func(l, n *sc) bool { return l.AllowMsgCounter != n.AllowMsgCounter }},
	{check("allow_msg_schedules", 12, 0, "stream.go:2648"), "message schedules can not be disabled", func(l, n *sc) bool { return l.AllowMsgSchedules && !n.AllowMsgSchedules }},
	{check("persist_mode", 12, 0, "stream.go:2653"), cannot + "change persist mode", func(l, n *sc) bool { return l.PersistMode != n.PersistMode }},
}

func (k *streamUpdateCheck) refusal() *refusal {
	if k.About == "mirror" {
		return refuse("mirror", 400, 10055, "stream mirror configuration can not be updated")
	}
	return badStream(k.About, k.says)
}

func (b Broker) updateStream(live *StreamConfig, peers []*StreamConfig, consumers []Sibling, next *StreamConfig) Result[StreamConfig] {
	var all []*refusal
	if no := (&streamRequest{b, next, append(slices.Clip(peers), live)}).check(); no != nil {
		all = append(all, no) // checked again, with what the first time has filled in
	} else {
		all = b.streamUpdateRefusals(live, next)
	}
	b.trimPlacement(next)
	if len(all) == 0 {
		next.seal()
		all = b.updateSteps(live, peers, consumers, next)
		if no := b.sealedRefusal(live, peers, next); no != nil && len(all) == 0 {
			all = []*refusal{no}
		}
	}
	if len(all) > 0 {
		return reject(live, all[0].err, fieldsOf(all)...)
	}
	b.settle(next)
	return Result[StreamConfig]{Outcome: StreamOutcome(live, next), Stored: next}
}

// sealedRefusal is a cluster's: the stream's leader checks what sealing has made of
// the configuration, and discard new does not go with schedules or counters.
func (b Broker) sealedRefusal(live *StreamConfig, peers []*StreamConfig, next *StreamConfig) *refusal {
	if !b.Clustered || !next.Sealed {
		return nil
	}
	sealed := *next
	return (&streamRequest{b, &sealed, append(slices.Clip(peers), live)}).check()
}

// settle is what a cluster loses on the way from its meta leader: the duplicate
// window of a mirror (jetstream.go:3012 of 2.15.3).
func (b Broker) settle(c *StreamConfig) {
	if b.Clustered && c.Mirror != nil {
		c.Duplicates = 0
	}
}

// streamUpdateRefusals lists what an update may not change, the broker's own
// answer first.
func (b Broker) streamUpdateRefusals(live, next *StreamConfig) []*refusal {
	var all []*refusal
	if no := b.replicasRefusal(next); no != nil && b.Version.has(&aloneStays) {
		all = append(all, no)
	}
	for i := range streamUpdateChecks {
		k := &streamUpdateChecks[i]
		if k.holds(b.Version) && k.bad(live, next) {
			all = append(all, k.refusal())
		}
	}
	return all
}

// updateSteps is what comes after (stream.go:2687 and 2750 of 2.15.3); a cluster
// looks at the subjects before the consumers.
func (b Broker) updateSteps(live *StreamConfig, peers []*StreamConfig, consumers []Sibling, next *StreamConfig) []*refusal {
	limits, overlaps := func() *refusal { return b.limitsRefusal(live, next, consumers) }, func() *refusal { return overlapWith(peers, next) }
	steps := []func() *refusal{
		func() *refusal { return b.consumersRefusal(next) },
		func() *refusal { return b.bytesRefusal(live, peers, next) },
	}
	moves := func() *refusal { return b.moveRefusal(live, next) }
	switch {
	case !b.Clustered:
		steps = append(steps, limits, overlaps)
	case b.Version.AtLeast(12):
		steps = append(steps, overlaps, limits, moves)
	default:
		steps = append(steps, overlaps, moves, limits)
	}
	steps = append(steps,
		func() *refusal { return b.newSourcesRefusal(live, next) },
		func() *refusal { return b.rerouteRefusal(live, next) })
	for _, step := range steps {
		if no := step(); no != nil {
			return []*refusal{no}
		}
	}
	return nil
}

// limitsRefusal refuses new consumer limits that a live consumer exceeds. 2.10
// and 2.11 take no limit for a limit of zero, so that taking limits away is
// refused as long as there is a consumer, and leave it to the stream's leader
// (stream.go:1757 of 2.10.27).
func (b Broker) limitsRefusal(live, next *StreamConfig, consumers []Sibling) *refusal {
	was, now := live.ConsumerLimits, next.ConsumerLimits
	strict := !b.Version.has(&zeroLimits)
	limited := func(limit int64) bool { return strict || limit > 0 }
	threshold := limited(int64(now.InactiveThreshold)) && now.InactiveThreshold != was.InactiveThreshold
	pending := limited(int64(now.MaxAckPending)) && now.MaxAckPending != was.MaxAckPending
	if !threshold && !pending {
		return nil
	}
	var over []string
	for _, s := range consumers {
		if limited(int64(now.InactiveThreshold)) && s.Config.InactiveThreshold > now.InactiveThreshold ||
			limited(int64(now.MaxAckPending)) && s.Config.MaxAckPending > now.MaxAckPending {
			over = append(over, s.Name)
		}
	}
	if len(over) == 0 {
		return nil
	}
	slices.Sort(over)
	why := violates + strings.Join(over, ", ")
	if strict {
		return b.notApplied("consumer_limits", why)
	}
	return notUpdated("consumer_limits", why)
}

// notUpdated is the general refusal of an update, 10069.
func notUpdated(field, why string) *refusal { return refuse(field, 500, 10069, why) }

// moves says whether a cluster takes the update for a move to another place, even
// to where the stream is.
func (b Broker) moves(live, next *StreamConfig) bool {
	return b.Clustered && next.Placement != nil && !reflect.DeepEqual(live.Placement, next.Placement)
}

// moveRefusal is the cluster's: another place and another size are two steps
// (jetstream_cluster.go:11796 of 2.15.3).
func (b Broker) moveRefusal(live, next *StreamConfig) *refusal {
	scales := live.Replicas != next.Replicas || live.Retention != next.Retention && b.Version.AtLeast(15)
	if b.moves(live, next) && scales {
		return refuse("placement", 400, 10123, "can not move and scale a stream in a single update")
	}
	return nil
}

// newSourcesRefusal is about the transforms of external sources, which 2.10 and
// 2.11 do not check before. They list the source all the same.
func (b Broker) newSourcesRefusal(live, next *StreamConfig) *refusal {
	if b.Version.has(&sourcesWhole) || !b.Version.AtLeast(10) {
		return nil
	}
	for _, s := range next.Sources {
		if slices.ContainsFunc(live.Sources, func(o *Source) bool { return o.key() == s.key() }) {
			continue
		}
		for _, t := range s.SubjectTransforms {
			if err := b.Version.newTransform(t.Source, t.Destination); err != nil {
				return b.notApplied("sources", fmt.Sprintf("unable to get subject transform for source: %v", err))
			}
		}
	}
	return nil
}

// rerouteRefusal puts the stream's transforms in place (stream.go:2930 of
// 2.15.3).
func (b Broker) rerouteRefusal(live, next *StreamConfig) *refusal {
	if p := next.Republish; p != nil && b.Version.AtLeast(10) {
		if p.Destination == "" {
			p.Destination = ">"
		}
		if err := b.Version.newTransform(p.Source, p.Destination); err != nil {
			return b.notApplied("republish", fmt.Sprintf("stream configuration for republish from '%s' to '%s': %v", p.Source, p.Destination, err))
		}
	}
	if t := next.SubjectTransform; t != nil && !reflect.DeepEqual(t, live.SubjectTransform) {
		if err := b.Version.newTransform(t.Source, t.Destination); err != nil {
			return b.notApplied("subject_transform", fmt.Sprintf("stream configuration for subject transform from '%s' to '%s': %v", t.Source, t.Destination, err))
		}
	}
	return nil
}

// notApplied is the refusal of an update that passed the checks. In a cluster it
// comes from the stream's leader, as the general failure 10051, and the meta
// leader holds the new configuration by then.
func (b Broker) notApplied(field, why string) *refusal {
	if b.Clustered {
		return refuse(field, 500, 10051, why)
	}
	return notUpdated(field, why)
}

// seal is what sealing a stream changes by itself.
func (c *StreamConfig) seal() {
	if c.Sealed {
		c.MaxAge, c.Discard = 0, DiscardNew
		c.DenyDelete, c.DenyPurge, c.AllowRollup = true, true, false
	}
}
