package audit

import (
	"time"

	"github.com/natsmig/natsmig/audit/broker"
)

// ReportSchema names the JSON form of a [Report].
const ReportSchema = "natsmig.report.v1"

// A Report is what [Compare] has to say: one entry for each consumer and
// stream, whatever could not be seen, and a verdict. Entries are ordered by
// cell, stream and consumer, and their order is part of the format.
type Report struct {
	Schema    string    `json:"schema"`
	Verdict   Verdict   `json:"verdict"`
	Consumers []Entry   `json:"consumers"`
	Streams   []Entry   `json:"streams"`
	Unknown   []Unknown `json:"unknown"`
	Tool      []Finding `json:"tool"` // about the audit itself: assumptions, excuses
	Summary   Summary   `json:"summary"`
}

// A Verdict sums up a report.
type Verdict string

// The verdicts. A check that could not run is never counted as passed.
const (
	Pass           Verdict = "pass"
	Fail           Verdict = "fail"
	VerdictUnknown Verdict = "unknown"
)

// An Entry is what would become of one consumer or stream in one cell.
type Entry struct {
	Cell          string `json:"cell"`
	Stream        string `json:"stream"`
	Consumer      string `json:"consumer,omitempty"` // empty for a stream
	BrokerVersion string `json:"broker_version"`
	Writer        Writer `json:"writer,omitempty"` // empty where nothing is declared

	Outcome broker.Outcome   `json:"outcome"`
	Reason  string           `json:"reason,omitempty"` // why the outcome is unknown
	Error   *broker.APIError `json:"error,omitempty"`  // with outcome reject only
	// After is the whole config as the broker would hold it afterwards, without
	// server-owned metadata; nil where it would hold none.
	After any `json:"after,omitempty"`

	Fields   []Field           `json:"fields"`             // the fields that have something to tell, in the broker's order
	Envelope *EnvelopeChange   `json:"envelope,omitempty"` // consumers only
	Findings []Finding         `json:"findings"`           // ordered by code, then field
	Position *Position         `json:"declared_at,omitempty"`
	Because  map[string]string `json:"because,omitempty"` // the declaration's own reasons, by field
}

// Name is what a person calls the entry: stream, or stream/consumer.
func (e *Entry) Name() string {
	if e.Consumer == "" {
		return e.Stream
	}
	return e.Stream + "/" + e.Consumer
}

// A Field is one configuration field whose fate is worth telling. Values are
// the API's own: durations are integers in nanoseconds.
type Field struct {
	Name     string `json:"field"`    // wire name
	Have     any    `json:"have"`     // live value; nil when absent
	Declared any    `json:"declared"` // nil when the declaration leaves the field out
	After    any    `json:"after"`    // nil when absent afterwards, or unknown
	// Asked is what the request would have stored, for a field of a refused one.
	Asked any   `json:"asked,omitempty"`
	Class Class `json:"class"`
	// Moved says who left the last common state, where one is at hand.
	Moved Moved       `json:"moved,omitempty"`
	Note  string      `json:"note,omitempty"`
	Kind  broker.Kind `json:"-"` // how to show the values
}

// A Class says what happens to a field.
type Class string

// The classes.
const (
	Same          Class = "same"           // nothing
	ServerDefault Class = "server-default" // left out, and filled in by the server
	Change        Class = "change"         // declared, and stored
	SilentReset   Class = "silent-reset"   // left out, so the live value is overwritten
	Clamp         Class = "clamp"          // declared, and the broker stores something else
	Orphan        Class = "orphan"         // left out, and the live value stays
	Rejected      Class = "reject"         // the request is refused for it
	Ignored       Class = "ignored"        // declared, and not acted on
	Destructive   Class = "destructive"    // stored, and something is lost by it
)

// Moved says who moved a field since the last common state: what the writer
// applied last, or an earlier snapshot.
type Moved string

// Who moved a field. The empty Moved means that no common state is at hand.
const (
	MovedDeclaration Moved = "declaration" // somebody changed the declaration
	MovedBroker      Moved = "broker"      // somebody changed what is live
	MovedBoth        Moved = "both"
)

// EnvelopeChange is the timing of a failing message before and after.
type EnvelopeChange struct {
	Before *EnvelopeView `json:"before,omitempty"` // nil where nothing is live
	After  *EnvelopeView `json:"after,omitempty"`  // nil where nothing would be
}

// EnvelopeView is a timing envelope in the words of the report. Durations are
// written as Go does, counted from the first delivery.
type EnvelopeView struct {
	LastAttempt         string `json:"last_attempt,omitempty"`
	LastAttemptDelivery int    `json:"last_attempt_delivery,omitempty"`
	Capture             string `json:"capture,omitempty"`
	Exhausted           string `json:"exhausted,omitempty"`
	Residency           string `json:"residency,omitempty"` // the longest that a message can stay, budgets included
	Unbounded           bool   `json:"unbounded,omitempty"` // retried for ever: no timings
	Stalled             bool   `json:"stalled,omitempty"`   // a zero rung: never delivered again
}

// A Finding is one thing that a rule says about one place.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Field    string   `json:"field,omitempty"` // wire name
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"`
	Have     any      `json:"have,omitempty"`
	Want     any      `json:"want,omitempty"`
	Position
	// Excused tells why the finding does not count: the reason of an excuse, or
	// that it stands in the baseline. Empty: it counts.
	Excused string `json:"excused,omitempty"`
}

// A Position is a place in a declaration file. The zero Position is nowhere.
type Position struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`   // from 1
	Col  int    `json:"column,omitempty"` // from 1, in characters
}

// Severity orders findings by how much they matter.
type Severity string

// The severities, from the least to the most serious. SeverityOff drops a
// finding; only a policy can give it.
const (
	SeverityOff Severity = "off"
	Info        Severity = "info"
	Warning     Severity = "warning"
	Error       Severity = "error"
)

// An Unknown is something that could not be checked, and why.
type Unknown struct {
	Cell     string `json:"cell"`
	Stream   string `json:"stream,omitempty"`
	Consumer string `json:"consumer,omitempty"`
	Reason   string `json:"reason"`
}

// Summary counts. Excused findings are counted apart.
type Summary struct {
	Cells     int              `json:"cells"`
	Consumers int              `json:"consumers"`
	Streams   int              `json:"streams"`
	Create    int              `json:"create"`
	Noop      int              `json:"noop"`
	Update    int              `json:"update"`
	Reject    int              `json:"reject"`
	Untouched int              `json:"untouched"`
	Unknown   int              `json:"unknown"`
	Findings  map[Severity]int `json:"findings"`
	Excused   int              `json:"excused"`
	TakenAt   *time.Time       `json:"taken_at,omitempty"` // the snapshot's
}
