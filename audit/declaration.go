package audit

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/timingcontract"
)

// A Declaration is what a team says one stream or one consumer should be, and
// who applies it.
type Declaration struct {
	Stream   string
	Consumer string // empty: the declaration is of the stream itself
	Writer   Writer // empty: replace
	Target   Target
	Origin   Origin

	// Request is the configuration as the writer would send it for a consumer,
	// StreamRequest for a stream; Declared are the fields that somebody chose.
	Request       *broker.ConsumerRequest
	StreamRequest *broker.StreamRequest
	Declared      broker.FieldSet
	// Always are the fields that a merging writer sends even when they are left
	// out, so that they go to their default.
	Always broker.FieldSet

	// LastApplied is the config that the writer applied last, where the
	// declaration carries it. Nil: not known.
	LastApplied       *broker.ConsumerConfig
	LastAppliedStream *broker.StreamConfig

	Handler *timingcontract.Handler // nil: not stated
	Because map[string]string       // the team's reasons, by field

	Position Position            // where the declaration starts
	At       map[string]Position // where each field stands, by wire name
	Notes    []Note              // what the reader has to say
	Ready    bool                // a controller claims to have applied it
}

// A Target says which cell a declaration is for. Empty parts match anything.
type Target struct {
	Cell, Cluster, Domain, Account string
}

// An Origin says what kind of text a declaration was read from.
type Origin string

// The origins.
const (
	FromNatsmig   Origin = "natsmig"
	FromJSON      Origin = "json" // the API's or the CLI's
	FromNACK      Origin = "nack"
	FromTerraform Origin = "terraform"
	FromSnapshot  Origin = "snapshot"
	FromGo        Origin = "go"
)

// A Note is what a reader has to tell about a field: a default of the tool that
// applies the declaration, or a setting that this tool does not send.
type Note struct {
	Field   string
	Message string
	Fix     string
	Value   any  // what the tool fills in; nil when it fills in nothing
	Unsent  bool // the setting is written down and never reaches the broker
}

// Name is what a person calls the declaration's subject.
func (d *Declaration) Name() string {
	if d.Consumer == "" {
		return d.Stream
	}
	return d.Stream + "/" + d.Consumer
}

// PositionOf is where a field stands, or where the declaration starts.
func (d *Declaration) PositionOf(field string) Position {
	if p, ok := d.At[field]; ok {
		return p
	}
	return d.Position
}

// noteOn finds the reader's note on a field.
func (d *Declaration) noteOn(field string) *Note {
	for i := range d.Notes {
		if d.Notes[i].Field == field && !d.Notes[i].Unsent {
			return &d.Notes[i]
		}
	}
	return nil
}

// Declare is a declaration made in Go, of a consumer that
// CreateOrUpdateConsumer would be called with. Fields with zero values are left
// out, as they are on the wire; deliver, ack and replay policy never are.
func Declare(stream string, cfg jetstream.ConsumerConfig, opts ...DeclareOption) (*Declaration, error) {
	raw, err := json.Marshal(cfg)
	if err != nil {
		return nil, fmt.Errorf("declare consumer of %q: %w", stream, err)
	}
	d, err := DeclareConsumer(stream, raw)
	if err != nil {
		return nil, err
	}
	d.Origin = FromGo
	for _, o := range opts {
		o(d)
	}
	return d, nil
}

// A DeclareOption changes a declaration made in Go.
type DeclareOption func(*Declaration)

// WithWriter says who applies the declaration.
func WithWriter(w Writer) DeclareOption { return func(d *Declaration) { d.Writer = w } }

// WithHandler states the timing contract's other half.
func WithHandler(h timingcontract.Handler) DeclareOption {
	return func(d *Declaration) { d.Handler = &h }
}

// DeclareConsumer is a declaration of the API's own configuration JSON, writer
// replace.
func DeclareConsumer(stream string, config json.RawMessage) (*Declaration, error) {
	req, err := broker.ReadConsumerRequest(config)
	if err != nil {
		return nil, fmt.Errorf("consumer of stream %q: %w", stream, err)
	}
	if req.Err != nil {
		readNames(config, map[string]*string{"durable_name": &req.Config.Durable, "name": &req.Config.Name})
	}
	if req.Config.ID() == "" {
		return nil, fmt.Errorf("consumer of stream %q: neither durable_name nor name is set", stream)
	}
	return &Declaration{
		Stream: stream, Consumer: req.Config.ID(), Writer: Replace, Origin: FromJSON,
		Request: req, Declared: req.Fields,
	}, nil
}

// DeclareStream is a declaration of a stream's configuration JSON, writer
// replace.
func DeclareStream(config json.RawMessage) (*Declaration, error) {
	req, err := broker.ReadStreamRequest(config)
	if err != nil {
		return nil, fmt.Errorf("stream: %w", err)
	}
	if req.Err != nil {
		readNames(config, map[string]*string{"name": &req.Config.Name})
	}
	if req.Config.Name == "" {
		return nil, fmt.Errorf("stream: name is not set")
	}
	return &Declaration{
		Stream: req.Config.Name, Writer: Replace, Origin: FromJSON,
		StreamRequest: req, Declared: req.Fields,
	}, nil
}

// readNames reads the members that name a thing from a configuration of which
// another member can not be read: what the broker refuses has a name all the
// same.
func readNames(config json.RawMessage, names map[string]*string) {
	var all members
	if json.Unmarshal(config, &all) != nil {
		return
	}
	for key, to := range names {
		var name string
		if json.Unmarshal(all[key], &name) == nil {
			*to = name
		}
	}
}
