package declare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/natstest"
)

// TestModelPageOnBrokers puts every question of the page to a real broker: what
// it stores and refuses is what the page says. Embedded, and on the binaries of
// NATSMIG_BROKERS, see the differential tests of package broker.
func TestModelPageOnBrokers(t *testing.T) {
	run := func(name string, opts ...natstest.Option) {
		t.Run(name, func(t *testing.T) {
			for _, w := range worlds(t) {
				t.Run(w.name, func(t *testing.T) {
					x := w.start(t, opts)
					for i, p := range w.proofs {
						x.next(t, i)
						x.prove(t, p)
					}
					t.Logf("%d questions put to %s, %d of them can not be asked there", len(w.proofs), x.version, x.passed)
				})
			}
		})
	}
	run("embedded")
	if dir := os.Getenv("NATSMIG_BROKERS"); dir != "" {
		for _, bin := range natstest.Binaries(t, dir) {
			run(filepath.Base(bin), natstest.WithBinary(bin))
		}
	}
}

// A proof is a question to put to a broker.
type proof struct {
	question
	stream  bool
	omitted bool // it leaves a field out of what is live
}

// A world is the kind of broker that some questions need.
type world struct {
	name   string
	limits broker.Limits
	many   bool // a cluster
	opts   []natstest.Option
	proofs []proof
}

// worlds sorts the questions by what they need. A cluster is asked what the page
// says is different there.
func worlds(t *testing.T) []world {
	t.Helper()
	account := func(l natstest.Limits) []natstest.Option {
		a := natstest.Account{Name: "LIMITED", Users: []natstest.User{{Name: "u", Password: "p"}}, Limits: l}
		return []natstest.Option{natstest.WithAccounts(a), natstest.WithUser("u", "p")}
	}
	all := []world{
		{name: "plain"},
		{name: "cluster", many: true},
		{
			name: "server limits", limits: broker.Limits{MaxAckPending: 300, MaxRequestBatch: 50, DuplicateWindow: time.Minute},
			opts: []natstest.Option{natstest.WithServerLimits(natstest.ServerLimits{MaxAckPending: 300, MaxRequestBatch: 50, DuplicateWindow: time.Minute})},
		},
		{
			name: "account limits", limits: broker.Limits{AccountAckPending: 400, AccountConsumers: 1, AccountStreams: 1},
			opts: account(natstest.Limits{MaxAckPending: 400, MaxConsumers: 1, MaxStreams: 1}),
		},
		{
			name: "account storage", limits: broker.Limits{MaxBytesRequired: true, FileMaxStreamSize: 900},
			opts: account(natstest.Limits{MaxBytesRequired: true, MaxStream: 900}),
		},
		{
			name: "account totals", limits: broker.Limits{AccountMemory: 900, AccountStorage: 900},
			opts: account(natstest.Limits{MaxMemory: 900, MaxStore: 900}),
		},
	}
	for _, p := range proofs(t) {
		found := false
		for i := range all {
			w := &all[i]
			if w.limits == p.Limits && (w.many == p.Clustered || w.many && p.differsInCluster()) {
				q := p
				q.Clustered, found = w.many, true
				w.proofs = append(w.proofs, q)
			}
		}
		if !found {
			t.Errorf("%s: no broker has the limits %+v", p.String(), p.Limits)
		}
	}
	return all
}

func proofs(t *testing.T) []proof {
	t.Helper()
	var all []proof
	for _, f := range questionFiles {
		for _, q := range questions(t, f.name) {
			p := proof{question: q, stream: f.stream, omitted: q.Ask == nil}
			if p.omitted {
				p.Ask = doc{q.Field: json.RawMessage("null")}
			}
			all = append(all, p)
		}
	}
	return all
}

// differsInCluster says whether a cluster gives another answer on some line.
func (p *proof) differsInCluster() bool {
	alone, many := p.question, p.question
	alone.Clustered, many.Clustered = false, true
	for _, v := range broker.Lines() {
		if alone.ask(p.stream, v).brief() != many.ask(p.stream, v).brief() {
			return true
		}
	}
	return false
}

// A side is a real broker that answers questions.
type side struct {
	nc      *nats.Conn
	version broker.Version
	passed  int              // questions about what the broker can not have
	cluster *natstest.Broker // a server of a cluster; nil: a standalone server
}

func (w *world) start(t *testing.T, opts []natstest.Option) *side {
	t.Helper()
	opts = append(w.opts, opts...)
	x := &side{}
	var version string
	if w.many {
		for i := range w.proofs {
			opts = append(opts, natstest.WithAccounts(oneOf(i)))
		}
		c := natstest.StartCluster(t, 3, append(opts, natstest.WithName("C1"), natstest.WithUser(user(0), "p"))...)
		x.cluster, version = c.Brokers[0], c.Brokers[0].Version()
	} else {
		s := natstest.Start(t, opts...)
		x.nc, version = s.NC, s.Version()
	}
	var err error
	if x.version, err = broker.ParseVersion(version); err != nil {
		t.Fatal(err)
	}
	return x
}

// oneOf is the account of one question. A cluster takes its time to forget a
// stream that it scales, so that every question has an account of its own.
func oneOf(i int) natstest.Account {
	return natstest.Account{Name: fmt.Sprintf("Q%d", i), Users: []natstest.User{{Name: user(i), Password: "p"}}}
}

func user(i int) string { return fmt.Sprintf("u%d", i) }

// next makes room for the i-th question.
func (x *side) next(t *testing.T, i int) {
	t.Helper()
	if x.cluster != nil {
		x.nc = x.cluster.Connect(nats.UserInfo(user(i), "p")).NC
		return
	}
	var names struct{ Streams []string }
	decode(t, x.ask(t, "STREAM.NAMES", nil), &names)
	for _, n := range names.Streams {
		x.ask(t, "STREAM.DELETE."+n, nil)
	}
}

// ask asks until the API answers: a stream of 2.9 that captures everything
// acknowledges the request, too.
func (x *side) ask(t *testing.T, subject string, payload json.RawMessage) json.RawMessage {
	t.Helper()
	var reply json.RawMessage
	natstest.Eventually(t, 20*time.Second, func() error {
		msg, err := x.nc.Request("$JS.API."+subject, payload, 20*time.Second)
		if err != nil {
			return fmt.Errorf("%s %s: %w", subject, payload, err)
		}
		if reply = msg.Data; !bytes.Contains(reply, []byte(`"type"`)) {
			return fmt.Errorf("%s %s: answered %s", subject, payload, reply)
		}
		return nil
	})
	return reply
}

// request asks, and again where it is too early for an answer, see early: or a
// stream of a cluster has no leader, or is on its way to more replicas.
func (x *side) request(t *testing.T, subject string, payload json.RawMessage) (json.RawMessage, *broker.APIError) {
	t.Helper()
	var r struct {
		Error  *broker.APIError
		Config json.RawMessage
	}
	natstest.Eventually(t, 30*time.Second, func() error {
		msg, err := x.nc.Request("$JS.API."+subject, payload, 2*time.Second)
		if err != nil {
			return fmt.Errorf("%s %s: %w", subject, payload, err)
		}
		r.Error, r.Config = nil, nil
		decode(t, msg.Data, &r)
		if x.early(r.Error) {
			return r.Error
		}
		if r.Error == nil && r.Config == nil {
			return fmt.Errorf("%s %s: answered %s", subject, payload, msg.Data)
		}
		return nil
	})
	return r.Config, r.Error
}

// early says whether an error only tells that it is too early: the store of a
// stream that was just deleted is in the way, or a server of a cluster has not
// heard of its peers (10005), of the meta leader (10008) or of a stream (10059).
func (x *side) early(err *broker.APIError) bool {
	return err != nil && (err.Description == "error creating store for stream" ||
		x.cluster != nil && slices.Contains([]int{10005, 10008, 10059}, err.ErrCode))
}

// prove builds the situation, asks, and compares.
func (x *side) prove(t *testing.T, p proof) {
	t.Helper()
	if p.stream {
		proveStream(t, x, p)
	} else {
		proveConsumer(t, x, p)
	}
}

func proveConsumer(t *testing.T, x *side, p proof) {
	t.Helper()
	want := p.consumer(x.version)
	if want == nil {
		x.passed++
		return
	}
	if !p.NoStream {
		x.must(t, p, "STREAM.CREATE.S", plainStream.with(p.Stream).raw())
	}
	for _, d := range p.Others {
		x.must(t, p, create(plainConsumer.with(d)), sent(plainConsumer.with(d), ""))
	}
	var live json.RawMessage
	if p.Live != nil {
		d := plainConsumer.with(p.Live)
		live = x.must(t, p, create(d), sent(d, ""))
		if p.Bound {
			sub, err := x.nc.SubscribeSync(d.text("deliver_subject"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = sub.Unsubscribe() }()
		}
	}
	after, apiErr := x.request(t, create(want.asked), sent(want.asked, p.Action))
	compareAnswer(t, x, p, broker.ConsumerFields(), consumerOn(p.host(x.version).Config.Replicas), want, live, after, apiErr)
}

func proveStream(t *testing.T, x *side, p proof) {
	t.Helper()
	want := p.question.stream(x.version)
	if want == nil {
		x.passed++
		return
	}
	for _, d := range p.Peers {
		x.must(t, p, "STREAM.CREATE."+d.text("name"), plainStream.with(d).raw())
	}
	var live json.RawMessage
	verb := "CREATE"
	if p.Live != nil {
		live = x.must(t, p, "STREAM.CREATE.S", plainStream.with(p.Live).raw())
		if p.Then != nil {
			live = x.must(t, p, "STREAM.UPDATE.S", plainStream.with(p.Live).with(p.Then).raw())
		}
		for _, d := range p.Others {
			x.must(t, p, create(plainConsumer.with(d)), sent(plainConsumer.with(d), ""))
		}
		verb = "UPDATE"
	}
	if p.Action != broker.CreateOrUpdate {
		verb = strings.ToUpper(string(p.Action))
	}
	after, apiErr := x.request(t, "STREAM."+verb+"."+want.asked.text("name"), want.asked.raw())
	compareAnswer(t, x, p, broker.StreamFields(), streamOf, want, live, after, apiErr)
}

// must makes a part of the situation.
func (x *side) must(t *testing.T, p proof, subject string, payload json.RawMessage) json.RawMessage {
	t.Helper()
	config, err := x.request(t, subject, payload)
	if err != nil {
		t.Fatalf("%s, for %s: %s: %v", x.version, p.String(), subject, err)
	}
	return config
}

// create is the subject that creates or updates a consumer.
func create(d doc) string {
	durable, name := d.text("durable_name"), d.text("name")
	switch {
	case durable != "" && name != "" && durable != name:
		return "CONSUMER.DURABLE.CREATE.S." + durable
	case durable != "":
		return "CONSUMER.CREATE.S." + durable
	}
	return "CONSUMER.CREATE.S." + name
}

func sent(d doc, action broker.Action) json.RawMessage {
	return fmt.Appendf(nil, `{"stream_name":"S","config":%s,"action":%q}`, d.raw(), action)
}

// consumerOn reads what a broker holds of a consumer, as it is and in the form in
// which two of them are compared. The stream has so many replicas.
func consumerOn(replicas int) func(json.RawMessage) (stored, canonical broker.ConsumerConfig) {
	return func(raw json.RawMessage) (stored, canonical broker.ConsumerConfig) {
		c := consumerRequest(object(string(raw)), "").Config
		return c, c.Canonical(replicas)
	}
}

func streamOf(raw json.RawMessage) (stored, canonical broker.StreamConfig) {
	c := streamRequest(object(string(raw)), "").Config
	return c, c.Canonical()
}

// compareAnswer compares what the broker said with the model, and for a field
// that was left out with what stands in the page.
func compareAnswer[C any](t *testing.T, x *side, p proof, fields []broker.Field[C], read func(json.RawMessage) (C, C), want *answered[C], live, after json.RawMessage, got *broker.APIError) {
	t.Helper()
	if diff := differs(fields, read, &want.result, after, got); diff != "" {
		t.Errorf("%s, %s: %s", x.version, p.String(), diff)
	}
	if !p.omitted {
		return
	}
	o := omission{p.question, p.stream}
	e := o.entry(t, x.version, appliers(t, p.stream)[0])
	seen := becomes(got, p.Field, nil)
	if got == nil {
		_, was := read(live)
		_, is := read(after)
		seen = becomes(nil, p.Field, changes(fields, &was, &is))
	}
	if says := entryBecomes(e, p.Field); says != seen {
		t.Errorf("%s, %s left out: the page says %q, the broker does %q", x.version, p.Field, says, seen)
	}
}

func differs[C any](fields []broker.Field[C], read func(json.RawMessage) (C, C), want *broker.Result[C], after json.RawMessage, got *broker.APIError) string {
	if want.Error != nil || got != nil {
		if want.Error == nil || got == nil || !sameError(want.Error, got) {
			return fmt.Sprintf("model %v, broker %v", want.Error, got)
		}
		return ""
	}
	var all []string
	is, _ := read(after)
	for i := range fields {
		if f := &fields[i]; !f.Same(want.Stored, &is) {
			all = append(all, fmt.Sprintf("%s: model %v, broker %v", f.Name, f.Get(want.Stored), f.Get(&is)))
		}
	}
	return strings.Join(all, "; ")
}

// sameError leaves aside what Go says about JSON, which names its own types.
func sameError(a, b *broker.APIError) bool {
	return a.Code == b.Code && a.ErrCode == b.ErrCode && (a.Description == b.Description || a.ErrCode == 10025)
}
