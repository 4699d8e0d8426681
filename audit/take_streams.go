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

// streams lists the streams; where that is denied it asks for their names, and
// where that is denied too, for the ones that are known.
func (t *taker) streams(ctx context.Context) {
	l := &listing{subject: "STREAM.LIST"}
	t.list(ctx, []*listing{l})
	switch {
	case errors.Is(l.err, errDenied):
		t.streamsByName(ctx)
		return
	case l.err != nil && len(l.pages) > 0:
		t.missing("", "a part of the list of streams", l.err)
	case l.err != nil:
		t.missing("", "the list of streams", l.err)
	}
	for _, raw := range l.items() {
		t.addStream(raw)
	}
	t.lost(l, func(name string) string { return name }, "stream")
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
	names, err := t.names(ctx, "STREAM.NAMES")
	if err != nil {
		names = slices.Sorted(maps.Keys(t.o.Known))
		t.missing("", "the list of streams", fmt.Errorf("%w; only the %d that the declarations name were looked at", err, len(names)))
		defer t.askedFor(&names, len(t.cell.Missing)-1)
	}
	var requests []*request
	of := map[*request]string{}
	for _, name := range names {
		r := &request{subject: "STREAM.INFO." + name}
		requests, of[r] = append(requests, r), name
	}
	t.api.askAll(ctx, requests, func(r *request) {
		name := of[r]
		switch {
		case r.err == nil:
			t.addStream(r.reply)
		case notFound(r.err):
		case errors.Is(r.err, errDenied):
			t.cell.Streams = append(t.cell.Streams, Stream{name: name})
			t.missing(name, "the config of the stream "+name, r.err)
		default:
			t.missing(name, "the stream "+name, r.err)
			names = slices.DeleteFunc(names, func(n string) bool { return n == name })
		}
	})
}

// names lists names, all pages of them.
func (t *taker) names(ctx context.Context, subject string) ([]string, error) {
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
		got := slices.Concat(p.Streams, p.Consumers)
		all = append(all, got...)
		if len(got) == 0 || len(all) >= p.Total {
			return unique(all), nil
		}
	}
}

// unique sorts names, and keeps each once.
func unique(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// subjects asks each stream for its messages by subject.
func (t *taker) subjects(ctx context.Context) {
	for i := range t.cell.Streams {
		s := &t.cell.Streams[i]
		counts, err := t.counts(ctx, s.Name())
		switch {
		case err != nil && !notFound(err):
			t.missing(s.Name(), "the subjects of "+s.Name(), err)
		case counts != nil:
			s.State = withCounts(s.State, counts)
		}
	}
}

type subjectsRequest struct {
	SubjectsFilter string `json:"subjects_filter"`
	Offset         int    `json:"offset,omitempty"`
}

// counts reads the messages by subject, all pages of them.
func (t *taker) counts(ctx context.Context, stream string) (map[string]uint64, error) {
	var all map[string]uint64
	for asked := 0; ; {
		raw, err := t.api.ask(ctx, "STREAM.INFO."+stream, subjectsRequest{">", asked})
		if err != nil {
			return nil, err
		}
		var info struct {
			Total int `json:"total"`
			State struct {
				Subjects map[string]uint64 `json:"subjects"`
			} `json:"state"`
		}
		if err := json.Unmarshal(raw, &info); err != nil {
			return nil, fmt.Errorf("the subjects of %s: %w", stream, err)
		}
		if all == nil {
			all = info.State.Subjects
		} else {
			maps.Copy(all, info.State.Subjects)
		}
		asked += len(info.State.Subjects)
		if len(info.State.Subjects) == 0 || asked >= info.Total {
			return all, nil
		}
	}
}
