package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// consumers lists the consumers of every stream, many requests at once.
func (t *taker) consumers(ctx context.Context) {
	var lists []*listing
	of := map[*listing]*Stream{}
	for i := range t.cell.Streams {
		s := &t.cell.Streams[i]
		var state StreamState
		if len(s.State) > 0 && json.Unmarshal(s.State, &state) == nil && state.Consumers == 0 {
			continue
		}
		t.progress.add(0, state.Consumers)
		l := &listing{subject: "CONSUMER.LIST." + s.Name(), done: func(n int) { t.progress.add(n, 0) }}
		lists, of[l] = append(lists, l), s
	}
	t.list(ctx, lists)
	var gone []string
	for _, l := range lists {
		s := of[l]
		name := s.Name()
		switch {
		case errors.Is(l.err, errDenied):
			t.consumersByName(ctx, s)
			continue
		case notFound(l.err): // the stream was deleted meanwhile
			gone = append(gone, name)
			continue
		case l.err != nil && len(l.pages) > 0:
			t.missing(name, "a part of the consumers of "+name, l.err)
		case l.err != nil:
			t.missing(name, "the consumers of "+name, l.err)
		}
		t.addConsumers(s, l)
	}
	t.cell.Streams = slices.DeleteFunc(t.cell.Streams, func(s Stream) bool { return slices.Contains(gone, s.Name()) })
}

func (t *taker) addConsumers(s *Stream, l *listing) {
	items := l.items()
	s.Consumers = slices.Grow(s.Consumers, len(items))
	for _, raw := range items {
		s.Consumers = append(s.Consumers, Consumer{raw})
	}
	t.lost(l, func(string) string { return s.Name() }, "consumer")
}

// consumersByName makes do with CONSUMER.INFO.
func (t *taker) consumersByName(ctx context.Context, s *Stream) {
	stream := s.Name()
	names, err := t.names(ctx, "CONSUMER.NAMES."+stream)
	if err != nil {
		names = unique(t.o.Known[stream])
		t.missing(stream, "the list of consumers of "+stream, fmt.Errorf("%w; only the %d that the declarations name were looked at", err, len(names)))
		defer t.askedFor(&names, len(t.cell.Missing)-1)
	}
	var requests []*request
	of := map[*request]string{}
	for _, name := range names {
		r := &request{subject: "CONSUMER.INFO." + stream + "." + name}
		requests, of[r] = append(requests, r), name
	}
	t.api.askAll(ctx, requests, func(r *request) {
		switch {
		case r.err == nil:
			s.Consumers = append(s.Consumers, Consumer{withoutType(r.reply)})
		case !notFound(r.err):
			t.missing(stream, "the consumer "+stream+"/"+of[r], r.err)
			names = slices.DeleteFunc(names, func(n string) bool { return n == of[r] })
		}
	})
	t.progress.add(len(names), 0)
}

// askedFor notes which names were asked for and answered, so that what is not
// among the answers is known not to exist.
func (t *taker) askedFor(names *[]string, at int) { t.cell.Missing[at].Asked = *names }

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
