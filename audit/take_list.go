package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// page is one page of a listing. Its items share the memory of the reply.
type page struct {
	total, limit int
	items        []json.RawMessage
	missing      []string          // in a cluster: did not answer in time
	offline      map[string]string // by name, and why
}

// parsePage wants the outline of an object. Whether each item is sound is seen
// when it is read.
func parsePage(data []byte) (*page, error) {
	var p page
	var failed error
	read := func(at int, to any) (end int) {
		end = valueEnd(data, at)
		if err := json.Unmarshal(data[min(at, end):end], to); err != nil {
			failed = fmt.Errorf("the reply is no listing: %w", err)
		}
		return end
	}
	end := walk(data, func(key []byte, at int) (end int) {
		switch string(key) {
		case "total":
			return read(at, &p.total)
		case "limit":
			return read(at, &p.limit)
		case "streams", "consumers":
			p.items, end = elements(data, at)
			return end
		case "missing":
			return read(at, &p.missing)
		case "offline":
			return read(at, &p.offline)
		}
		return valueEnd(data, at)
	})
	if end < 0 || space(data, end) != len(data) {
		return nil, errors.New("the reply is not JSON")
	}
	return &p, failed
}

type offsetRequest struct {
	Offset int `json:"offset"`
}

// A listing is all pages of one list.
type listing struct {
	subject string
	pages   []*page
	err     error // of the first page that can not be had
	tries   int
	done    func(items int) // is told how many items each page brings; nil: nobody is
}

// retries is how often a list is read again that changes while it is read.
const retries = 3

// list reads lists, all of them at once. In a list whose pages do not fit
// together something was missed or seen twice, so it is read again.
func (t *taker) list(ctx context.Context, lists []*listing) {
	for todo := lists; len(todo) > 0 && ctx.Err() == nil; {
		t.pages(ctx, todo, func(*listing) []int { return []int{0} })
		t.pages(ctx, todo, (*listing).rest)
		var again []*listing
		for _, l := range todo {
			if l.err != nil || l.fits() {
				continue
			}
			if l.tries++; l.tries == retries {
				l.err = errMoving
				continue
			}
			l.pages, l.done = nil, nil
			again = append(again, l)
		}
		todo = again
	}
}

// errMoving says that a list did not hold still.
var errMoving = errors.New("it changed while it was read")

// pages asks for pages of lists, and takes them in.
func (t *taker) pages(ctx context.Context, lists []*listing, offsets func(*listing) []int) {
	var requests []*request
	of := map[*request]*listing{}
	for _, l := range lists {
		for _, at := range offsets(l) {
			r := &request{subject: l.subject, body: offsetRequest{at}}
			requests, of[r] = append(requests, r), l
		}
	}
	t.api.askAll(ctx, requests, func(r *request) { of[r].take(r) })
}

func (l *listing) take(r *request) {
	p, err := (*page)(nil), r.err
	if err == nil {
		p, err = parsePage(r.reply)
	}
	r.reply = nil
	if err != nil {
		l.err = cmp.Or(l.err, err)
		return
	}
	l.pages = append(l.pages, p)
	if l.done != nil {
		l.done(len(p.items))
	}
}

// rest lists the offsets of the pages behind the first. They are the server's
// limit apart, not the items that came: of a cluster some may be missing.
func (l *listing) rest() []int {
	if l.err != nil || len(l.pages) == 0 {
		return nil
	}
	var offsets []int
	first := l.pages[0]
	step := cmp.Or(first.limit, len(first.items))
	for at := step; step > 0 && at < first.total; at += step {
		offsets = append(offsets, at)
	}
	return offsets
}

// fits says whether the pages are of one and the same list.
func (l *listing) fits() bool {
	seen := map[string]bool{}
	for _, p := range l.pages {
		if p.total != l.pages[0].total {
			return false
		}
		for _, item := range p.items {
			if len(l.pages) == 1 {
				return true
			}
			name := itemName(item)
			if seen[name] {
				return false
			}
			seen[name] = true
		}
	}
	return true
}

// items are what the list holds, each once.
func (l *listing) items() []json.RawMessage {
	if len(l.pages) == 1 {
		return l.pages[0].items
	}
	var all []json.RawMessage
	seen := map[string]bool{}
	for _, p := range l.pages {
		for _, item := range p.items {
			if name := itemName(item); !seen[name] {
				seen[name] = true
				all = append(all, item)
			}
		}
	}
	return all
}

// itemName is the name of a consumer, or of a stream, which has it in its
// config.
func itemName(item json.RawMessage) (name string) {
	eachMember(item, func(key []byte, value json.RawMessage) bool {
		switch string(key) {
		case "name":
			_ = json.Unmarshal(value, &name) // another type is no name
			return false
		case "config":
			name = itemName(value)
		}
		return name == ""
	})
	return name
}

// lost tells what the server could not put on the list.
func (t *taker) lost(l *listing, stream func(name string) string, what string) {
	for _, p := range l.pages {
		for _, name := range p.missing {
			t.missing(stream(name), what+" "+name, errors.New("it did not answer in time"))
		}
		for _, name := range slices.Sorted(maps.Keys(p.offline)) {
			t.missing(stream(name), what+" "+name, errors.New("it is offline: "+p.offline[name]))
		}
	}
}
