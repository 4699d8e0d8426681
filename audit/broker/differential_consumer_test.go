package broker_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit/broker"
)

// boundSubject is a deliver subject that somebody is subscribed to.
const boundSubject = "deliver.bound"

// bound says whether somebody listens: this test, or the broker itself.
func bound(subject string) bool {
	return subject == boundSubject || strings.HasPrefix(subject, "$JS.API.")
}

func TestConsumersAgainstBrokers(t *testing.T) {
	onEachBroker(t, consumerSettings(), func(t *testing.T, x *target, s setting) { compareConsumers(t, x, s.rare) })
}

// compareConsumers plays scenarios until it has made as many requests as the
// target wants.
func compareConsumers(t *testing.T, x *target, minPercent int) {
	t.Helper()
	sub, err := x.nc.Subscribe(boundSubject, func(*nats.Msg) {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	base, reached, mismatches := seed(t), newTally(), 0
	for scenario, done := uint64(0), 0; done < x.pairs && mismatches < maxMismatches; scenario++ {
		g := &consumerGame{target: x, random: x.random(base, scenario), tally: reached}
		g.start(t)
		for range 12 {
			sent, ok := g.step(t)
			if !ok {
				mismatches++
				break
			}
			done += sent
			if g.over {
				break
			}
		}
	}
	reached.check(t, minPercent)
}

// A consumerGame is one stream and the consumers that have come to be on it.
type consumerGame struct {
	*target
	*random
	*tally
	stream document
	peers  []json.RawMessage
	held   []sibling
	over   bool // what the broker holds is not certain any more
}

type sibling struct {
	name   string
	config json.RawMessage
}

func (g *consumerGame) start(t *testing.T) {
	t.Helper()
	g.clean(t)
	for {
		host := g.hostStream()
		if g.chance(8) {
			var origin document
			origin, host = g.origin(host)
			made := g.ask(t, "$JS.API.STREAM.CREATE.P", []byte(origin.String()))
			if made.err != nil || made.lost {
				t.Fatalf("%s: %v", origin, made.err)
			}
			g.peers = []json.RawMessage{made.config}
		}
		got := g.ask(t, "$JS.API.STREAM.CREATE.S", []byte(host.String()))
		if got.err == nil && !got.lost && g.settle(t, got.config) {
			g.stream = parse(got.config)
			return
		}
		g.clean(t)
		g.peers = nil
	}
}

// step sends one request, or none, and compares. After a mismatch it is not ok:
// the broker is in another state then.
func (g *consumerGame) step(t *testing.T) (sent int, ok bool) {
	t.Helper()
	p := g.pair()
	if !sendable(p.config) || g.model.Clustered && p.action == broker.CreateOnly && p.stamped(t) {
		return 0, true
	}
	mismatch, got, outcome := p.play(t, g.target)
	if *verbose {
		t.Logf("%s %s: %v", p.action, p.config, outcome)
	}
	if got.lost || mismatch != "" {
		g.over = true
		return 0, g.ends(t, g.target, p, mismatch)
	}
	g.add(outcome, got)
	g.record.consumer(t, g.target, p, got)
	if got.err == nil {
		g.keep(t, p.id(), got.config)
	} else if g.model.Clustered && p.live == nil && got.err.ErrCode >= 10098 && got.err.ErrCode <= 10103 {
		g.over = true // the meta leader may have taken what the stream's leader refuses
	}
	return 1, true
}

// stamped says whether what is live may have got its threshold from the stream's
// leader: the meta leader, which compares, does not know of it, and the JSON does
// not tell whether it was asked for.
func (p *consumerPair) stamped(t *testing.T) bool {
	t.Helper()
	if p.live == nil {
		return false
	}
	c := decodeConsumer(t, p.live.config)
	return c.Durable == "" && c.InactiveThreshold == broker.EphemeralThreshold
}

// keep remembers a consumer, but deletes what would go away by itself.
func (g *consumerGame) keep(t *testing.T, id string, config json.RawMessage) {
	t.Helper()
	g.held = slices.DeleteFunc(g.held, func(s sibling) bool { return s.name == id })
	c := decodeConsumer(t, config)
	if c.InactiveThreshold > 0 && c.InactiveThreshold < 4*time.Second || g.chance(12) {
		g.ask(t, "$JS.API.CONSUMER.DELETE.S."+id, nil)
		return
	}
	g.held = append(g.held, sibling{id, config})
}

// A consumerPair is a request and everything it meets.
type consumerPair struct {
	stream document
	peers  []json.RawMessage
	others []sibling
	live   *sibling
	config document
	action broker.Action
}

func (p *consumerPair) id() string {
	return p.request().Config.ID()
}

// request is the pair's request as the model takes it. What the broker can not
// read, and so will refuse, needs a subject all the same.
func (p *consumerPair) request() *broker.ConsumerRequest {
	req, err := broker.ReadConsumerRequest(json.RawMessage(p.config.String()))
	if err != nil {
		panic(err)
	}
	req.Action = p.action
	return req
}

// sendable says whether the request can be written to the wire at all.
func sendable(c document) bool {
	_, err := (&consumerPair{config: c}).request().Subject("S")
	return err == nil
}

// play sends the request and compares the answer with the model's.
func (p *consumerPair) play(t *testing.T, x *target) (mismatch string, got answer, outcome broker.Outcome) {
	t.Helper()
	req := p.request()
	subject, err := req.Subject("S")
	if err != nil {
		t.Fatal(err)
	}
	body, err := req.Body("S")
	if err != nil {
		t.Fatalf("%s: %v", p.config, err)
	}
	got = x.ask(t, "$JS.API."+subject, body)
	if !got.lost {
		mismatch, outcome = p.judge(t, x.model, got)
	}
	return mismatch, got, outcome
}

// judge compares an answer with what the model says.
func (p *consumerPair) judge(t *testing.T, model broker.Broker, got answer) (mismatch string, outcome broker.Outcome) {
	t.Helper()
	stream := decodeStream(t, json.RawMessage(p.stream.String()))
	host := &broker.Stream{Config: stream}
	for _, o := range p.others {
		host.Consumers = append(host.Consumers, broker.Sibling{Name: o.name, Config: decodeConsumer(t, o.config)})
	}
	for _, peer := range p.peers {
		host.Peers = append(host.Peers, decodeStream(t, peer))
	}
	var live *broker.LiveConsumer
	var held *broker.ConsumerConfig
	if p.live != nil {
		held = decodeConsumer(t, p.live.config)
		live = &broker.LiveConsumer{Config: held, Bound: bound(held.DeliverSubject)}
		host.Consumers = append(host.Consumers, broker.Sibling{Name: p.live.name, Config: held})
	}
	want := model.Consumer(host, live, p.request())
	outcome = broker.Reject
	if got.err == nil {
		outcome = broker.ConsumerOutcome(held, decodeConsumer(t, got.config), stream.Replicas)
	}
	return compareConsumer(t, &want, outcome, got), outcome
}

func compareConsumer(t *testing.T, want *broker.Result[broker.ConsumerConfig], outcome broker.Outcome, got answer) string {
	t.Helper()
	if want.Outcome != outcome {
		return fmt.Sprintf("outcome: model %s (%v%s), broker %s (%v)", want.Outcome, want.Error, want.Reason, outcome, got.err)
	}
	if outcome == broker.Reject {
		return compareError(want.Error, got.err)
	}
	return compareStored(broker.ConsumerFields(), want.Stored, decodeConsumer(t, got.config))
}

// report fails the test with the pair in its smallest form. What a cluster does
// not answer a second time is only logged, and not sure.
func (p *consumerPair) report(t *testing.T, x *target, mismatch string) (sure bool) {
	t.Helper()
	docs := []*document{&p.stream, &p.config}
	var live document
	if p.live != nil {
		live = parse(p.live.config)
		docs = append(docs, &live)
	}
	tries := x.tries()
	again := func() string {
		if tries--; tries < 0 {
			return ""
		}
		return p.replay(t, x, live)
	}
	if sure = again() != ""; sure {
		for i := 0; i < len(p.others); i++ {
			was := p.others
			p.others = slices.Delete(slices.Clone(was), i, i+1)
			if again() == "" {
				p.others = was
			} else {
				i--
			}
		}
		shrink(docs, []string{"durable_name", "name"}, func() bool {
			m := again()
			if m != "" {
				mismatch = m
			}
			return m != ""
		})
	} else {
		mismatch += " (not seen again)"
	}
	if sure && x.model.Clustered { // which may have come to a state that lasts
		sure = p.replay(t, x.another(), live) != ""
	}
	return x.complain(t, sure, "%s: %s\n  stream %s\n  peers  %s\n  others %s\n  live   %s\n  sent   %s action %q", x.name, mismatch, p.stream, p.peers, names(p.others), live, p.config, p.action)
}

func names(all []sibling) string {
	var texts []string
	for _, s := range all {
		texts = append(texts, parse(s.config).String())
	}
	return strings.Join(texts, " ")
}

// replay builds the situation anew and plays the request. Empty: no mismatch,
// or the situation cannot be built.
func (p *consumerPair) replay(t *testing.T, x *target, live document) string {
	t.Helper()
	x.clean(t)
	for _, peer := range p.peers {
		if got := x.ask(t, "$JS.API.STREAM.CREATE.P", []byte(parse(peer).String())); got.err != nil || got.lost {
			return ""
		}
	}
	made := x.ask(t, "$JS.API.STREAM.CREATE.S", []byte(p.stream.String()))
	if made.err != nil || made.lost {
		return ""
	}
	x.settle(t, made.config)
	q := *p
	q.stream, q.others = parse(made.config), nil
	for _, o := range p.others {
		got := x.create(t, o.name, parse(o.config))
		if got.err != nil || got.lost {
			return ""
		}
		q.others = append(q.others, sibling{o.name, got.config})
	}
	if p.live != nil {
		got := x.create(t, p.live.name, live)
		if got.err != nil || got.lost {
			return ""
		}
		q.live = &sibling{p.live.name, got.config}
	}
	mismatch, _, _ := q.play(t, x)
	return mismatch
}

func (x *target) create(t *testing.T, name string, c document) answer {
	t.Helper()
	return x.ask(t, "$JS.API.CONSUMER.CREATE.S."+name, fmt.Appendf(nil, `{"stream_name":"S","config":%s}`, c))
}

func decodeConsumer(t *testing.T, raw json.RawMessage) *broker.ConsumerConfig {
	t.Helper()
	d, err := broker.DecodeConsumer(raw)
	if err != nil || d.Err != nil {
		t.Fatalf("the broker's own config %s: %v %v", raw, err, d.Err)
	}
	return &d.Config
}

func decodeStream(t *testing.T, raw json.RawMessage) *broker.StreamConfig {
	t.Helper()
	d, err := broker.DecodeStream(raw)
	if err != nil || d.Err != nil {
		t.Fatalf("the broker's own config %s: %v %v", raw, err, d.Err)
	}
	return &d.Config
}
