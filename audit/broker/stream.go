package broker

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A StreamRequest is what a writer sends.
type StreamRequest struct {
	Config StreamConfig
	// Action CreateOnly is STREAM.CREATE, UpdateOnly STREAM.UPDATE; anything
	// else is the one of them that fits.
	Action  Action
	Err     *APIError
	Bad     string
	Unknown []string
	Fields  FieldSet        // see [ConsumerRequest]
	Inner   []string        // see [Decoded]
	Raw     json.RawMessage // see [ConsumerRequest]
}

// names says whether the request has the field.
func (req *StreamRequest) names(field string) bool {
	i := streamIndex[field]
	if req.Fields != 0 {
		return req.Fields.Has(i)
	}
	return !streamFields[i].Same(&req.Config, &StreamConfig{})
}

// Stream says what the broker does with req. Live is nil where the broker has
// no such stream; peers are the account's other streams, consumers those on it.
func (b Broker) Stream(live *StreamConfig, peers []*StreamConfig, consumers []Sibling, req *StreamRequest) Result[StreamConfig] {
	if why := b.unknownLine(); why != "" {
		return Result[StreamConfig]{Outcome: Unknown, Reason: why}
	}
	next := req.Config
	create := req.creates(live != nil)
	dropped, no := b.acceptStream(&next, req)
	if no == nil && create {
		no = b.preCreateRefusal(live, peers, &next)
		if no == nil && !b.Clustered && req.names("storage") {
			no = b.bytesRefusal(nil, peers, &next) // a default storage is not known yet
		}
	}
	if no == nil {
		all := peers
		if live != nil {
			all = append(slices.Clip(peers), live)
		}
		no = (&streamRequest{b, &next, all}).check()
	}
	if why := b.unsure(live, &next, create, no == nil); why != "" {
		return Result[StreamConfig]{Outcome: Unknown, Reason: why}
	}
	var res Result[StreamConfig]
	switch {
	case no != nil:
		res = reject(live, no.err, no.field)
	case create:
		res = b.createStream(live, peers, &next)
	case live == nil:
		res = reject(live, &APIError{404, 10059, "stream not found"})
	default:
		res = b.updateStream(live, peers, consumers, &next)
	}
	res.Dropped, res.Asked = dropped, &next
	return res
}

func (b Broker) acceptStream(next *StreamConfig, req *StreamRequest) ([]string, *refusal) {
	next.fill()
	if next.Compression == NoCompression {
		next.Compression = "" // as if left out, so that an old broker drops nothing
	}
	dropped, no := readAs(b.Version, next, streamFields, reading{req.Err, req.Bad, req.Unknown, req.Fields})
	if no == nil {
		var inner []string
		inner, no = b.Version.dropInner(next, req.Inner)
		dropped = append(dropped, inner...)
	}
	next.fill()
	return dropped, no
}

// preCreateRefusal is what STREAM.CREATE refuses before it looks at the whole
// (jetstream_api.go:1595 of 2.15.3).
func (b Broker) preCreateRefusal(live *StreamConfig, peers []*StreamConfig, next *StreamConfig) *refusal {
	switch {
	case strings.ContainsAny(next.Name, `\/`):
		return refuse("name", 400, 10128, "Stream name can not contain path separators")
	case next.Sealed:
		return badStream("sealed", "stream configuration for create can not be sealed")
	case next.MirrorDirect && next.Mirror == nil:
		return badStream("mirror_direct", "stream has no mirror but does have mirror direct")
	case b.Clustered:
		return nil
	}
	return b.accountRefusal(live, peers, next)
}

// accountRefusal is about the account's limits on streams and consumers. On
// older brokers a stream that is there already counts against itself.
func (b Broker) accountRefusal(live *StreamConfig, peers []*StreamConfig, next *StreamConfig) *refusal {
	count := len(peers)
	if live != nil && !b.Version.has(&othersCount) {
		count++
	}
	if limit := b.Limits.AccountStreams; limit > 0 && count >= limit {
		return refuse("", 400, 10027, "maximum number of streams reached")
	}
	return b.consumersRefusal(next)
}

func (b Broker) consumersRefusal(next *StreamConfig) *refusal {
	if limit := b.Limits.AccountConsumers; limit > 0 && next.MaxConsumers > limit {
		return refuse("max_consumers", 400, 10026, "maximum consumers limit reached")
	}
	return nil
}

func (b Broker) replicasRefusal(next *StreamConfig) *refusal {
	if !b.Clustered && next.Replicas > 1 {
		return refuse("num_replicas", 500, 10074, "replicas > 1 not supported in non-clustered mode")
	}
	return nil
}

// createStream is what comes after the checks (stream.go:870 of 2.15.3, and
// jetstream_cluster.go:11519 in a cluster).
func (b Broker) createStream(live *StreamConfig, peers []*StreamConfig, next *StreamConfig) Result[StreamConfig] {
	had := next.Placement
	b.trimPlacement(next)
	if no := b.replicasRefusal(next); no != nil {
		return reject(live, no.err, no.field)
	}
	if live != nil {
		dropped := had != nil && next.Placement == nil // by the stream's leader, not by the one that compares
		if dropped || b.streamTextDiffers(live, next) {
			return reject(live, &APIError{400, 10058, "stream name already in use with a different configuration"}, differingStream(live, next)...)
		}
		return Result[StreamConfig]{Outcome: Noop, Stored: live}
	}
	draws, overlaps := func() *refusal { return b.drawRefusal(next) }, func() *refusal { return overlapWith(peers, next) }
	account, bytes := func() *refusal { return b.accountRefusal(nil, peers, next) }, func() *refusal { return b.bytesRefusal(nil, peers, next) }
	checks := []func() *refusal{bytes, draws, overlaps}
	if b.Clustered { // the meta leader looks at the subjects and limits, the stream's leader at the rest
		checks = []func() *refusal{overlaps, account, bytes, draws}
	}
	checks = append(checks, func() *refusal { return b.routeRefusal(next) })
	for _, check := range checks {
		if no := check(); no != nil {
			return reject[StreamConfig](nil, no.err, no.field)
		}
	}
	b.settle(next)
	return Result[StreamConfig]{Outcome: Create, Stored: next}
}

// streamTextDiffers compares as STREAM.CREATE does on a stream that is there:
// literally, so that the order of subjects and sources counts. A single server of
// 2.9 never takes sources for the same.
func (b Broker) streamTextDiffers(live, next *StreamConfig) bool {
	was, is := live.Metadata, next.Metadata
	emptied := emptyList(next.Subjects) || emptyList(next.Sources)
	if !b.Version.AtLeast(10) && !b.Clustered && slices.ContainsFunc(next.Sources, func(s *Source) bool { return s != nil && (s.Name != "" || s.External != nil) }) {
		return true // the broker keeps a key of its own in them (stream.go:601 of 2.9.25)
	}
	if b.Version.AtLeast(11) {
		was, is = written(was), written(is)
	} else {
		emptied = emptied || is != nil && len(is) == 0
	}
	return emptied || !maps.Equal(was, is) || len(differingStream(live, next)) > 0
}

func overlapWith(peers []*StreamConfig, next *StreamConfig) *refusal {
	for _, p := range peers {
		for _, s := range p.Subjects {
			if slices.ContainsFunc(next.Subjects, func(t string) bool { return SubjectsCollide(t, s) }) {
				return refuse("subjects", 400, 10065, "subjects overlap with an existing stream")
			}
		}
	}
	return nil
}

func differingStream(a, b *StreamConfig) []string { return namesOf(Differing(streamFields, a, b)) }
