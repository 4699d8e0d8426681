package audit

import (
	"encoding/json"
	"slices"

	"github.com/natsmig/natsmig/audit/broker"
)

// RehearsalSchema names the JSON form of a [Rehearsal].
const RehearsalSchema = "natsmig.rehearsal.v1"

// A Rehearsal is what a real broker did with declarations, beside what the model
// says. Entries are ordered by cell and stream; of a stream they are its own
// declaration, then those of its consumers.
type Rehearsal struct {
	Schema string `json:"schema"`
	// Verdict is fail where model and broker differ, and unknown where something
	// was skipped or not seen.
	Verdict       Verdict          `json:"verdict"`
	BrokerVersion string           `json:"broker_version"` // of the broker that was asked
	Cells         []RehearsedCell  `json:"cells"`
	Entries       []Rehearsed      `json:"entries"`
	Summary       RehearsalSummary `json:"summary"`
}

// A RehearsedCell is how a cell was rebuilt.
type RehearsedCell struct {
	Cell          string   `json:"cell"`
	BrokerVersion string   `json:"broker_version"` // the cell's own
	Servers       int      `json:"servers"`        // that it was rebuilt on: more than one is a cluster
	Complete      bool     `json:"complete"`       // the cell was seen whole
	Notes         []string `json:"notes"`          // what is not as it is live
}

// Rehearsed is what came of one declaration.
type Rehearsed struct {
	Cell     string    `json:"cell"`
	Stream   string    `json:"stream"`
	Consumer string    `json:"consumer,omitempty"` // empty for a stream
	Writer   Writer    `json:"writer"`
	Position *Position `json:"declared_at,omitempty"`

	Model  *Answer `json:"model,omitempty"`  // nil where the model was not asked
	Broker *Answer `json:"broker,omitempty"` // nil where the broker was not asked
	// Agrees says that the two are the same. It is never set on what was skipped.
	Agrees      bool         `json:"agrees"`
	Differences []Difference `json:"differences,omitempty"`
	Skipped     string       `json:"skipped,omitempty"` // why there is no comparison
	Notes       []string     `json:"notes,omitempty"`   // what was rehearsed otherwise than it is
	Effects     []Effect     `json:"effects,omitempty"`
	Evidence    *Evidence    `json:"evidence,omitempty"` // with differences only
}

// Name is what a person calls the entry, as [Entry.Name].
func (r *Rehearsed) Name() string {
	if r.Consumer == "" {
		return r.Stream
	}
	return r.Stream + "/" + r.Consumer
}

// An Answer is what a broker says to a request, or would say.
type Answer struct {
	Outcome broker.Outcome   `json:"outcome"`
	Error   *broker.APIError `json:"error,omitempty"`
	// After is the whole config afterwards, without server-owned metadata; nil
	// after a refusal.
	After any `json:"after,omitempty"`
	// Client is what the client library itself said to a declaration that it
	// would not bind. Empty: nothing.
	Client string `json:"client,omitempty"`
}

// A Difference is one point in which model and broker differ: outcome, error,
// client, an effect's name, or a config's field.
type Difference struct {
	Field  string `json:"field"`
	Model  any    `json:"model"`
	Broker any    `json:"broker"`

	Kind broker.Kind `json:"-"` // how to show the values
}

// An Effect is what a request did to more than the configuration, counted on
// stand-in messages.
type Effect struct {
	Name   string `json:"effect"` // for example "messages deleted"
	Of     uint64 `json:"of"`     // how many messages there were
	Model  uint64 `json:"model"`
	Broker uint64 `json:"broker"`
}

// Evidence is all it takes to see a difference again.
type Evidence struct {
	BrokerVersion string          `json:"broker_version"`
	Servers       int             `json:"servers"`
	Stream        any             `json:"stream,omitempty"` // the config of the consumer's stream
	Live          any             `json:"live,omitempty"`   // what the request met; nil: nothing
	Others        []any           `json:"others,omitempty"` // the stream's other consumers, or the other streams
	Subject       string          `json:"subject"`
	Request       json.RawMessage `json:"request"`
	Model         *Answer         `json:"model"`
	Broker        *Answer         `json:"broker"`
}

// RehearsalSummary counts entries.
type RehearsalSummary struct {
	Entries int `json:"entries"`
	Agree   int `json:"agree"`
	Differ  int `json:"differ"`
	Skipped int `json:"skipped"`
}

// Finish counts the entries and gives the verdict. Without any entry it is
// unknown.
func (r *Rehearsal) Finish() {
	r.count()
	partial := slices.ContainsFunc(r.Cells, func(c RehearsedCell) bool { return !c.Complete })
	switch {
	case r.Summary.Differ > 0:
		r.Verdict = Fail
	case partial || r.Summary.Skipped > 0 || r.Summary.Entries == 0:
		r.Verdict = VerdictUnknown
	default:
		r.Verdict = Pass
	}
}

func (r *Rehearsal) count() {
	r.Summary = RehearsalSummary{Entries: len(r.Entries)}
	for i := range r.Entries {
		switch e := &r.Entries[i]; {
		case e.Skipped != "":
			r.Summary.Skipped++
		case e.Agrees:
			r.Summary.Agree++
		default:
			r.Summary.Differ++
		}
	}
}
