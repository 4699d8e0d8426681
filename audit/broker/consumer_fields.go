package broker

import "time"

type consumerField = Field[ConsumerConfig]

// ConsumerFields lists the fields of a consumer in the broker's order. Since
// tells which line first knew a field: 2.9 has no filter_subjects and no
// metadata, 2.10 no pause and no priority groups.
func ConsumerFields() []Field[ConsumerConfig] { return consumerFields }

// ConsumerFieldIndex finds a field by its wire name.
func ConsumerFieldIndex(name string) (int, bool) {
	i, ok := consumerIndex[name]
	return i, ok
}

type cc = ConsumerConfig

var consumerFields = []consumerField{
	scalar("durable_name", KindValue, func(c *cc) *string { return &c.Durable }),
	scalar("name", KindValue, func(c *cc) *string { return &c.Name }),
	scalar("description", KindValue, func(c *cc) *string { return &c.Description }),
	scalar("deliver_policy", KindValue, func(c *cc) *DeliverPolicy { return &c.DeliverPolicy }),
	scalar("opt_start_seq", KindValue, func(c *cc) *uint64 { return &c.OptStartSeq }),
	instant("opt_start_time", func(c *cc) **time.Time { return &c.OptStartTime }),
	scalar("ack_policy", KindValue, func(c *cc) *AckPolicy { return &c.AckPolicy }),
	scalar("ack_wait", KindDuration, func(c *cc) *time.Duration { return &c.AckWait }),
	scalar("max_deliver", KindValue, func(c *cc) *int { return &c.MaxDeliver }),
	list("backoff", KindDuration, func(c *cc) *[]time.Duration { return &c.Backoff }),
	scalar("filter_subject", KindValue, func(c *cc) *string { return &c.FilterSubject }),
	since(10, list("filter_subjects", KindValue, func(c *cc) *[]string { return &c.FilterSubjects })),
	scalar("replay_policy", KindValue, func(c *cc) *ReplayPolicy { return &c.ReplayPolicy }),
	scalar("rate_limit_bps", KindValue, func(c *cc) *uint64 { return &c.RateLimit }),
	scalar("sample_freq", KindValue, func(c *cc) *string { return &c.SampleFrequency }),
	scalar("max_waiting", KindValue, func(c *cc) *int { return &c.MaxWaiting }),
	scalar("max_ack_pending", KindValue, func(c *cc) *int { return &c.MaxAckPending }),
	scalar("flow_control", KindValue, func(c *cc) *bool { return &c.FlowControl }),
	scalar("headers_only", KindValue, func(c *cc) *bool { return &c.HeadersOnly }),
	scalar("max_batch", KindValue, func(c *cc) *int { return &c.MaxBatch }),
	scalar("max_expires", KindDuration, func(c *cc) *time.Duration { return &c.MaxExpires }),
	scalar("max_bytes", KindBytes, func(c *cc) *int { return &c.MaxBytes }),
	scalar("deliver_subject", KindValue, func(c *cc) *string { return &c.DeliverSubject }),
	scalar("deliver_group", KindValue, func(c *cc) *string { return &c.DeliverGroup }),
	scalar("idle_heartbeat", KindDuration, func(c *cc) *time.Duration { return &c.IdleHeartbeat }),
	scalar("inactive_threshold", KindDuration, func(c *cc) *time.Duration { return &c.InactiveThreshold }),
	always(scalar("num_replicas", KindValue, func(c *cc) *int { return &c.Replicas }), func(c *cc) any { return c.Replicas }),
	scalar("mem_storage", KindValue, func(c *cc) *bool { return &c.MemStorage }),
	scalar("direct", KindValue, func(c *cc) *bool { return &c.Direct }),
	since(14, scalar("sourcing", KindValue, func(c *cc) *bool { return &c.Sourcing })),
	since(10, metadata(func(c *cc) *map[string]string { return &c.Metadata })),
	since(11, instant("pause_until", func(c *cc) **time.Time { return &c.PauseUntil })),
	since(11, list("priority_groups", KindValue, func(c *cc) *[]string { return &c.PriorityGroups })),
	since(11, scalar("priority_policy", KindValue, func(c *cc) *PriorityPolicy { return &c.PriorityPolicy })),
	since(11, scalar("priority_timeout", KindDuration, func(c *cc) *time.Duration { return &c.PriorityTimeout })),
}

var consumerIndex = index(consumerFields)
