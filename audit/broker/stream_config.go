package broker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// StreamConfig is a stream's configuration as the API has it (stream.go of
// 2.15.3). The zero value of a field means that it is left out.
type StreamConfig struct {
	Name         string        `json:"name"`
	Description  string        `json:"description,omitempty"`
	Subjects     []string      `json:"subjects,omitempty"`
	Retention    Retention     `json:"retention"`
	MaxConsumers int           `json:"max_consumers"`
	MaxMsgs      int64         `json:"max_msgs"`
	MaxBytes     int64         `json:"max_bytes"`
	MaxAge       time.Duration `json:"max_age"`
	MaxMsgsPer   int64         `json:"max_msgs_per_subject"`
	MaxMsgSize   int32         `json:"max_msg_size,omitempty"`
	Discard      Discard       `json:"discard"`
	Storage      Storage       `json:"storage"`
	Replicas     int           `json:"num_replicas"`
	NoAck        bool          `json:"no_ack,omitempty"`
	Duplicates   time.Duration `json:"duplicate_window,omitempty"`
	Placement    *Placement    `json:"placement,omitempty"`
	Mirror       *Source       `json:"mirror,omitempty"`
	Sources      []*Source     `json:"sources,omitempty"`
	Compression  Compression   `json:"compression"`
	FirstSeq     uint64        `json:"first_seq,omitempty"`

	SubjectTransform *SubjectTransform `json:"subject_transform,omitempty"`
	Republish        *Republish        `json:"republish,omitempty"`
	AllowDirect      bool              `json:"allow_direct"`
	MirrorDirect     bool              `json:"mirror_direct"`
	DiscardNewPer    bool              `json:"discard_new_per_subject,omitempty"`
	Sealed           bool              `json:"sealed"`
	DenyDelete       bool              `json:"deny_delete"`
	DenyPurge        bool              `json:"deny_purge"`
	AllowRollup      bool              `json:"allow_rollup_hdrs"`
	ConsumerLimits   ConsumerLimits    `json:"consumer_limits"`

	AllowMsgTTL            bool              `json:"allow_msg_ttl"`
	SubjectDeleteMarkerTTL time.Duration     `json:"subject_delete_marker_ttl,omitempty"`
	AllowMsgCounter        bool              `json:"allow_msg_counter,omitempty"`
	AllowAtomicPublish     bool              `json:"allow_atomic,omitempty"`
	AllowMsgSchedules      bool              `json:"allow_msg_schedules,omitempty"`
	PersistMode            PersistMode       `json:"persist_mode,omitempty"`
	AllowBatchPublish      bool              `json:"allow_batched,omitempty"`
	Metadata               map[string]string `json:"metadata,omitempty"`
}

// The policies of a stream, in their wire names.
type (
	// Retention is what makes a message go. Empty: limits.
	Retention string
	// Discard is what gives way when a limit is reached. Empty: old.
	Discard string
	// Storage is where messages are kept. Empty: file.
	Storage string
	// Compression is that of a file store. Empty: none.
	Compression string
	// PersistMode is when a write is on disk. Empty: default.
	PersistMode string
)

// The wire names of the policies.
const (
	LimitsRetention    Retention = "limits"
	InterestRetention  Retention = "interest"
	WorkQueueRetention Retention = "workqueue"

	DiscardOld Discard = "old"
	DiscardNew Discard = "new"

	FileStorage   Storage = "file"
	MemoryStorage Storage = "memory"

	NoCompression Compression = "none"
	S2            Compression = "s2"

	AsyncPersist PersistMode = "async"
)

// Names lists the values that a policy can have.
func (Retention) Names() []string { return []string{"limits", "interest", "workqueue"} }

// Names lists the values that a policy can have.
func (Discard) Names() []string { return []string{"old", "new"} }

// Names lists the values that a policy can have.
func (Storage) Names() []string { return []string{"file", "memory"} }

// Names lists the values that a policy can have.
func (Compression) Names() []string { return []string{"none", "s2"} }

// Names lists the values that a policy can have.
func (PersistMode) Names() []string { return []string{"default", "async"} }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Retention) UnmarshalJSON(b []byte) error { return unmarshalName(b, p) }

// UnmarshalJSON implements [json.Unmarshaler]: this policy alone may be in any
// case (store.go:622 of 2.15.3).
func (p *Discard) UnmarshalJSON(b []byte) error { return unmarshalName(bytes.ToLower(b), p) }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Storage) UnmarshalJSON(b []byte) error { return unmarshalName(b, p) }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Compression) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil || !slices.Contains(p.Names(), s) {
		return errors.New("unknown compression algorithm")
	}
	*p = Compression(s)
	return nil
}

// UnmarshalJSON implements [json.Unmarshaler]: the empty name is the default.
func (p *PersistMode) UnmarshalJSON(b []byte) error {
	if string(b) == `""` {
		*p = ""
		return nil
	}
	return unmarshalName(b, p)
}

// Placement says where a stream's replicas may live.
type Placement struct {
	Cluster   string   `json:"cluster,omitempty"`
	Tags      []string `json:"tags,omitempty"`
	Preferred string   `json:"preferred,omitempty"`
}

// A Source is a stream that a mirror or a source reads.
type Source struct {
	Name              string             `json:"name"`
	OptStartSeq       uint64             `json:"opt_start_seq,omitempty"`
	OptStartTime      *time.Time         `json:"opt_start_time,omitempty"`
	FilterSubject     string             `json:"filter_subject,omitempty"`
	SubjectTransforms []SubjectTransform `json:"subject_transforms,omitempty"`
	External          *External          `json:"external,omitempty"`
	Consumer          *SourceConsumer    `json:"consumer,omitempty"` // from 2.14
}

// External says how to reach a stream in another domain or account.
type External struct {
	APIPrefix     string `json:"api"`
	DeliverPrefix string `json:"deliver"`
}

// A SourceConsumer is the durable that a source reads with.
type SourceConsumer struct {
	Name           string `json:"name,omitempty"`
	DeliverSubject string `json:"deliver_subject,omitempty"`
}

// A SubjectTransform maps subjects.
type SubjectTransform struct {
	Source      string `json:"src"`
	Destination string `json:"dest"`
}

// Republish sends stored messages on under another subject.
type Republish struct {
	Source      string `json:"src,omitempty"`
	Destination string `json:"dest"`
	HeadersOnly bool   `json:"headers_only,omitempty"`
}

// ConsumerLimits bounds the stream's consumers, and fills what they leave out.
type ConsumerLimits struct {
	InactiveThreshold time.Duration `json:"inactive_threshold,omitempty"`
	MaxAckPending     int           `json:"max_ack_pending,omitempty"`
}

// fill gives the policies that are left out their names.
func (c *StreamConfig) fill() {
	c.Retention = cmp.Or(c.Retention, LimitsRetention)
	c.Discard = cmp.Or(c.Discard, DiscardOld)
	c.Storage = cmp.Or(c.Storage, FileStorage)
	c.Compression = cmp.Or(c.Compression, NoCompression)
	if c.PersistMode == "default" {
		c.PersistMode = ""
	}
}

// Canonical returns c in the one form of all those that mean the same: subjects
// and sources sorted, no server-owned metadata.
func (c *StreamConfig) Canonical() StreamConfig {
	n := *c
	n.fill()
	if !slices.IsSorted(n.Subjects) {
		n.Subjects = slices.Sorted(slices.Values(n.Subjects))
	}
	n.Sources = slices.SortedFunc(slices.Values(n.Sources), compareSources)
	if n.Placement != nil && n.Placement.Cluster == "" && len(n.Placement.Tags) == 0 && n.Placement.Preferred == "" {
		n.Placement = nil
	}
	n.Metadata = UserMetadata(n.Metadata)
	return n
}

func compareSources(a, b *Source) int { return strings.Compare(a.key(), b.key()) }

// key tells sources apart as the broker does (stream.go:1230 composeIName of
// 2.15.3): no filter, no source and no destination are all ">".
func (s *Source) key() string {
	if s == nil {
		return ""
	}
	k := s.place()
	if s.Consumer != nil {
		k += ":C=" + s.Consumer.Name
	}
	if len(s.SubjectTransforms) == 0 {
		return k + " " + cmp.Or(s.FilterSubject, ">") + " >"
	}
	var from, to []string
	for _, t := range s.SubjectTransforms {
		from, to = append(from, cmp.Or(t.Source, ">")), append(to, cmp.Or(t.Destination, ">"))
	}
	return k + " " + strings.Join(from, "\f") + " " + strings.Join(to, "\f")
}

// consumerKey is the durable that the source reads with, and where.
func (s *Source) consumerKey() string { return s.place() + " " + s.Consumer.Name }

func (s *Source) place() string {
	if s.External == nil {
		return s.Name
	}
	return s.Name + ":" + s.External.APIPrefix
}

// Draws says whether messages can reach the stream by another way than its own
// subjects, so that the subjects do not tell what it holds.
func (c *StreamConfig) Draws() bool {
	return c.Mirror != nil || len(c.Sources) > 0 || c.SubjectTransform != nil
}
