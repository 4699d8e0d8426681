package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/natsmig/natsmig/audit/broker"
)

// A Fleet is a snapshot that has been understood: decoded, indexed, and with
// the assumptions told that had to be made. It does not change.
type Fleet struct {
	TakenAt time.Time
	Cells   []*CellView
}

// A CellView is one cell of a fleet.
type CellView struct {
	Name, Cluster, Domain, Account string
	Broker                         broker.Broker
	Complete                       bool
	Missing                        []Missing
	Streams                        []*StreamView // by name
	// Assumptions are what the snapshot does not tell and the model takes for
	// granted.
	Assumptions []string

	byName  map[string]*StreamView
	configs []*broker.StreamConfig // of the streams
}

// A StreamView is one live stream.
type StreamView struct {
	Name      string
	Config    *broker.StreamConfig // never nil; see Assumed
	Assumed   bool                 // the snapshot has no config: defaults stand in for it
	Unknown   []string             // members of the config that the model does not know
	Created   time.Time
	State     StreamState
	Stated    bool            // the snapshot has a state
	Consumers []*ConsumerView // by name
	Siblings  []broker.Sibling

	byName map[string]*ConsumerView
}

// A ConsumerView is one live consumer.
type ConsumerView struct {
	Name    string
	Config  *broker.ConsumerConfig
	Unknown []string // members of the config that the model does not know
	State   ConsumerState
	Stated  bool  // the snapshot has a state
	Bad     error // the snapshot's config can not be used, and why

	metadata map[string]string // the config's, without the server's own
}

// Stream finds a stream by name, nil when there is none.
func (c *CellView) Stream(name string) *StreamView { return c.byName[name] }

// Consumer finds a consumer by name, nil when there is none.
func (s *StreamView) Consumer(name string) *ConsumerView { return s.byName[name] }

// Index understands a snapshot. Version, unless it is zero, stands in for what
// the cells report. An error means that no cell can be understood; a consumer
// that can not is told in its [ConsumerView].
func Index(s *Snapshot, version broker.Version) (*Fleet, error) {
	f := &Fleet{TakenAt: s.TakenAt}
	for i := range s.Cells {
		c, err := viewCell(&s.Cells[i], version)
		if err != nil {
			return nil, fmt.Errorf("cell %q: %w", s.Cells[i].Name, err)
		}
		f.Cells = append(f.Cells, c)
	}
	slices.SortStableFunc(f.Cells, func(a, b *CellView) int { return cmp.Compare(a.Name, b.Name) })
	return f, nil
}

func viewCell(c *Cell, version broker.Version) (*CellView, error) {
	v := &CellView{
		Name: c.Name, Cluster: c.Cluster, Domain: c.Domain,
		Complete: c.Complete, Missing: c.Missing, byName: map[string]*StreamView{},
	}
	if err := v.setVersion(c.BrokerVersion, version); err != nil {
		return nil, err
	}
	if err := v.setLimits(c.Account); err != nil {
		return nil, err
	}
	for i := range c.Streams {
		s, err := viewStream(&c.Streams[i])
		if err != nil {
			return nil, err
		}
		if s.Assumed {
			v.assume("the snapshot has no config of stream %s: taken to be a limits stream with default settings", s.Name)
		}
		if _, twice := v.byName[s.Name]; twice {
			return nil, fmt.Errorf("stream %q is in the snapshot twice", s.Name)
		}
		v.hold(s)
	}
	slices.SortFunc(v.Streams, func(a, b *StreamView) int { return cmp.Compare(a.Name, b.Name) })
	v.setClustered()
	return v, nil
}

// hold takes a stream into the cell.
func (c *CellView) hold(s *StreamView) {
	c.Streams, c.byName[s.Name], c.configs = append(c.Streams, s), s, append(c.configs, s.Config)
}

// setClustered takes a cell to be clustered when it says so, or when a stream
// has replicas that only a cluster can have.
func (c *CellView) setClustered() {
	c.Broker.Clustered = c.Cluster != ""
	if c.Broker.Clustered {
		return
	}
	if i := slices.IndexFunc(c.Streams, func(s *StreamView) bool { return s.Config.Replicas > 1 }); i >= 0 {
		c.Broker.Clustered = true
		c.assume("the snapshot does not name a cluster: taken to be one, because stream %s has replicas", c.Streams[i].Name)
	}
}

func (c *CellView) assume(format string, args ...any) {
	c.Assumptions = append(c.Assumptions, fmt.Sprintf(format, args...))
}

func (c *CellView) setVersion(reported string, wanted broker.Version) error {
	switch {
	case !wanted.IsZero():
		c.Broker.Version = wanted
	case reported == "":
		c.Broker.Version = broker.Newest
		c.assume("the snapshot does not tell the broker's version: taken to be %s (--broker-version changes that)", broker.Newest)
	default:
		got, err := broker.ParseVersion(reported)
		if err != nil {
			return fmt.Errorf("broker_version: %w", err)
		}
		c.Broker.Version = got
	}
	return nil
}

func viewStream(s *Stream) (*StreamView, error) {
	v := &StreamView{Name: s.Name(), Created: s.Created, byName: map[string]*ConsumerView{}}
	if v.Name == "" {
		return nil, fmt.Errorf("incomplete snapshot: a stream without a name")
	}
	if err := v.setConfig(s.Config); err != nil {
		return nil, fmt.Errorf("stream %q: %w", v.Name, err)
	}
	if len(s.State) > 0 {
		if err := json.Unmarshal(s.State, &v.State); err != nil {
			return nil, fmt.Errorf("stream %q: state: %w", v.Name, err)
		}
		v.Stated = true
	}
	for _, c := range s.Consumers {
		cv := viewConsumer(c)
		if _, twice := v.byName[cv.Name]; twice {
			return nil, fmt.Errorf("stream %q: consumer %q is in the snapshot twice", v.Name, cv.Name)
		}
		v.byName[cv.Name] = cv
		v.Consumers = append(v.Consumers, cv)
		if cv.Bad == nil {
			v.Siblings = append(v.Siblings, broker.Sibling{Name: cv.Name, Config: cv.Config})
		}
	}
	slices.SortFunc(v.Consumers, func(a, b *ConsumerView) int { return cmp.Compare(a.Name, b.Name) })
	return v, nil
}

func (s *StreamView) setConfig(raw json.RawMessage) error {
	if len(raw) == 0 {
		s.Config, s.Assumed = assumedStream(s.Name), true
		return nil
	}
	d, err := broker.DecodeStream(raw)
	if err != nil {
		return err
	}
	if d.Err != nil && len(d.Unknown) == 0 {
		return fmt.Errorf("config: %s", d.Err.Description)
	}
	s.Config, s.Unknown = &d.Config, d.Unknown
	s.Config.Name = s.Name
	s.Config.Replicas = max(s.Config.Replicas, 1)
	return nil
}

func assumedStream(name string) *broker.StreamConfig {
	res := broker.Broker{Version: broker.Newest}.Stream(nil, nil, nil,
		&broker.StreamRequest{Config: broker.StreamConfig{Name: name, Subjects: []string{name}}})
	if res.Stored == nil {
		return &broker.StreamConfig{Name: name, Retention: broker.LimitsRetention, Replicas: 1}
	}
	res.Stored.Subjects = nil
	return res.Stored
}

func viewConsumer(c Consumer) *ConsumerView {
	var head struct {
		Name   string          `json:"name"`
		Config json.RawMessage `json:"config"`
		// Delivered is in every info: where neither it nor another figure is, somebody
		// wrote down a config.
		Delivered *SequenceInfo `json:"delivered"`
		ConsumerState
	}
	if err := json.Unmarshal(c.raw, &head); err != nil {
		return &ConsumerView{Bad: fmt.Errorf("incomplete snapshot: %w", err), Config: &broker.ConsumerConfig{}}
	}
	v := &ConsumerView{Name: head.Name, State: head.ConsumerState, Config: &broker.ConsumerConfig{}}
	v.Stated = head.Delivered != nil || head.ConsumerState != ConsumerState{}
	if head.Delivered != nil {
		v.State.Delivered = *head.Delivered
	}
	if len(head.Config) == 0 {
		v.Bad = fmt.Errorf("incomplete snapshot: no config")
		return v
	}
	d, err := decodeLive(head.Config)
	v.Bad = err
	v.Config, v.Unknown, v.metadata = &d.Config, d.Unknown, broker.UserMetadata(d.Config.Metadata)
	v.Name = cmp.Or(v.Name, d.Config.ID())
	if v.Name == "" {
		v.Bad = cmp.Or(v.Bad, fmt.Errorf("incomplete snapshot: a consumer without a name"))
	}
	return v
}

// decodeLive wants the members that every broker writes: without ack_policy
// every field would read as its default. A file that has it and lacks another
// was written by hand, by somebody who knows.
func decodeLive(raw json.RawMessage) (broker.Decoded[broker.ConsumerConfig], error) {
	d, err := broker.DecodeConsumer(raw)
	if err != nil {
		return d, fmt.Errorf("incomplete snapshot: %w", err)
	}
	if i, _ := broker.ConsumerFieldIndex("ack_policy"); !d.Fields.Has(i) {
		return d, fmt.Errorf("incomplete snapshot: no %s", missingPolicies(d.Fields))
	}
	if d.Err != nil && len(d.Unknown) == 0 {
		return d, fmt.Errorf("config: %s", d.Err.Description)
	}
	return d, nil
}

func missingPolicies(have broker.FieldSet) string {
	var names string
	for _, name := range []string{"ack_policy", "deliver_policy", "replay_policy"} {
		if i, _ := broker.ConsumerFieldIndex(name); have.Has(i) {
			continue
		}
		if names != "" {
			names += ", "
		}
		names += name
	}
	return names
}

// peers are the configs of the cell's other streams.
func (c *CellView) peers(stream string) []*broker.StreamConfig {
	return slices.DeleteFunc(slices.Clone(c.configs), func(s *broker.StreamConfig) bool { return s.Name == stream })
}
