package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/natstest"
)

// unhurried is a timeout that no test lives to see: what answers within a test
// did not answer by running into it.
const unhurried = time.Hour

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// take takes a snapshot that must be possible, and quick.
func take(t testing.TB, o audit.TakeOptions, sources ...audit.Source) *audit.Snapshot {
	t.Helper()
	o.Timeout = unhurried
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s, err := audit.Take(ctx, sources, o)
	must(t, err)
	return s
}

func takeCell(t testing.TB, nc *nats.Conn, o audit.TakeOptions) audit.Cell {
	t.Helper()
	return take(t, o, audit.Source{Name: "cell", Conn: nc}).Cells[0]
}

func addStream(t testing.TB, js jetstream.JetStream, name string, consumers ...string) {
	t.Helper()
	_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name + ".>"}, Storage: jetstream.MemoryStorage})
	must(t, err)
	for _, c := range consumers {
		_, err := js.CreateConsumer(t.Context(), name, jetstream.ConsumerConfig{Durable: c, AckPolicy: jetstream.AckExplicitPolicy, MemoryStorage: true})
		must(t, err)
	}
}

// names lists what a cell has, as stream or stream/consumer.
func names(c audit.Cell) []string {
	all := []string{}
	for i := range c.Streams {
		all = append(all, c.Streams[i].Name())
		for _, k := range c.Streams[i].Consumers {
			var info struct{ Name string }
			if json.Unmarshal(k.Raw(), &info) != nil {
				info.Name = "no JSON: " + string(k.Raw())
			}
			all = append(all, c.Streams[i].Name()+"/"+info.Name)
		}
	}
	slices.Sort(all)
	return all
}

func wantNames(t *testing.T, c audit.Cell, want ...string) {
	t.Helper()
	if got := names(c); !slices.Equal(got, want) {
		t.Errorf("got %d names %.300q, want %d %.300q", len(got), got, len(want), want)
	}
}

func wantComplete(t *testing.T, c audit.Cell) {
	t.Helper()
	if !c.Complete || len(c.Missing) > 0 {
		t.Errorf("complete %t, missing %v; want a complete cell", c.Complete, c.Missing)
	}
}

// wantMissing wants a cell that is not complete, and says so in these words.
func wantMissing(t *testing.T, c audit.Cell, want ...string) {
	t.Helper()
	var got []string
	for _, m := range c.Missing {
		got = append(got, m.What+": "+m.Reason)
	}
	if c.Complete || len(got) != len(want) {
		t.Fatalf("complete %t, missing %q; want not complete, missing %q", c.Complete, got, want)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("missing %q, want it to say %q", got[i], want[i])
		}
	}
}

func TestTakeReadsEverything(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithDomain("hub"), natstest.WithUser("u", "p"),
		natstest.WithAccounts(natstest.Account{Name: "TEAM", Users: []natstest.User{{Name: "u", Password: "p"}}, Limits: natstest.Limits{MaxStreams: 7}}))
	addStream(t, s.JS, "A", "one", "two")
	addStream(t, s.JS, "B")
	addStream(t, s.JS, "C", "three")
	_, err := s.JS.Publish(t.Context(), "A.x", []byte("hello"))
	must(t, err)
	var done, total int
	c := takeCell(t, s.NC, audit.TakeOptions{Progress: func(d, n int) { done, total = d, n }})
	wantComplete(t, c)
	wantNames(t, c, "A", "A/one", "A/two", "B", "C", "C/three")
	if c.BrokerVersion != s.Version() || c.Domain != "hub" || c.Cluster != "" {
		t.Errorf("version %q, domain %q, cluster %q; want %q, hub and none", c.BrokerVersion, c.Domain, c.Cluster, s.Version())
	}
	if done != 3 || total != 3 {
		t.Errorf("progress ends at %d of %d, want 3 of 3", done, total)
	}
	var account struct {
		Account string
		Limits  struct {
			MaxStreams int `json:"max_streams"`
		}
	}
	must(t, json.Unmarshal(c.Account, &account))
	if account.Account != "TEAM" || account.Limits.MaxStreams != 7 {
		t.Errorf("account info %s, want account TEAM with 7 streams", c.Account)
	}
	for i := range c.Streams {
		st := &c.Streams[i]
		if st.Created.IsZero() || len(st.Config) == 0 || len(st.State) == 0 {
			t.Errorf("stream %s: created %v, config %s, state %s", st.Name(), st.Created, st.Config, st.State)
		}
	}
	s.RequireNoAsyncErrors()
}

// What was read can be written, read again, and understood.
func TestTakeGivesASnapshot(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	addStream(t, s.JS, "A", "one", "two")
	taken := take(t, audit.TakeOptions{}, audit.Source{Name: "cell", Conn: s.NC})
	var first, second bytes.Buffer
	must(t, taken.Write(&first))
	again, err := audit.ReadSnapshot("x.json", first.Bytes())
	must(t, err)
	must(t, again.Write(&second))
	if first.String() != second.String() {
		t.Errorf("written, read and written again it differs:\n%s\n%s", &first, &second)
	}
	wantNames(t, again.Cells[0], "A", "A/one", "A/two")
}

// The server's pages have 256 items.
func TestTakePages(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	var want []string
	numbered := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("k%04d", i))
		}
		return all
	}
	// Three streams, two of them with more than a page of consumers.
	for stream, n := range map[string]int{"A": 600, "B": 257, "C": 1} {
		want = append(want, stream)
		addStream(t, s.JS, stream, numbered(n)...)
		for _, c := range numbered(n) {
			want = append(want, stream+"/"+c)
		}
	}
	for i := range 260 {
		name := fmt.Sprintf("S%03d", i)
		addStream(t, s.JS, name)
		want = append(want, name)
	}
	slices.Sort(want)
	var done, total int
	c := takeCell(t, s.NC, audit.TakeOptions{Progress: func(d, n int) { done, total = d, n }})
	wantComplete(t, c)
	wantNames(t, c, want...)
	if done != 858 || total != 858 {
		t.Errorf("progress ends at %d of %d, want 858 of 858", done, total)
	}
}

func TestTakeSubjects(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	addStream(t, s.JS, "A")
	addStream(t, s.JS, "B")
	for _, subject := range []string{"A.x", "A.x", "A.y"} {
		_, err := s.JS.Publish(t.Context(), subject, nil)
		must(t, err)
	}
	c := takeCell(t, s.NC, audit.TakeOptions{Subjects: true})
	wantComplete(t, c)
	var state audit.StreamState
	must(t, json.Unmarshal(c.Streams[0].State, &state))
	if state.Subjects["A.x"] != 2 || state.Subjects["A.y"] != 1 || state.Messages != 3 {
		t.Errorf("state of A: %s", c.Streams[0].State)
	}
}

func TestTakeCellsAtOnce(t *testing.T) {
	t.Parallel()
	a, b := natstest.Start(t), natstest.Start(t)
	addStream(t, a.JS, "A", "one")
	addStream(t, b.JS, "B", "two")
	s := take(t, audit.TakeOptions{},
		audit.Source{Name: "us", Conn: b.NC}, audit.Source{Name: "down", Err: errors.New("no servers available")}, audit.Source{Name: "eu", Conn: a.NC})
	if len(s.Cells) != 3 || s.Schema != audit.SnapshotSchema || s.TakenAt.IsZero() {
		t.Fatalf("%d cells, schema %q, taken %v", len(s.Cells), s.Schema, s.TakenAt)
	}
	down, eu, us := s.Cells[0], s.Cells[1], s.Cells[2] // by name
	wantMissing(t, down, "the cell: no servers available")
	wantComplete(t, eu)
	wantComplete(t, us)
	wantNames(t, eu, "A", "A/one")
	wantNames(t, us, "B", "B/two")
}

func TestTakeOfCluster(t *testing.T) {
	t.Parallel()
	cl := natstest.StartCluster(t, 3, natstest.WithName("prod"))
	natstest.Eventually(t, 30*time.Second, func() error { // a young cluster may lose a request
		_, err := cl.JS.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: "R", Replicas: 3})
		return err
	})
	for _, name := range []string{"one", "two"} {
		natstest.Eventually(t, 30*time.Second, func() error {
			_, err := cl.JS.CreateOrUpdateConsumer(t.Context(), "R", jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy})
			return err
		})
	}
	c := takeCell(t, cl.NC, audit.TakeOptions{})
	wantComplete(t, c)
	wantNames(t, c, "R", "R/one", "R/two")
	if c.Cluster != "prod" {
		t.Errorf("cluster %q, want prod", c.Cluster)
	}
}

// Both domains can be seen from the leaf node.
func TestTakeOfLeafNode(t *testing.T) {
	t.Parallel()
	hub := natstest.Start(t, natstest.WithDomain("hub"), natstest.WithLeafListener())
	leaf := natstest.StartLeaf(t, hub.Broker, natstest.WithDomain("edge"))
	addStream(t, hub.JS, "H", "h")
	addStream(t, leaf.JS, "L", "l")
	s := take(t, audit.TakeOptions{},
		audit.Source{Name: "leaf", Conn: leaf.NC},
		audit.Source{Name: "through", Conn: leaf.Connect().NC, APIPrefix: "$JS.hub.API", Domain: "hub"})
	wantComplete(t, s.Cells[0])
	wantComplete(t, s.Cells[1])
	wantNames(t, s.Cells[0], "L", "L/l")
	wantNames(t, s.Cells[1], "H", "H/h")
	if s.Cells[0].Domain != "edge" || s.Cells[1].Domain != "hub" {
		t.Errorf("domains %q and %q, want edge and hub", s.Cells[0].Domain, s.Cells[1].Domain)
	}
}

func TestTakeEndsWithContext(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.NC.Subscribe("MUTE.API.>", func(*nats.Msg) { cancel() }) // and no answer
	must(t, err)
	_, err = audit.Take(ctx, []audit.Source{{Name: "cell", Conn: s.Connect().NC, APIPrefix: "MUTE.API"}}, audit.TakeOptions{Timeout: unhurried})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a canceled context", err)
	}
}

func TestTakeTimesOut(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	_, err := s.NC.Subscribe("MUTE.API.>", func(*nats.Msg) {})
	must(t, err)
	taken, err := audit.Take(t.Context(), []audit.Source{{Name: "cell", Conn: s.Connect().NC, APIPrefix: "MUTE.API"}}, audit.TakeOptions{Timeout: 20 * time.Millisecond})
	must(t, err)
	wantMissing(t, taken.Cells[0], "the account: no answer within 20ms")
}
