package broker

import "time"

// The defaults of a consumer (consumer.go:602 of 2.15.3).
const (
	DefaultAckWait         = 30 * time.Second
	DefaultMaxAckPending   = 1000
	DefaultMaxWaiting      = 512
	DefaultPriorityTimeout = 2 * time.Minute
	EphemeralThreshold     = 5 * time.Second

	flowControlHeartbeat = time.Second
)

// setConsumerDefaults fills what c leaves out, in the server's order
// (consumer.go:616 of 2.15.3; the two steps that are keyed by version were
// compared with 2.9.25 to 2.14.10).
func (b Broker) setConsumerDefaults(c *ConsumerConfig, stream *StreamConfig) {
	c.fill()
	b.clampNegatives(c)
	if !c.Push() && c.MaxWaiting == 0 {
		c.MaxWaiting = DefaultMaxWaiting
	}
	if c.AckWait == 0 && (c.AckPolicy == AckExplicit || c.AckPolicy == AckAll) {
		c.AckWait = DefaultAckWait
	}
	if len(c.Backoff) > 0 {
		c.AckWait = c.Backoff[0]
	}
	if b.Version.has(&limitsFill) {
		if c.MaxAckPending == 0 {
			c.MaxAckPending = stream.ConsumerLimits.MaxAckPending
		}
		if c.InactiveThreshold == 0 {
			c.InactiveThreshold = stream.ConsumerLimits.InactiveThreshold
		}
	}
	if c.MaxAckPending == 0 && c.AckPolicy != AckNone {
		c.MaxAckPending = b.defaultAckPending()
	}
	if !c.Push() && c.MaxBatch == 0 && b.Limits.MaxRequestBatch > 0 {
		c.MaxBatch = b.Limits.MaxRequestBatch
	}
	if c.PriorityPolicy == PriorityPinned && c.PriorityTimeout == 0 {
		c.PriorityTimeout = DefaultPriorityTimeout
	}
	if c.AckPolicy == AckFlowControl {
		c.FlowControl, c.IdleHeartbeat = true, flowControlHeartbeat
	}
}

// setClusterDefaults is what a meta leader fills in after the checks: an ack_wait
// that a ladder's first step of zero has unset (jetstream_cluster.go:13037 of
// 2.15.3). A new consumer loses it again to the ladder, an updated one keeps it.
func (b Broker) setClusterDefaults(c *ConsumerConfig) {
	if b.Clustered && c.AckWait == 0 && (c.AckPolicy == AckExplicit || c.AckPolicy == AckAll) {
		c.AckWait = DefaultAckWait
	}
}

// clampNegatives puts values below their floor back to it. Before 2.12 only
// max_deliver 0 is touched; the others are stored as they are or refused.
func (b Broker) clampNegatives(c *ConsumerConfig) {
	if c.MaxDeliver == 0 || c.MaxDeliver < -1 && b.Version.AtLeast(12) {
		c.MaxDeliver = -1
	}
	if !b.Version.AtLeast(12) {
		return
	}
	c.MaxWaiting = max(c.MaxWaiting, 0)
	c.MaxAckPending = max(c.MaxAckPending, -1)
	c.MaxBatch = max(c.MaxBatch, 0)
	c.MaxExpires = max(c.MaxExpires, 0)
	c.MaxBytes = max(c.MaxBytes, 0)
	c.IdleHeartbeat = max(c.IdleHeartbeat, 0)
	c.InactiveThreshold = max(c.InactiveThreshold, 0)
	c.PriorityTimeout = max(c.PriorityTimeout, 0)
}

// defaultAckPending is 1000, lowered by the server's and the account's limit.
func (b Broker) defaultAckPending() int {
	n := DefaultMaxAckPending
	for _, limit := range []int{b.Limits.MaxAckPending, b.Limits.AccountAckPending} {
		if limit > 0 {
			n = min(n, limit)
		}
	}
	return n
}
