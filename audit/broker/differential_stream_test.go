package broker_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/natsmig/natsmig/audit/broker"
)

func TestStreamsAgainstBrokers(t *testing.T) {
	onEachBroker(t, streamSettings(), func(t *testing.T, x *target, s setting) { compareStreams(t, x, s.rare) })
}

func compareStreams(t *testing.T, x *target, minPercent int) {
	t.Helper()
	base, reached, mismatches := seed(t), newTally(), 0
	for scenario, done := uint64(0), 0; done < x.pairs/2 && mismatches < maxMismatches; scenario++ {
		g := &streamGame{target: x, random: x.random(base, scenario), tally: reached, held: map[string]json.RawMessage{}}
		g.clean(t)
		for range 10 {
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

// A streamGame is an account with up to three streams. S may have consumers.
type streamGame struct {
	*target
	*random
	*tally
	held      map[string]json.RawMessage
	consumers []sibling
	over      bool // what the broker holds is not certain any more
}

func (g *streamGame) step(t *testing.T) (sent int, ok bool) {
	t.Helper()
	g.change(t)
	p := g.pair()
	if name := p.asked().Name; name == "" || strings.ContainsAny(name, ". \t") {
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
	g.record.stream(t, g.target, p, got)
	if outcome == broker.Unknown || g.leftBehind(got.err, p) || got.err == nil && g.moves(p) { // begin anew
		g.drop(t, p.asked().Name)
	}
	if got.err == nil && !g.moves(p) && outcome != broker.Unknown {
		g.held[p.asked().Name] = got.config
		if !g.settle(t, got.config) {
			g.over = true
			g.doubt(false)
		}
	}
	return 1, true
}

// leftBehind says whether a refusal has changed the broker all the same: an
// update has put new sources in place before it failed, or the meta leader has
// taken what the stream's leader refuses.
func (g *streamGame) leftBehind(err *broker.APIError, p *streamPair) bool {
	switch {
	case err == nil || err.ErrCode == 10069 && strings.HasPrefix(err.Description, "change to limits"):
		return false
	case err.ErrCode == 10069:
		return true
	}
	return g.model.Clustered && (err.ErrCode == 10049 || err.ErrCode == 10051 || p.asked().Sealed)
}

// moves says whether a cluster takes the update for a move, even to where the
// stream is: until that is over it answers 10124 to the next.
func (g *streamGame) moves(p *streamPair) bool {
	return g.model.Clustered && p.live != nil && p.asked().Placement != nil
}

// change deletes a stream, or puts a consumer on S.
func (g *streamGame) change(t *testing.T) {
	t.Helper()
	if g.chance(8) {
		g.drop(t, one(g.random, "S", "P", "Q"))
	}
	if g.held["S"] != nil && g.chance(4) && len(g.consumers) == 0 {
		c := document{}.with("durable_name", "c").with("ack_policy", "explicit").with("max_ack_pending", one(g.random, 0, 10, 2000))
		if got := g.create(t, "c", c.with("inactive_threshold", one(g.random, 0, 5*second, 3600*second))); got.err == nil && !got.lost {
			g.consumers = []sibling{{"c", got.config}}
		}
	}
}

// drop deletes a stream, and with it what the game knows of it.
func (g *streamGame) drop(t *testing.T, name string) {
	t.Helper()
	g.deleteStream(t, name)
	delete(g.held, name)
	if name == "S" {
		g.consumers = nil
	}
}

type streamPair struct {
	peers     []json.RawMessage
	consumers []sibling
	live      json.RawMessage
	config    document
	action    broker.Action
}

func (g *streamGame) pair() *streamPair {
	p := &streamPair{action: one[broker.Action](g.random, "", "", "", "", "create", "update")}
	name := one(g.random, "S", "S", "S", "P", "Q")
	if live := g.held[name]; live != nil && !g.chance(4) {
		p.config = parse(live)
		for range one(g.random, 0, 1, 1, 1, 2, 3) {
			p.config = g.mutateStream(p.config)
		}
	} else {
		p.config = g.streamConfig(name)
	}
	if g.chance(9) {
		p.config = g.spoil(p.config)
	}
	name = p.asked().Name
	for _, n := range slices.Sorted(maps.Keys(g.held)) {
		if n == name {
			p.live = g.held[n]
		} else {
			p.peers = append(p.peers, g.held[n])
		}
	}
	if name == "S" {
		p.consumers = g.consumers
	}
	if p.action != broker.CreateOnly || p.live == nil { // see consumerGame.pair
		p.config = slices.DeleteFunc(slices.Clone(p.config), func(m member) bool {
			return m.value == "[]" || m.value == "{}" && strings.EqualFold(m.name, "metadata")
		})
	}
	return p
}

// request is the pair's request as the model takes it.
func (p *streamPair) request() *broker.StreamRequest {
	req, err := broker.ReadStreamRequest(json.RawMessage(p.config.String()))
	if err != nil {
		panic(err)
	}
	req.Action = p.action
	return req
}

func (p *streamPair) asked() broker.StreamConfig { return p.request().Config }

// play sends the request and compares the answer with the model's.
func (p *streamPair) play(t *testing.T, x *target) (mismatch string, got answer, outcome broker.Outcome) {
	t.Helper()
	subject, err := p.request().Subject(p.live != nil)
	if err != nil {
		t.Fatal(err)
	}
	got = x.ask(t, "$JS.API."+subject, []byte(p.config.String()))
	if !got.lost {
		mismatch, outcome = p.judge(t, x.model, got)
	}
	return mismatch, got, outcome
}

// judge compares an answer with what the model says.
func (p *streamPair) judge(t *testing.T, model broker.Broker, got answer) (mismatch string, outcome broker.Outcome) {
	t.Helper()
	var live *broker.StreamConfig
	if p.live != nil {
		live = decodeStream(t, p.live)
	}
	var peers []*broker.StreamConfig
	for _, raw := range p.peers {
		peers = append(peers, decodeStream(t, raw))
	}
	var consumers []broker.Sibling
	for _, c := range p.consumers {
		consumers = append(consumers, broker.Sibling{Name: c.name, Config: decodeConsumer(t, c.config)})
	}
	want := model.Stream(live, peers, consumers, p.request())
	outcome = broker.Reject
	if got.err == nil {
		outcome = broker.StreamOutcome(live, decodeStream(t, got.config))
	}
	switch {
	case want.Outcome == broker.Unknown:
		return "", broker.Unknown
	case want.Outcome != outcome:
		mismatch = fmt.Sprintf("outcome: model %s (%v%s), broker %s (%v)", want.Outcome, want.Error, want.Reason, outcome, got.err)
	case outcome == broker.Reject:
		mismatch = compareError(want.Error, got.err)
	default:
		mismatch = compareStored(broker.StreamFields(), want.Stored, decodeStream(t, got.config))
	}
	return mismatch, outcome
}

// report is that of consumers.
func (p *streamPair) report(t *testing.T, x *target, mismatch string) (sure bool) {
	t.Helper()
	docs := []*document{&p.config}
	var live document
	if p.live != nil {
		live = parse(p.live)
		docs = append(docs, &live)
	}
	peers := make([]document, len(p.peers))
	for i := range p.peers {
		peers[i] = parse(p.peers[i])
		docs = append(docs, &peers[i])
	}
	tries := x.tries()
	again := func() bool {
		if tries--; tries < 0 {
			return false
		}
		m := p.replay(t, x, live, peers)
		if m != "" {
			mismatch = m
		}
		return m != ""
	}
	if sure = again(); !sure {
		mismatch += " (not seen again)"
	} else {
		for _, drop := range []func(){func() { p.consumers = nil }, func() { peers = nil }} {
			was, others := *p, peers
			if drop(); !again() {
				*p, peers = was, others
			}
		}
		shrink(docs, []string{"name"}, again)
	}
	if sure && x.model.Clustered {
		sure = p.replay(t, x.another(), live, peers) != ""
	}
	return x.complain(t, sure, "%s: %s\n  peers     %s\n  consumers %s\n  live      %s\n  sent      %s action %q", x.name, mismatch, peers, names(p.consumers), live, p.config, p.action)
}

func (p *streamPair) replay(t *testing.T, x *target, live document, peers []document) string {
	t.Helper()
	x.clean(t)
	q := *p
	q.live, q.peers, q.consumers = nil, nil, nil
	create := func(d document) json.RawMessage {
		got := x.ask(t, "$JS.API.STREAM.CREATE."+d.text("name"), []byte(d.String()))
		if got.err != nil || got.lost {
			return nil
		}
		x.settle(t, got.config)
		return got.config
	}
	for _, d := range peers {
		raw := create(d)
		if raw == nil {
			return ""
		}
		q.peers = append(q.peers, raw)
	}
	if p.live != nil {
		if q.live = create(live); q.live == nil {
			return ""
		}
	}
	for _, c := range p.consumers {
		got := x.create(t, c.name, parse(c.config))
		if got.err != nil || got.lost {
			return ""
		}
		q.consumers = append(q.consumers, sibling{c.name, got.config})
	}
	mismatch, _, _ := q.play(t, x)
	return mismatch
}
