package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// page is one page of a listing.
type page struct {
	Total     int               `json:"total"`
	Offset    int               `json:"offset"`
	Limit     int               `json:"limit"`
	Streams   []json.RawMessage `json:"streams"`
	Consumers []json.RawMessage `json:"consumers"`
	Missing   []string          `json:"missing"` // in a cluster: did not answer in time
	Offline   map[string]string `json:"offline"`
}

// next lists the offsets of the pages behind the first.
func (p *page) next(got int) []int {
	var offsets []int
	for at := got; got > 0 && at < p.Total; at += got {
		offsets = append(offsets, at)
	}
	return offsets
}

type offsetRequest struct {
	Offset int `json:"offset"`
}

// streams lists the streams; where that is denied it asks for their names, and
// where that is denied too, for the ones that are known.
func (t *taker) streams(ctx context.Context) {
	first, err := t.page(ctx, "STREAM.LIST", 0)
	if errors.Is(err, errDenied) {
		t.streamsByName(ctx)
		return
	}
	if err != nil {
		t.missing("", "the list of streams", err)
		return
	}
	t.addStreams(first)
	for _, offset := range first.next(len(first.Streams)) {
		p, err := t.page(ctx, "STREAM.LIST", offset)
		if err != nil {
			t.missing("", "a part of the list of streams", err)
			return
		}
		t.addStreams(p)
	}
}

func (t *taker) page(ctx context.Context, subject string, offset int) (*page, error) {
	raw, err := t.api.ask(ctx, subject, offsetRequest{offset})
	if err != nil {
		return nil, err
	}
	var p page
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", subject, err)
	}
	return &p, nil
}

func (t *taker) addStreams(p *page) {
	for _, raw := range p.Streams {
		t.addStream(raw)
	}
	for _, name := range p.Missing {
		t.missing(name, "stream "+name, errors.New("it did not answer in time"))
	}
	for name, why := range p.Offline {
		t.missing(name, "stream "+name, errors.New("it is offline: "+why))
	}
}

func (t *taker) addStream(raw json.RawMessage) {
	var s struct {
		Created time.Time       `json:"created"`
		Config  json.RawMessage `json:"config"`
		State   json.RawMessage `json:"state"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.missing("", "a stream", err)
		return
	}
	t.cell.Streams = append(t.cell.Streams, Stream{Created: s.Created, Config: s.Config, State: s.State})
}

func (t *taker) streamsByName(ctx context.Context) {
	names, err := t.names(ctx, "STREAM.NAMES", "streams")
	if err != nil {
		names = slices.Sorted(maps.Keys(t.o.Known))
		t.missing("", "the list of streams", fmt.Errorf("%w; only the %d that the declarations name were looked at", err, len(names)))
	}
	for _, name := range names {
		raw, err := t.api.ask(ctx, "STREAM.INFO."+name, nil)
		switch {
		case err == nil:
			t.addStream(raw)
		case notFound(err):
		case errors.Is(err, errDenied):
			t.cell.Streams = append(t.cell.Streams, Stream{name: name})
			t.missing(name, "the config of the stream "+name, err)
		default:
			t.missing(name, "the stream "+name, err)
		}
	}
}

// names lists names, all pages of them.
func (t *taker) names(ctx context.Context, subject, member string) ([]string, error) {
	var all []string
	for {
		raw, err := t.api.ask(ctx, subject, offsetRequest{len(all)})
		if err != nil {
			return nil, err
		}
		var p struct {
			Total     int      `json:"total"`
			Streams   []string `json:"streams"`
			Consumers []string `json:"consumers"`
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", subject, err)
		}
		got := p.Streams
		if member == "consumers" {
			got = p.Consumers
		}
		all = append(all, got...)
		if len(got) == 0 || len(all) >= p.Total {
			return all, nil
		}
	}
}

// consumers lists the consumers of every stream, many requests at once.
func (t *taker) consumers(ctx context.Context) {
	var asked []*listing
	for i := range t.cell.Streams {
		s := &t.cell.Streams[i]
		var state StreamState
		if len(s.State) > 0 && json.Unmarshal(s.State, &state) == nil && state.Consumers == 0 {
			continue
		}
		t.progress.add(0, state.Consumers)
		asked = append(asked, &listing{stream: s, subject: "CONSUMER.LIST." + s.Name()})
	}
	for len(asked) > 0 {
		t.api.askAll(ctx, asked)
		var more []*listing
		for _, l := range asked {
			more = append(more, t.gather(ctx, l)...)
		}
		asked = more
	}
}

// A listing is one page of consumers to be asked for.
type listing struct {
	stream  *Stream
	subject string
	offset  int
	reply   []byte
	err     error
}

// gather takes a page, and returns the pages that are still to be asked for.
func (t *taker) gather(ctx context.Context, l *listing) []*listing {
	var p page
	err := l.err
	if err == nil {
		err = json.Unmarshal(l.reply, &p)
	}
	l.reply = nil
	name := l.stream.Name()
	switch {
	case errors.Is(err, errDenied):
		t.consumersByName(ctx, l.stream)
		return nil
	case err != nil:
		if !notFound(err) {
			t.missing(name, "the consumers of "+name, err)
		}
		return nil
	}
	l.stream.Consumers = slices.Grow(l.stream.Consumers, len(p.Consumers))
	for _, raw := range p.Consumers {
		l.stream.Consumers = append(l.stream.Consumers, Consumer{raw})
	}
	t.progress.add(len(p.Consumers), 0)
	for _, consumer := range p.Missing {
		t.missing(name, "consumer "+consumer, errors.New("it did not answer in time"))
	}
	if l.offset > 0 {
		return nil
	}
	var more []*listing
	for _, offset := range p.next(len(p.Consumers)) {
		more = append(more, &listing{stream: l.stream, subject: l.subject, offset: offset})
	}
	return more
}

// consumersByName makes do with CONSUMER.INFO.
func (t *taker) consumersByName(ctx context.Context, s *Stream) {
	stream := s.Name()
	names, err := t.names(ctx, "CONSUMER.NAMES."+stream, "consumers")
	if err != nil {
		names = t.o.Known[stream]
		t.missing(stream, "the list of consumers of "+stream, fmt.Errorf("%w; only the %d that the declarations name were looked at", err, len(names)))
	}
	for _, name := range names {
		raw, err := t.api.ask(ctx, "CONSUMER.INFO."+stream+"."+name, nil)
		switch {
		case err == nil:
			s.Consumers = append(s.Consumers, Consumer{withoutType(raw)})
		case !notFound(err):
			t.missing(stream, "the consumer "+stream+"/"+name, err)
		}
	}
	t.progress.add(len(names), 0)
}

// withoutType takes the envelope's own member out of an info.
func withoutType(raw json.RawMessage) json.RawMessage {
	all := members{}
	if json.Unmarshal(raw, &all) != nil {
		return raw
	}
	delete(all, "type")
	out, err := json.Marshal(all)
	if err != nil {
		return raw
	}
	return out
}

// subjects asks each stream for its messages by subject.
func (t *taker) subjects(ctx context.Context) {
	for i := range t.cell.Streams {
		s := &t.cell.Streams[i]
		raw, err := t.api.ask(ctx, "STREAM.INFO."+s.Name(), map[string]string{"subjects_filter": ">"})
		if err != nil {
			t.missing(s.Name(), "the subjects of "+s.Name(), err)
			continue
		}
		var info struct {
			State struct {
				Subjects map[string]uint64 `json:"subjects"`
			} `json:"state"`
		}
		if json.Unmarshal(raw, &info) == nil && info.State.Subjects != nil {
			s.State = withCounts(s.State, info.State.Subjects)
		}
	}
}
