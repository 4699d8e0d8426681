package timingcontract

import "time"

// Surroundings are what a consumer's stream is, which is not for the consumer's
// team to say: read them from a live stream or a snapshot, since they can
// change behind the team's back. Everything that is zero is not stated, and what
// is not stated is not checked.
type Surroundings struct {
	// MaxAge is the stream's max_age.
	MaxAge time.Duration
	// Retention is the stream's retention: limits, interest or workqueue.
	Retention string
	// Consumers is the number of consumers on the stream, this one included.
	Consumers int
	// DuplicateWindow is the duplicate_window of the stream that the handler
	// publishes to ([Handler.Publishes]).
	DuplicateWindow time.Duration
}

// WorkQueue is the retention of a stream that deletes what is acknowledged.
const WorkQueue = "workqueue"
