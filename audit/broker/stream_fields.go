package broker

import "time"

type streamField = Field[StreamConfig]

// StreamFields lists the fields of a stream in the broker's order.
func StreamFields() []Field[StreamConfig] { return streamFields }

// StreamFieldIndex finds a field by its wire name.
func StreamFieldIndex(name string) (int, bool) {
	i, ok := streamIndex[name]
	return i, ok
}

type sc = StreamConfig

var streamFields = []streamField{
	scalar("name", KindValue, func(c *sc) *string { return &c.Name }),
	scalar("description", KindValue, func(c *sc) *string { return &c.Description }),
	list("subjects", KindValue, func(c *sc) *[]string { return &c.Subjects }),
	scalar("retention", KindValue, func(c *sc) *Retention { return &c.Retention }),
	scalar("max_consumers", KindValue, func(c *sc) *int { return &c.MaxConsumers }),
	scalar("max_msgs", KindValue, func(c *sc) *int64 { return &c.MaxMsgs }),
	scalar("max_bytes", KindBytes, func(c *sc) *int64 { return &c.MaxBytes }),
	scalar("max_age", KindDuration, func(c *sc) *time.Duration { return &c.MaxAge }),
	scalar("max_msgs_per_subject", KindValue, func(c *sc) *int64 { return &c.MaxMsgsPer }),
	scalar("max_msg_size", KindBytes, func(c *sc) *int32 { return &c.MaxMsgSize }),
	scalar("discard", KindValue, func(c *sc) *Discard { return &c.Discard }),
	scalar("storage", KindValue, func(c *sc) *Storage { return &c.Storage }),
	scalar("num_replicas", KindValue, func(c *sc) *int { return &c.Replicas }),
	scalar("no_ack", KindValue, func(c *sc) *bool { return &c.NoAck }),
	scalar("duplicate_window", KindDuration, func(c *sc) *time.Duration { return &c.Duplicates }),
	object("placement", func(c *sc) **Placement { return &c.Placement }),
	object("mirror", func(c *sc) **Source { return &c.Mirror }),
	object("sources", func(c *sc) *[]*Source { return &c.Sources }),
	since(10, scalar("compression", KindValue, func(c *sc) *Compression { return &c.Compression })),
	since(10, scalar("first_seq", KindValue, func(c *sc) *uint64 { return &c.FirstSeq })),
	since(10, object("subject_transform", func(c *sc) **SubjectTransform { return &c.SubjectTransform })),
	object("republish", func(c *sc) **Republish { return &c.Republish }),
	scalar("allow_direct", KindValue, func(c *sc) *bool { return &c.AllowDirect }),
	scalar("mirror_direct", KindValue, func(c *sc) *bool { return &c.MirrorDirect }),
	scalar("discard_new_per_subject", KindValue, func(c *sc) *bool { return &c.DiscardNewPer }),
	scalar("sealed", KindValue, func(c *sc) *bool { return &c.Sealed }),
	scalar("deny_delete", KindValue, func(c *sc) *bool { return &c.DenyDelete }),
	scalar("deny_purge", KindValue, func(c *sc) *bool { return &c.DenyPurge }),
	scalar("allow_rollup_hdrs", KindValue, func(c *sc) *bool { return &c.AllowRollup }),
	since(10, object("consumer_limits", func(c *sc) *ConsumerLimits { return &c.ConsumerLimits })),
	since(11, scalar("allow_msg_ttl", KindValue, func(c *sc) *bool { return &c.AllowMsgTTL })),
	since(11, scalar("subject_delete_marker_ttl", KindDuration, func(c *sc) *time.Duration { return &c.SubjectDeleteMarkerTTL })),
	since(12, scalar("allow_msg_counter", KindValue, func(c *sc) *bool { return &c.AllowMsgCounter })),
	since(12, scalar("allow_atomic", KindValue, func(c *sc) *bool { return &c.AllowAtomicPublish })),
	since(12, scalar("allow_msg_schedules", KindValue, func(c *sc) *bool { return &c.AllowMsgSchedules })),
	since(12, scalar("persist_mode", KindValue, func(c *sc) *PersistMode { return &c.PersistMode })),
	since(14, scalar("allow_batched", KindValue, func(c *sc) *bool { return &c.AllowBatchPublish })),
	since(10, metadata(func(c *sc) *map[string]string { return &c.Metadata })),
}

var streamIndex = index(streamFields)
