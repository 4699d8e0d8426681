package readiness_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
	"github.com/natsmig/natsmig/readiness"
)

// patient is longer than any of these tests takes: what is known at once must not
// be waited for.
const patient = time.Hour

// orders adds the stream S with the consumers.
func orders(t *testing.T, js jetstream.JetStream, replicas int, consumers ...jetstream.ConsumerConfig) {
	t.Helper()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Replicas: replicas}); err != nil {
		t.Fatal(err)
	}
	for _, c := range consumers {
		if c.Durable == "" {
			c.Durable = "pull"
		}
		c.AckPolicy = jetstream.AckExplicitPolicy
		create := func() (any, error) { return js.CreateConsumer(t.Context(), "S", c) }
		if c.DeliverSubject != "" {
			create = func() (any, error) { return js.CreatePushConsumer(t.Context(), "S", c) }
		}
		if _, err := create(); err != nil {
			t.Fatal(err)
		}
	}
}

// found is what a probe says of one durable.
type found struct {
	Ready  bool
	State  readiness.State
	Class  readiness.Class
	Reason string
}

func look(t *testing.T, p readiness.Probe, name string) found {
	t.Helper()
	d, err := readiness.ParseDurable(name)
	if err != nil {
		t.Fatal(err)
	}
	v := p.Ask(t.Context(), d)
	s := v.Members[0]
	if s.Name != name || v.OK != s.Ready || s.Since.IsZero() {
		t.Errorf("verdict %+v", v)
	}
	return found{s.Ready, s.State, s.Class, s.Reason}
}

func want(t *testing.T, got, want found) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

var consumable = found{Ready: true, State: readiness.Consumable}

func TestProbe(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	orders(t, s.JS, 1, jetstream.ConsumerConfig{}, jetstream.ConsumerConfig{Durable: "push", DeliverSubject: "to"})
	p := readiness.Probe{JS: s.JS, Timeout: patient}
	want(t, look(t, p, "S/pull"), consumable)
	want(t, look(t, p, "S/push"), consumable)
	want(t, look(t, p, "S/other"), found{
		State: readiness.NotConsumable, Class: readiness.MissingConsumer, Reason: "consumer not found (10014)",
	})
	want(t, look(t, p, "Z/pull"), found{
		State: readiness.NotConsumable, Class: readiness.MissingStream, Reason: "stream not found (10059)",
	})
	if v := p.Ask(t.Context()); v.OK || v.Reason == "" {
		t.Errorf("of nothing: %+v", v)
	}
	v := p.Ask(t.Context(), readiness.Durable{Stream: "S", Consumer: "pull"}, readiness.Durable{Stream: "S", Consumer: "other"}, readiness.Durable{Stream: "S", Consumer: "*"})
	if v.OK || !strings.HasPrefix(v.Reason, "S/other is not-consumable: ") {
		t.Errorf("verdict %+v", v)
	}
	if !v.Members[0].Ready || v.Members[0].Created == nil || v.Members[2].State != readiness.Unknown {
		t.Errorf("members %+v", v.Members)
	}
}

func TestProbePaused(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	until := time.Now().Add(time.Hour)
	orders(t, s.JS, 1, jetstream.ConsumerConfig{PauseUntil: &until})
	text := "paused until " + until.UTC().Format(time.RFC3339)
	want(t, look(t, readiness.Probe{JS: s.JS}, "S/pull"), found{State: readiness.NotConsumable, Class: readiness.Paused, Reason: text})
	want(t, look(t, readiness.Probe{JS: s.JS, AllowPaused: true}, "S/pull"), found{Ready: true, State: readiness.Consumable, Reason: text})
	if _, err := s.JS.ResumeConsumer(t.Context(), "S", "pull"); err != nil {
		t.Fatal(err)
	}
	want(t, look(t, readiness.Probe{JS: s.JS}, "S/pull"), consumable)
}

func TestProbeRequireBound(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	orders(t, s.JS, 1, jetstream.ConsumerConfig{}, jetstream.ConsumerConfig{Durable: "push", DeliverSubject: "to"})
	p := readiness.Probe{JS: s.JS, RequireBound: true}
	unbound := func(name, reason string) {
		t.Helper()
		want(t, look(t, p, name), found{State: readiness.NotConsumable, Class: readiness.Unbound, Reason: reason})
	}
	bound := func(name string) {
		t.Helper()
		natstest.Eventually(t, 10*time.Second, func() error {
			if f := look(t, p, name); !f.Ready {
				return errors.New(f.Reason)
			}
			return nil
		})
	}
	unbound("S/push", "nobody is subscribed: push_bound is false")
	if _, err := s.NC.SubscribeSync("to"); err != nil {
		t.Fatal(err)
	}
	bound("S/push")

	nobody := "nobody pulls: num_waiting is 0, and nothing delivered within ack_wait is unsettled"
	unbound("S/pull", nobody)
	sub, err := s.NC.SubscribeSync("pulled")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.NC.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.S.pull", "pulled", nil); err != nil {
		t.Fatal(err)
	}
	bound("S/pull")

	// The one worker is busy.
	if _, err := s.JS.Publish(t.Context(), "s.1", nil); err != nil {
		t.Fatal(err)
	}
	m, err := sub.NextMsgWithContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bound("S/pull")
	if err := m.AckSync(); err != nil {
		t.Fatal(err)
	}
	unbound("S/pull", nobody)
}

// The probe hears of a refusal at once: the timeout is longer than the test.
func TestProbeDenied(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name               string
		publish, subscribe []string
		pull, other        readiness.Class
	}{
		{"one consumer", []string{"$JS.API.CONSUMER.INFO.S.pull"}, nil, readiness.Denied, readiness.MissingConsumer},
		{"all consumers", []string{"$JS.API.>"}, nil, readiness.Denied, readiness.Denied},
		{"replies", nil, []string{"_INBOX.>"}, readiness.Denied, readiness.Denied},
		{"everything", []string{">"}, []string{">"}, readiness.Denied, readiness.Denied},
		{"something else", []string{"$JS.API.CONSUMER.INFO.T.>", "$JS.API.STREAM.>"}, nil, readiness.None, readiness.MissingConsumer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Start(t, natstest.WithUser("admin", "p"), natstest.WithAccounts(natstest.Account{Name: "TEAM", Users: []natstest.User{
				{Name: "admin", Password: "p"},
				{Name: "u", Password: "p", Publish: natstest.Permission{Deny: tt.publish}, Subscribe: natstest.Permission{Deny: tt.subscribe}},
			}}))
			orders(t, s.JS, 1, jetstream.ConsumerConfig{})
			p := readiness.Probe{JS: s.Connect(nats.UserInfo("u", "p")).JS, Timeout: patient}
			for range 2 { // the second time on the same connection
				v := p.Ask(t.Context(), readiness.Durable{Stream: "S", Consumer: "pull"}, readiness.Durable{Stream: "S", Consumer: "other"})
				if v.OK || v.Members[0].Class != tt.pull || v.Members[1].Class != tt.other {
					t.Errorf("%+v", v)
				}
				for _, m := range v.Members {
					if m.Class == readiness.Denied && (m.State != readiness.Unknown || !strings.Contains(m.Reason, `"`)) {
						t.Errorf("denied: %+v", m)
					}
				}
			}
		})
	}
}

// The connection may be shared: what else it was refused is none of the probe's
// business, also where it names the same subject.
func TestProbeDeniedSomethingElse(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithUser("admin", "p"), natstest.WithAccounts(natstest.Account{Name: "TEAM", Users: []natstest.User{
		{Name: "admin", Password: "p"},
		{Name: "u", Password: "p", Publish: natstest.Permission{Deny: []string{"no"}}, Subscribe: natstest.Permission{Deny: []string{"$JS.API.>"}}},
	}}))
	orders(t, s.JS, 1, jetstream.ConsumerConfig{})
	c := s.Connect(nats.UserInfo("u", "p"))
	if _, err := c.NC.SubscribeSync("$JS.API.CONSUMER.INFO.S.pull"); err != nil {
		t.Fatal(err)
	}
	if err := c.NC.Flush(); err != nil {
		t.Fatal(err)
	}
	want(t, look(t, readiness.Probe{JS: c.JS, Timeout: patient}, "S/pull"), consumable)
	if err := c.NC.Publish("no", nil); err != nil {
		t.Fatal(err)
	}
	want(t, look(t, readiness.Probe{JS: c.JS, Timeout: patient}, "S/pull"), consumable)
	if !errors.Is(c.NC.LastError(), nats.ErrPermissionViolation) {
		t.Errorf("nothing was refused: %v", c.NC.LastError())
	}
}

func TestProbeWithoutJetStream(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithDomain("hub"))
	orders(t, s.JS, 1, jetstream.ConsumerConfig{})
	absent := found{
		State: readiness.Unknown, Class: readiness.Transient,
		Reason: "JetStream does not answer: it is not enabled, or the domain does not exist: nats: no responders available for request",
	}
	for domain, is := range map[string]found{"hub": consumable, "hob": absent} {
		js, err := jetstream.NewWithDomain(s.NC, domain)
		if err != nil {
			t.Fatal(err)
		}
		want(t, look(t, readiness.Probe{JS: js, Timeout: patient}, "S/pull"), is)
		js, err = jetstream.NewWithAPIPrefix(s.NC, "$JS."+domain+".API.")
		if err != nil {
			t.Fatal(err)
		}
		want(t, look(t, readiness.Probe{JS: js, Timeout: patient}, "S/pull"), is)
	}
	none := natstest.Start(t, natstest.WithoutJetStream())
	want(t, look(t, readiness.Probe{JS: none.JS, Timeout: patient}, "S/pull"), absent)
}

// A reply that never comes, one that says nothing, and a connection that is gone.
func TestProbeUnknown(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithoutJetStream())
	unknown := func(p readiness.Probe, ctx context.Context, class readiness.Class, reason string) {
		t.Helper()
		v := p.Ask(ctx, readiness.Durable{Stream: "S", Consumer: "pull"})
		if m := v.Members[0]; v.OK || m.State != readiness.Unknown || m.Class != class || m.Reason != reason {
			t.Errorf("%+v", v)
		}
	}
	if _, err := s.NC.SubscribeSync("$JS.API.>"); err != nil {
		t.Fatal(err)
	}
	p := readiness.Probe{JS: s.JS, Timeout: 50 * time.Millisecond}
	unknown(p, t.Context(), readiness.Transient, "no answer within 50ms")
	p.Timeout = patient
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	unknown(p, ctx, readiness.Transient, "enough")
	s.NC.Close()
	unknown(p, t.Context(), readiness.Closed, "nats: connection closed")
}

// What a server rarely says is said by the test: a consumer without a leader
// because it is new (jetstream_api.go:5736 of nats-server 2.15.3), or one whose
// servers are away.
func TestProbeReplies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reply string
		want  found
	}{
		{`{"name":"pull","stream_name":"S"}`, consumable},
		{`{"name":"pull","cluster":{"name":"c","leader":"n1"}}`, consumable},
		{`{"name":"pull","cluster":{"leader":"n1","replicas":[{"name":"n2","offline":true},{"name":"n3"}]}}`, consumable},
		{
			`{"name":"pull","cluster":{"leader":"n1","replicas":[{"name":"n2","offline":true}]}}`,
			found{State: readiness.NotConsumable, Class: readiness.NoQuorum, Reason: "1 of the consumer's 2 servers are offline"},
		},
		{`{"name":"pull","cluster":{"name":"c"}}`, found{State: readiness.NotConsumable, Class: readiness.NoQuorum, Reason: "the consumer has no leader"}},
		{
			`{"error":{"code":500,"err_code":10119,"description":"consumer is offline"}}`,
			found{State: readiness.NotConsumable, Class: readiness.Transient, Reason: "consumer is offline (10119)"},
		},
		{
			`{"error":{"code":503,"err_code":10039,"description":"JetStream not enabled for account"}}`,
			found{State: readiness.Unknown, Class: readiness.Transient, Reason: "JetStream not enabled for account (10039)"},
		},
		{`{}`, found{State: readiness.Unknown, Class: readiness.Transient, Reason: "the reply is not about a consumer"}},
		{`no`, found{State: readiness.Unknown, Class: readiness.Transient, Reason: "the reply is not JSON: invalid character 'o' in literal null (expecting 'u')"}},
	} {
		s := natstest.Start(t, natstest.WithoutJetStream())
		if _, err := s.NC.Subscribe("$JS.API.>", func(m *nats.Msg) { _ = m.Respond([]byte(tt.reply)) }); err != nil {
			t.Fatal(err)
		}
		want(t, look(t, readiness.Probe{JS: s.JS, Timeout: patient}, "S/pull"), tt.want)
	}
}

func TestProbeAwayServer(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	c := s.Connect(nats.MaxReconnects(-1))
	s.Stop()
	natstest.Eventually(t, 10*time.Second, func() error {
		if c.NC.IsConnected() {
			return errors.New("still connected")
		}
		return nil
	})
	want(t, look(t, readiness.Probe{JS: c.JS, Timeout: patient}, "S/pull"), found{
		State: readiness.Unknown, Class: readiness.Transient, Reason: "nats: server is disconnected",
	})
}

// Of three servers one is left, which says that there is no leader.
func TestProbeWithoutQuorum(t *testing.T) {
	t.Parallel()
	c := natstest.StartCluster(t, 3)
	orders(t, c.JS, 3, jetstream.ConsumerConfig{})
	leader := c.ConsumerLeader("", "S", "pull")
	p := readiness.Probe{JS: c.JS, Timeout: 10 * time.Second}
	want(t, look(t, p, "S/pull"), consumable)
	for _, b := range c.Brokers {
		if b != leader {
			b.Stop()
		}
	}
	only, err := nats.Connect(leader.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(only.Close)
	if p.JS, err = jetstream.New(only); err != nil {
		t.Fatal(err)
	}
	for _, reason := range []string{
		"2 of the consumer's 3 servers are offline",        // while the leader takes itself for one
		"JetStream system temporarily unavailable (10008)", // afterwards
	} {
		natstest.Eventually(t, time.Minute, func() error {
			f := look(t, p, "S/pull")
			if f.State == readiness.NotConsumable && f.Class == readiness.NoQuorum && f.Reason == reason {
				return nil
			}
			return errors.New(string(f.State) + " " + f.Reason)
		})
	}
}

func TestParseDurable(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "S", "S/", "/c", "S/a/b", "S/*", "S.x/c", "S/>", "S/a b", "S/c\r\nPUB x 0"} {
		if d, err := readiness.ParseDurable(s); err == nil {
			t.Errorf("%q is %+v", s, d)
		}
	}
	if d, err := readiness.ParseDurable("S/c-1"); err != nil || d != (readiness.Durable{Stream: "S", Consumer: "c-1"}) || d.String() != "S/c-1" {
		t.Errorf("%+v, %v", d, err)
	}
}
