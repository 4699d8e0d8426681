package audit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/natstest"
)

// A fakeAPI answers as the JetStream API does, below FAKE.API. It stands in for
// what a test can not make a broker do at the right moment.
type fakeAPI struct {
	mu      sync.Mutex
	asked   map[string]int
	answers map[string]func(nth, offset int) string // by subject
}

// start answers on the connection, and gives a source that asks.
func (f *fakeAPI) start(t *testing.T) audit.Source {
	t.Helper()
	s := natstest.Start(t)
	f.asked = map[string]int{}
	_, err := s.NC.Subscribe("FAKE.API.>", func(m *nats.Msg) {
		_ = m.Respond([]byte(f.answer(m))) // the asker misses it
	})
	must(t, err)
	must(t, s.NC.Flush())
	return audit.Source{Name: "cell", Conn: s.Connect().NC, APIPrefix: "FAKE.API"}
}

func (f *fakeAPI) answer(m *nats.Msg) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	subject := strings.TrimPrefix(m.Subject, "FAKE.API.")
	answer, ok := f.answers[subject]
	if !ok {
		return `{}`
	}
	var req struct{ Offset int }
	_ = json.Unmarshal(m.Data, &req) // some requests are empty
	f.asked[subject]++
	return answer(f.asked[subject], req.Offset)
}

// listed writes a page of two items at most.
func listed(member string, offset int, names ...string) string {
	items := []string{}
	for _, n := range names[min(offset, len(names)):min(offset+2, len(names))] {
		if member == "streams" {
			items = append(items, fmt.Sprintf(`{"config": {"subjects": ["\"}],["], "name": %q}, "state": {"consumer_count": 9}}`, n))
		} else {
			items = append(items, fmt.Sprintf(`{"stream_name": "S", "name": %q, "config": {"durable_name": %q, "description": "\\\"]}"}}`, n, n))
		}
	}
	return fmt.Sprintf(`{"type": "x", "total": %d, "offset": %d, "limit": 2, %q: [%s]}`, len(names), offset, member, strings.Join(items, " , "))
}

const gone = `{"type": "x", "error": {"code": 404, "err_code": 10059, "description": "stream not found"}}`

func streamsAre(names ...string) func(int, int) string {
	return func(_, offset int) string { return listed("streams", offset, names...) }
}

// consumersWere answers each request with a page of another list, the last one
// for ever.
func consumersWere(pages ...[]string) func(int, int) string {
	return func(nth, offset int) string { return listed("consumers", offset, pages[min(nth, len(pages))-1]...) }
}

func TestTakeOfMovingFleet(t *testing.T) {
	t.Parallel()
	abc, bc, bcd := []string{"a", "b", "c"}, []string{"b", "c"}, []string{"b", "c", "d"}
	for _, tt := range []struct {
		name      string
		streams   func(int, int) string
		consumers func(int, int) string
		names     []string
		missing   []string // nil: complete
	}{
		{"still", streamsAre("S"), consumersWere(abc), []string{"S", "S/a", "S/b", "S/c"}, nil},
		{"consumer deleted between two pages", streamsAre("S"), consumersWere(abc, bc), []string{"S", "S/b", "S/c"}, nil},
		{"consumer created between two pages", streamsAre("S"), consumersWere(bcd, []string{"a", "b", "c", "d"}), []string{"S", "S/a", "S/b", "S/c", "S/d"}, nil},
		{
			"one created, another deleted", streamsAre("S"), consumersWere(bcd, []string{"a", "b", "c"}, abc),
			[]string{"S", "S/a", "S/b", "S/c"},
			nil,
		},
		{
			"never still", streamsAre("S"), func(nth, offset int) string {
				return listed("consumers", offset, append([]string{"a", "b", "c"}, strings.Fields(strings.Repeat("d ", nth))...)...)
			},
			[]string{"S", "S/a", "S/b", "S/c", "S/d"},
			[]string{"a part of the consumers of S: it changed while it was read"},
		},
		{"stream deleted", streamsAre("Q", "S"), func(int, int) string { return gone }, []string{"Q"}, nil},
		{
			"stream created between two pages", func(nth, offset int) string {
				if nth == 1 {
					return listed("streams", offset, "P", "Q", "S")
				}
				return listed("streams", offset, "O", "P", "Q", "S")
			}, consumersWere(abc), []string{"O", "P", "Q", "S", "S/a", "S/b", "S/c"}, nil,
		},
		{
			"servers that do not answer", streamsAre("S"), func(_, offset int) string {
				page := listed("consumers", offset, "a", "b", "c", "d")
				if offset == 0 { // b is missing from the page that it belongs to
					return strings.Replace(listed("consumers", 0, "a"), `"total": 1`, `"total": 4, "missing": ["b"], "offline": {"z": "no peers", "y": "no version"}`, 1)
				}
				return page
			},
			[]string{"S", "S/a", "S/c", "S/d"},
			[]string{"consumer b: it did not answer in time", "consumer y: it is offline: no version", "consumer z: it is offline: no peers"},
		},
		{
			"page of nothing but missing", streamsAre("S"), func(_, offset int) string {
				if offset == 0 {
					return `{"total": 3, "offset": 0, "limit": 2, "consumers": [], "missing": ["a", "b"]}`
				}
				return listed("consumers", offset, abc...)
			},
			[]string{"S", "S/c"},
			[]string{"consumer a: it did not", "consumer b: it did not"},
		},
		{
			"missing streams", func(int, int) string {
				return `{"total": 2, "limit": 2, "streams": [], "missing": ["M"], "offline": {"O": "no peers"}}`
			}, consumersWere(abc), nil, []string{"stream M: it did not", "stream O: it is offline: no peers"},
		},
		{"no JSON", streamsAre("S"), func(int, int) string { return `{"consumers": [` }, []string{"S"}, []string{"the consumers of S: the reply is not JSON"}},
		{"no listing", streamsAre("S"), func(int, int) string { return `{"total": "many"}` }, []string{"S"}, []string{"the consumers of S: the reply is no listing"}},
		{
			"second page fails", streamsAre("S"), func(_, offset int) string {
				if offset == 0 {
					return listed("consumers", offset, abc...)
				}
				return `{"error": {"code": 500, "description": "out of order"}}`
			},
			[]string{"S", "S/a", "S/b"},
			[]string{"a part of the consumers of S: out of order"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			api := &fakeAPI{answers: map[string]func(int, int) string{"STREAM.LIST": tt.streams, "CONSUMER.LIST.S": tt.consumers}}
			c := take(t, audit.TakeOptions{}, api.start(t)).Cells[0]
			wantNames(t, c, tt.names...)
			if tt.missing == nil {
				wantComplete(t, c)
				return
			}
			wantMissing(t, c, tt.missing...)
		})
	}
}

// A stream may have more subjects than the server tells at once.
func TestTakePagesOfSubjects(t *testing.T) {
	t.Parallel()
	api := &fakeAPI{answers: map[string]func(int, int) string{
		"STREAM.LIST": streamsAre("S"),
		"STREAM.INFO.S": func(_, offset int) string {
			return fmt.Sprintf(`{"total": 3, "offset": %d, "limit": 1, "config": {"name": "S"}, "state": {"subjects": {"s.%d": 7}}}`, offset, offset)
		},
	}}
	c := take(t, audit.TakeOptions{Subjects: true}, api.start(t)).Cells[0]
	wantComplete(t, c)
	var state audit.StreamState
	must(t, json.Unmarshal(c.Streams[0].State, &state))
	if len(state.Subjects) != 3 {
		t.Errorf("subjects %v, want 3", state.Subjects)
	}
}
