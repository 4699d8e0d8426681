package embedded_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/embedded"
)

// shop has a user who may do everything and two who lack one thing each.
func shop() embedded.Account {
	deny := func(subject string) embedded.Permission { return embedded.Permission{Deny: []string{subject}} }
	return embedded.Account{Name: "SHOP", Users: []embedded.User{
		{Name: "owner", Password: `p"w\`},
		{Name: "no-ack", Password: "pw", Publish: deny("$JS.ACK.>")},
		{Name: "no-list", Password: "pw", Publish: deny("$JS.API.CONSUMER.LIST.>")},
		{Name: "reader", Password: "pw", Subscribe: embedded.Permission{Allow: []string{"_INBOX.>", "orders.>"}}},
	}}
}

func testPermissions(t *testing.T, c embedded.Config) {
	c.Accounts = []embedded.Account{shop(), {Name: "OTHER", Users: []embedded.User{{Name: "other", Password: "pw"}}}}
	s := start(t, c)
	owner := connect(t, s.ClientURL(), nats.UserInfo("owner", `p"w\`))
	makeStream(t, owner, jetstream.StreamConfig{Name: "S", Subjects: []string{"orders.>"}})
	publish(t, owner, "orders.new")

	if err := publishError(t, s, "no-ack", "$JS.ACK.S.D.1.1.1.1.0"); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("no-ack acks: %v", err)
	}
	if err := publishError(t, s, "no-ack", "$JS.API.CONSUMER.LIST.S"); err != nil {
		t.Errorf("no-ack lists: %v", err)
	}
	if err := publishError(t, s, "no-list", "$JS.API.CONSUMER.LIST.S"); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("no-list lists: %v", err)
	}
	if err := subscribeError(t, s, "reader", "secret"); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("reader subscribes to secret: %v", err)
	}
	if err := subscribeError(t, s, "reader", "orders.new"); err != nil {
		t.Errorf("reader subscribes to orders.new: %v", err)
	}
	if _, err := connect(t, s.ClientURL(), nats.UserInfo("other", "pw")).Stream(t.Context(), "S"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("another account looks up the stream: %v", err)
	}
	if _, err := nats.Connect(s.ClientURL()); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("connect without credentials: %v", err)
	}
}

// publishError returns what the server says to the user's publish.
func publishError(t *testing.T, s *embedded.Server, user, subject string) error {
	t.Helper()
	nc := connect(t, s.ClientURL(), nats.UserInfo(user, "pw")).Conn()
	must(t, nc.Publish(subject, nil))
	must(t, nc.FlushTimeout(5*time.Second))
	return nc.LastError()
}

func subscribeError(t *testing.T, s *embedded.Server, user, subject string) error {
	t.Helper()
	nc := connect(t, s.ClientURL(), nats.UserInfo(user, "pw")).Conn()
	_, err := nc.SubscribeSync(subject)
	must(t, err)
	must(t, nc.FlushTimeout(5*time.Second))
	return nc.LastError()
}

func testLimits(t *testing.T, c embedded.Config) {
	c.Accounts = []embedded.Account{
		{
			Name: "SMALL", Users: []embedded.User{{Name: "small", Password: "pw"}},
			Limits: embedded.Limits{
				MaxMemory: 1 << 20, MaxStore: 2 << 20, MaxMemoryStream: 1 << 10, MaxStream: 1 << 11,
				MaxStreams: 1, MaxConsumers: 7, MaxAckPending: 100, MaxBytesRequired: true,
			},
		},
		{Name: "NONE", Users: []embedded.User{{Name: "none", Password: "pw"}}, NoJetStream: true},
	}
	c.NoAuthUser = "small"
	s := start(t, c)
	small := connect(t, s.ClientURL()) // by NoAuthUser
	info, err := small.AccountInfo(t.Context())
	must(t, err)
	want := jetstream.AccountLimits{
		MaxMemory: 1 << 20, MaxStore: 2 << 20, MemoryMaxStreamBytes: 1 << 10, StoreMaxStreamBytes: 1 << 11,
		MaxStreams: 1, MaxConsumers: 7, MaxAckPending: 100, MaxBytesRequired: true,
	}
	if info.Limits != want {
		t.Errorf("limits %+v, want %+v", info.Limits, want)
	}
	_, err = small.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S"})
	wantCode(t, err, 10113) // account requires a stream config to have max bytes set
	_, err = small.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", MaxBytes: 1 << 12})
	wantCode(t, err, 10122) // stream max bytes exceeds account limit
	makeStream(t, small, jetstream.StreamConfig{Name: "S", MaxBytes: 1 << 11})
	_, err = small.CreateStream(t.Context(), jetstream.StreamConfig{Name: "T", Subjects: []string{"t"}, MaxBytes: 1 << 11})
	wantCode(t, err, 10027) // maximum number of streams reached
	_, err = small.CreateConsumer(t.Context(), "S", jetstream.ConsumerConfig{Durable: "D", MaxAckPending: 101})
	wantCode(t, err, 10121) // consumer max ack pending exceeds system limit
	_, err = connect(t, s.ClientURL(), nats.UserInfo("none", "pw")).AccountInfo(t.Context())
	if !errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		t.Errorf("account without JetStream: %v", err)
	}
}

// wantCode fails the test unless err is the broker's refusal with that err_code.
func wantCode(t *testing.T, err error, code jetstream.ErrorCode) {
	t.Helper()
	api, ok := errors.AsType[*jetstream.APIError](err)
	if !ok || api.ErrorCode != code {
		t.Errorf("error %v, want err_code %d", err, code)
	}
}

// tagsOf asks the server itself, through its system account.
func tagsOf(t *testing.T, s *embedded.Server) string {
	t.Helper()
	nc, err := s.ConnectSystem()
	must(t, err)
	defer nc.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	msg, err := nc.RequestWithContext(ctx, "$SYS.REQ.SERVER.PING", nil)
	must(t, err)
	var reply struct {
		Server struct{ Tags []string }
	}
	must(t, json.Unmarshal(msg.Data, &reply))
	if len(reply.Server.Tags) != 1 {
		t.Fatalf("reply has not one tag: %s", msg.Data)
	}
	return reply.Server.Tags[0]
}
