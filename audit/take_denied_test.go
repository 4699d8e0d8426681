package audit_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/natstest"
)

// restricted starts a broker with the streams A and B, and connects to it as a
// user that may not publish to, and may not subscribe to, some subjects.
func restricted(t *testing.T, publish, subscribe []string) *nats.Conn {
	t.Helper()
	s := natstest.Start(t, natstest.WithUser("admin", "p"), natstest.WithAccounts(natstest.Account{Name: "TEAM", Users: []natstest.User{
		{Name: "admin", Password: "p"},
		{Name: "u", Password: "p", Publish: natstest.Permission{Deny: publish}, Subscribe: natstest.Permission{Deny: subscribe}},
	}}))
	addStream(t, s.JS, "A", "one", "two")
	addStream(t, s.JS, "B", "three")
	return s.Connect(nats.UserInfo("u", "p")).NC
}

// What a user may not ask is told, and told by the server's refusal: the timeout
// of these tests is longer than they are.
func TestTakeAsRestrictedUser(t *testing.T) {
	t.Parallel()
	known := map[string][]string{"A": {"two", "nine", "two"}, "Z": {"zero"}}
	for _, tt := range []struct {
		name    string
		deny    []string
		names   []string
		missing []string // nil: complete
	}{
		{
			"consumers by name only",
			[]string{"$JS.API.CONSUMER.LIST.>", "$JS.API.CONSUMER.NAMES.>"},
			[]string{"A", "A/two", "B"},
			[]string{
				"the list of consumers of A: permission denied for the request; only the 2 that the declarations name",
				"the list of consumers of B: permission denied for the request; only the 0 that",
			},
		},
		{"names of consumers", []string{"$JS.API.CONSUMER.LIST.>"}, []string{"A", "A/one", "A/two", "B", "B/three"}, nil},
		{
			"one stream's consumers",
			[]string{"$JS.API.CONSUMER.*.A", "$JS.API.CONSUMER.INFO.A.*"},
			[]string{"A", "B", "B/three"},
			[]string{"the list of consumers of A: permission denied", "the consumer A/nine: permission denied", "the consumer A/two: permission denied"},
		},
		{"names of streams", []string{"$JS.API.STREAM.LIST"}, []string{"A", "A/one", "A/two", "B", "B/three"}, nil},
		{
			"streams by name only",
			[]string{"$JS.API.STREAM.LIST", "$JS.API.STREAM.NAMES"},
			[]string{"A", "A/one", "A/two"},
			[]string{"the list of streams: permission denied for the request; only the 2 that"},
		},
		{
			"one stream",
			[]string{"$JS.API.STREAM.LIST", "$JS.API.STREAM.INFO.A"},
			[]string{"A", "A/one", "A/two", "B", "B/three"},
			[]string{"the config of the stream A: permission denied"},
		},
		{
			"streams not at all",
			[]string{"$JS.API.STREAM.>"},
			[]string{"A", "A/one", "A/two"},
			[]string{"the list of streams: permission denied", "the config of the stream A: permission denied", "the config of the stream Z: permission denied"},
		},
		{"account info", []string{"$JS.API.INFO"}, []string{"A", "A/one", "A/two", "B", "B/three"}, []string{"the account: permission denied"}},
		{"who they are", []string{"$SYS.REQ.USER.INFO"}, []string{"A", "A/one", "A/two", "B", "B/three"}, nil},
		{
			"nothing",
			[]string{">"},
			[]string{"A", "Z"},
			[]string{
				"the account: permission denied", "the list of streams: permission denied",
				"the config of the stream A: permission denied", "the config of the stream Z: permission denied",
				"the list of consumers of A: permission denied", "the consumer A/nine: permission denied", "the consumer A/two: permission denied",
				"the list of consumers of Z: permission denied", "the consumer Z/zero: permission denied",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := takeCell(t, restricted(t, tt.deny, nil), audit.TakeOptions{Known: known})
			wantNames(t, c, tt.names...)
			if tt.missing == nil {
				wantComplete(t, c)
				return
			}
			wantMissing(t, c, tt.missing...)
		})
	}
}

func TestTakeWithoutInbox(t *testing.T) {
	t.Parallel()
	c := takeCell(t, restricted(t, nil, []string{"_INBOX.>"}), audit.TakeOptions{})
	wantMissing(t, c, "the account: permission denied to subscribe to the replies")
}

// A name is refused by itself, and not for another that differs in case.
func TestTakeMindsCase(t *testing.T) {
	t.Parallel()
	nc := restricted(t, []string{"$JS.API.STREAM.LIST", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.a"}, nil)
	c := takeCell(t, nc, audit.TakeOptions{Known: map[string][]string{"A": nil, "a": nil}})
	if !slices.Contains(names(c), "A/one") || c.Streams[0].Config == nil {
		t.Errorf("got %q, missing %v; want A to be seen", names(c), c.Missing)
	}
}

// Errors of the connection are its owner's business, too, and afterwards no one
// else's.
func TestTakeLendsErrorHandler(t *testing.T) {
	t.Parallel()
	nc := restricted(t, []string{"$JS.API.CONSUMER.LIST.>", "elsewhere"}, nil)
	var mu sync.Mutex
	var told []error
	reported := make(chan struct{}, 100)
	handler := func(_ *nats.Conn, _ *nats.Subscription, err error) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, err)
		reported <- struct{}{}
	}
	nc.SetErrorHandler(handler)
	wantComplete(t, takeCell(t, nc, audit.TakeOptions{}))
	must(t, nc.Publish("elsewhere", nil))
	for range 3 { // two streams, and what came after
		<-reported
	}
	mu.Lock()
	defer mu.Unlock()
	for _, err := range told {
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("handler was told %v", err)
		}
	}
	nc.SetErrorHandler(nil)
	takeCell(t, nc, audit.TakeOptions{})
	if nc.ErrorHandler() != nil {
		t.Error("an error handler is left behind where there was none")
	}
}

func TestTakeWithoutJetStream(t *testing.T) {
	t.Parallel()
	off := natstest.Start(t, natstest.WithoutJetStream())
	wantMissing(t, takeCell(t, off.NC, audit.TakeOptions{}), "the account: JetStream does not answer: it is not enabled")

	on := natstest.Start(t, natstest.WithDomain("hub"), natstest.WithUser("js", "p"), natstest.WithAccounts(
		natstest.Account{Name: "JS", Users: []natstest.User{{Name: "js", Password: "p"}}},
		natstest.Account{Name: "NO", Users: []natstest.User{{Name: "no", Password: "p"}}, NoJetStream: true}))
	no := on.Connect(nats.UserInfo("no", "p"))
	wantMissing(t, takeCell(t, no.NC, audit.TakeOptions{}), "the account: JetStream not enabled for account")

	s := take(t, audit.TakeOptions{}, audit.Source{Name: "cell", Conn: on.NC, APIPrefix: "$JS.hob.API", Domain: "hob"})
	wantMissing(t, s.Cells[0], "the account: JetStream does not answer: it is not enabled, or the domain does not exist")
}

func TestTakeOnClosedConnection(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	nc := s.Connect().NC
	nc.Close()
	wantMissing(t, takeCell(t, nc, audit.TakeOptions{}), "the cell: subscribe to the replies: nats: connection closed")
}
