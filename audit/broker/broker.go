package broker

import "time"

// A Broker is what decides besides the request itself: a version, whether a
// cluster's meta leader or a single server answers, and the limits.
type Broker struct {
	Version   Version
	Clustered bool
	Limits    Limits
}

// Limits are those of the server and of the account. Zero means that there is
// none, which is also the servers' default.
type Limits struct {
	MaxAckPending       int           // the server's jetstream limits: max_ack_pending
	MaxRequestBatch     int           // the server's: max_request_batch
	AccountAckPending   int           // the account's: max_ack_pending
	AccountConsumers    int           // the account's: max_consumers; -1 is none too
	AccountStreams      int           // the account's: max_streams; -1 is none too
	DuplicateWindow     time.Duration // the server's: duplicate_window
	AccountMemory       int64         // the account's: bytes of all streams in memory, or NoBytes
	AccountStorage      int64         // the account's: bytes of all streams on disk, or NoBytes
	MaxBytesRequired    bool
	MemoryMaxStreamSize int64
	FileMaxStreamSize   int64
}

// NoBytes is the limit of an account that may not store anything.
const NoBytes = -1

// A Stream is the stream a consumer belongs to, as far as it decides.
type Stream struct {
	Config    *StreamConfig
	Consumers []Sibling // every consumer on it, the one in question included
	// Peers are the account's streams, this one included or not. Only a broker of
	// 2.9 looks at them, and only where the stream has a mirror or sources.
	Peers []*StreamConfig
}

// A Sibling is a consumer of the same stream.
type Sibling struct {
	Name   string
	Config *ConsumerConfig
}

// A LiveConsumer is the consumer that the request would meet.
type LiveConsumer struct {
	Config *ConsumerConfig
	// Bound says that somebody is subscribed to its deliver subject.
	Bound bool
}

// An Action says what a request may do. The zero Action creates or updates.
type Action string

// The actions.
const (
	CreateOrUpdate Action = ""
	CreateOnly     Action = "create"
	UpdateOnly     Action = "update"
)

// A Result is what the broker does with a request.
type Result[C any] struct {
	Outcome Outcome
	Reason  string    // why the outcome is unknown
	Error   *APIError // with outcome reject
	Refused []string  // with outcome reject: the fields at fault, the error's first
	Stored  *C        // what the broker holds afterwards; nil when nothing
	// Asked is the request with the defaults filled in: what would be stored if
	// it were not refused. Nil where the model did not come that far.
	Asked *C
	// Dropped are the fields of the request that this version does not know and
	// drops without a word.
	Dropped []string
}

func reject[C any](live *C, err *APIError, fields ...string) Result[C] {
	return Result[C]{Outcome: Reject, Error: err, Refused: fields, Stored: live}
}

// A refusal is one reason to refuse, and the field to blame.
type refusal struct {
	field string
	err   *APIError
}

func refuse(field string, code, errCode int, description string) *refusal {
	return &refusal{field, &APIError{Code: code, ErrCode: errCode, Description: description}}
}

// unknownLine says why the model cannot answer for a version, or "".
func (b Broker) unknownLine() string {
	if b.Version.Known() {
		return ""
	}
	first, last := Lines()[0], Lines()[len(Lines())-1]
	return "nats-server " + b.Version.String() + " is not a line that the model knows (" +
		first.Line() + " to " + last.Line() + ")"
}
