package audit

import (
	"encoding/json"
	"time"
)

// SnapshotSchema names the JSON form of a [Snapshot].
const SnapshotSchema = "natsmig.snapshot.v1"

// A Snapshot is what cells reported to be configured, and the consumers' state,
// at one moment. It is a configuration snapshot, not a backup: no message is in
// it. It is lossless: what this version does not know is kept and written back.
type Snapshot struct {
	Schema  string
	TakenAt time.Time
	Cells   []Cell
	extra   members
}

// A Cell is one broker and account, as far as it could be read.
type Cell struct {
	Name          string
	BrokerVersion string          // as the broker reports it; empty: not known
	Cluster       string          // empty: a standalone server
	Domain        string          // JetStream domain; empty: none
	Account       json.RawMessage // the account's JetStream info; empty: not known
	// Complete says that everything was read. Where it is false, Missing says
	// what was not, and why.
	Complete bool
	Missing  []Missing
	Streams  []Stream
	extra    members
}

// Missing is something that a cell did not let be seen.
type Missing struct {
	Stream string `json:"stream,omitempty"` // empty: the streams themselves, or the account
	What   string `json:"what"`             // for example "the list of consumers"
	Reason string `json:"reason"`
	// Asked are the consumers of the stream that were asked for one by one: one of
	// them that is not in the snapshot does not exist.
	Asked []string `json:"asked,omitempty"`
	extra members
}

// A Stream is the API's stream info, and the infos of its consumers.
type Stream struct {
	Created   time.Time
	Config    json.RawMessage // empty: not known
	State     json.RawMessage // empty: not known
	Consumers []Consumer
	name      string // where Config does not tell it
	extra     members
}

// A Consumer is the API's consumer info, as it came.
type Consumer struct {
	raw json.RawMessage
}

// NewConsumer makes a Consumer of the API's consumer info. The bytes are kept.
func NewConsumer(info json.RawMessage) Consumer { return Consumer{info} }

// Raw is the consumer info as the API wrote it.
func (c Consumer) Raw() json.RawMessage { return c.raw }

// StreamState is what natsmig reads of a stream's state.
type StreamState struct {
	Messages  uint64            `json:"messages"`
	Bytes     uint64            `json:"bytes"`
	FirstSeq  uint64            `json:"first_seq"`
	LastSeq   uint64            `json:"last_seq"`
	FirstTime *time.Time        `json:"first_ts"`
	LastTime  *time.Time        `json:"last_ts"`
	Subjects  map[string]uint64 `json:"subjects"` // messages by subject; nil: not asked for
	Consumers int               `json:"consumer_count"`
	// NumSubjects is how many subjects the messages have. Zero: not told.
	NumSubjects uint64 `json:"num_subjects"`
}

// ConsumerState is what natsmig reads of a consumer's state.
type ConsumerState struct {
	Created        time.Time    `json:"created"`
	Delivered      SequenceInfo `json:"delivered"`
	AckFloor       SequenceInfo `json:"ack_floor"`
	NumAckPending  int          `json:"num_ack_pending"`
	NumRedelivered int          `json:"num_redelivered"`
	NumWaiting     int          `json:"num_waiting"`
	NumPending     uint64       `json:"num_pending"`
	PushBound      bool         `json:"push_bound"`
}

// SequenceInfo is a position in a consumer and in its stream.
type SequenceInfo struct {
	Consumer   uint64     `json:"consumer_seq"`
	Stream     uint64     `json:"stream_seq"`
	LastActive *time.Time `json:"last_active"`
}
