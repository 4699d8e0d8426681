package broker

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ConsumerConfig is a consumer's configuration as the API has it. The zero
// value of a field means that it is left out, as it does to the broker
// (consumer.go:89 of 2.15.3).
type ConsumerConfig struct {
	Durable         string          `json:"durable_name,omitempty"`
	Name            string          `json:"name,omitempty"`
	Description     string          `json:"description,omitempty"`
	DeliverPolicy   DeliverPolicy   `json:"deliver_policy"`
	OptStartSeq     uint64          `json:"opt_start_seq,omitempty"`
	OptStartTime    *time.Time      `json:"opt_start_time,omitempty"`
	AckPolicy       AckPolicy       `json:"ack_policy"`
	AckWait         time.Duration   `json:"ack_wait,omitempty"`
	MaxDeliver      int             `json:"max_deliver,omitempty"`
	Backoff         []time.Duration `json:"backoff,omitempty"`
	FilterSubject   string          `json:"filter_subject,omitempty"`
	FilterSubjects  []string        `json:"filter_subjects,omitempty"`
	ReplayPolicy    ReplayPolicy    `json:"replay_policy"`
	RateLimit       uint64          `json:"rate_limit_bps,omitempty"` // bits a second
	SampleFrequency string          `json:"sample_freq,omitempty"`
	MaxWaiting      int             `json:"max_waiting,omitempty"`
	MaxAckPending   int             `json:"max_ack_pending,omitempty"`
	FlowControl     bool            `json:"flow_control,omitempty"`
	HeadersOnly     bool            `json:"headers_only,omitempty"`

	MaxBatch   int           `json:"max_batch,omitempty"`
	MaxExpires time.Duration `json:"max_expires,omitempty"`
	MaxBytes   int           `json:"max_bytes,omitempty"`

	DeliverSubject string        `json:"deliver_subject,omitempty"`
	DeliverGroup   string        `json:"deliver_group,omitempty"`
	IdleHeartbeat  time.Duration `json:"idle_heartbeat,omitempty"`

	InactiveThreshold time.Duration `json:"inactive_threshold,omitempty"`
	Replicas          int           `json:"num_replicas"`
	MemStorage        bool          `json:"mem_storage,omitempty"`
	Direct            bool          `json:"direct,omitempty"`
	Sourcing          bool          `json:"sourcing,omitempty"`

	Metadata   map[string]string `json:"metadata,omitempty"`
	PauseUntil *time.Time        `json:"pause_until,omitempty"`

	PriorityGroups  []string       `json:"priority_groups,omitempty"`
	PriorityPolicy  PriorityPolicy `json:"priority_policy,omitempty"`
	PriorityTimeout time.Duration  `json:"priority_timeout,omitempty"`
}

// The policies of a consumer, in their wire names.
type (
	// DeliverPolicy is where a new consumer begins. Empty: all.
	DeliverPolicy string
	// AckPolicy is what has to be acknowledged. Empty: none.
	AckPolicy string
	// ReplayPolicy is how fast stored messages come. Empty: instant.
	ReplayPolicy string
	// PriorityPolicy is how pulls of a group compete. Empty: none.
	PriorityPolicy string
)

// The wire names of the policies.
const (
	DeliverAll             DeliverPolicy = "all"
	DeliverLast            DeliverPolicy = "last"
	DeliverNew             DeliverPolicy = "new"
	DeliverByStartSequence DeliverPolicy = "by_start_sequence"
	DeliverByStartTime     DeliverPolicy = "by_start_time"
	DeliverLastPerSubject  DeliverPolicy = "last_per_subject"

	AckNone        AckPolicy = "none"
	AckAll         AckPolicy = "all"
	AckExplicit    AckPolicy = "explicit"
	AckFlowControl AckPolicy = "flow_control" // from 2.14

	ReplayInstant  ReplayPolicy = "instant"
	ReplayOriginal ReplayPolicy = "original"

	PriorityNone        PriorityPolicy = "none"
	PriorityOverflow    PriorityPolicy = "overflow"
	PriorityPinned      PriorityPolicy = "pinned_client"
	PriorityPrioritized PriorityPolicy = "prioritized" // from 2.12
)

// Names lists the values that a policy can have.
func (DeliverPolicy) Names() []string {
	return []string{"all", "last", "new", "by_start_sequence", "by_start_time", "last_per_subject"}
}

// Names lists the values that a policy can have.
func (AckPolicy) Names() []string { return []string{"none", "all", "explicit", "flow_control"} }

// Names lists the values that a policy can have.
func (ReplayPolicy) Names() []string { return []string{"instant", "original"} }

// Names lists the values that a policy can have.
func (PriorityPolicy) Names() []string {
	return []string{"none", "overflow", "pinned_client", "prioritized"}
}

// UnmarshalJSON implements [json.Unmarshaler]: names are case-sensitive, as the
// broker's are. "undefined" is another word for all (store.go:776 of 2.15.3).
func (p *DeliverPolicy) UnmarshalJSON(b []byte) error {
	if string(b) == `"undefined"` {
		*p = DeliverAll
		return nil
	}
	return unmarshalName(b, p)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *AckPolicy) UnmarshalJSON(b []byte) error { return unmarshalName(b, p) }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *ReplayPolicy) UnmarshalJSON(b []byte) error { return unmarshalName(b, p) }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *PriorityPolicy) UnmarshalJSON(b []byte) error { return unmarshalName(b, p) }

type name interface {
	~string
	Names() []string
}

// unmarshalName compares the JSON literally, as the broker does: null, or a
// letter that is escaped, is no name (store.go:707 of 2.15.3).
func unmarshalName[T name](b []byte, to *T) error {
	s, ok := strings.CutPrefix(string(b), `"`)
	s, end := strings.CutSuffix(s, `"`)
	if !ok || !end || !slices.Contains((*to).Names(), s) {
		return fmt.Errorf("can not unmarshal %q", b)
	}
	*to = T(s)
	return nil
}

// ID is the name the consumer goes by: its durable name, or its name.
func (c *ConsumerConfig) ID() string {
	if c.Durable != "" {
		return c.Durable
	}
	return c.Name
}

// Push says whether the broker sends without being asked.
func (c *ConsumerConfig) Push() bool { return c.DeliverSubject != "" }

// Filters lists the filter subjects, whichever field holds them. None means
// every subject of the stream.
func (c *ConsumerConfig) Filters() []string {
	if c.FilterSubject != "" {
		return []string{c.FilterSubject}
	}
	return c.FilterSubjects
}

// fill gives the policies that are left out their names.
func (c *ConsumerConfig) fill() {
	if c.DeliverPolicy == "" {
		c.DeliverPolicy = DeliverAll
	}
	if c.AckPolicy == "" {
		c.AckPolicy = AckNone
	}
	if c.ReplayPolicy == "" {
		c.ReplayPolicy = ReplayInstant
	}
	if c.PriorityPolicy == PriorityNone {
		c.PriorityPolicy = ""
	}
}

// Canonical returns c in the one form of all those that mean the same to the
// broker of a stream with so many replicas: filters sorted, a list of one in
// filter_subject, replicas that equal the stream's left out, the name equal to
// the durable's, no server-owned metadata. Two configs differ for a person
// exactly when their canonical forms do.
func (c *ConsumerConfig) Canonical(streamReplicas int) ConsumerConfig {
	n := c.form(streamReplicas)
	n.Metadata = UserMetadata(n.Metadata)
	return n
}

// form is the canonical form but for the metadata, which is compared without
// the server's keys anyway.
func (c *ConsumerConfig) form(streamReplicas int) ConsumerConfig {
	n := *c
	n.fill()
	if n.Durable != "" {
		n.Name = n.Durable
	}
	switch fs := n.Filters(); {
	case len(fs) == 1:
		n.FilterSubject, n.FilterSubjects = fs[0], nil
	case len(fs) > 1 && !slices.IsSorted(fs):
		n.FilterSubjects = slices.Sorted(slices.Values(fs))
	}
	if n.Replicas == streamReplicas {
		n.Replicas = 0
	}
	if strings.TrimSuffix(n.SampleFrequency, "%") == "0" {
		n.SampleFrequency = ""
	}
	return n
}

// serverOwned says whether a metadata key is the server's own.
func serverOwned(key string) bool { return strings.HasPrefix(key, "_nats.") }

// UserMetadata returns m without the keys that the server owns (_nats.*), nil
// when nothing is left.
func UserMetadata(m map[string]string) map[string]string {
	var owned int
	for k := range m {
		if serverOwned(k) {
			owned++
		}
	}
	if owned == len(m) {
		return nil
	}
	if owned == 0 {
		return m
	}
	user := make(map[string]string, len(m)-owned)
	for k, v := range m {
		if !serverOwned(k) {
			user[k] = v
		}
	}
	return user
}
