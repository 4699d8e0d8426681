package declare_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

// fleetGen makes fleets that some broker could hold: what it makes up goes
// through the model's own create, and what that stores is live.
type fleetGen struct {
	*rand.Rand
	broker broker.Broker
}

// words are names and texts that YAML, JSON or a terminal could take for
// something else.
var words = []string{
	"billing", "yes", "No", "on", "null", "Null", "~", "true", "y", "1e3", "0x10", "010", "1_000", "12", ".5", "-", "--", "-1", "?", ":", "a:b",
	"a: b", "# x", "a#b", "a #b", "it's", `"q"`, `\`, "[x]", "{y}", "&a", "*a", "!t", "%p", "@", "`", "|", ">", "<<", "=", ",", "2025-01-01",
	"12:30:45", "ünï", "日本", "😀", " lead", "trail ", "two\nlines", "tab\there", "cr\rlf", "\u0085", "\u2028", "\ufeff", "\x7f", "\u009f", "\ufffe",
	"\x01", "a\u0000b", "{{ .x }}", "---", "...", "$JS", "KV_x", "apiVersion", "_nats", "",
}

func (g *fleetGen) word() string { return words[g.IntN(len(words))] }

// name is a word with a number, so that it is nobody else's.
func (g *fleetGen) name(i int) string {
	if g.IntN(3) == 0 {
		return fmt.Sprintf("%d%s", i, g.word())
	}
	return fmt.Sprintf("%s%d", g.word(), i)
}

func (g *fleetGen) chance(of int) bool { return g.IntN(of) == 0 }

func pick[T any](g *fleetGen, from ...T) T { return from[g.IntN(len(from))] }

func (g *fleetGen) duration() time.Duration {
	return pick(g, time.Second, 1500*time.Millisecond, 30*time.Second, time.Minute, 36*time.Hour, 123456789*time.Nanosecond, 2562047*time.Hour)
}

func (g *fleetGen) texts() map[string]string {
	m := map[string]string{}
	for range g.IntN(3) {
		m[g.word()] = g.word()
	}
	if g.chance(2) {
		m["_nats.ver"] = "2.15.3"
	}
	return m
}

func (g *fleetGen) streamConfig(name string) broker.StreamConfig {
	c := broker.StreamConfig{Name: name, Subjects: []string{name + ".>"}, Retention: pick[broker.Retention](g, "", "limits", "interest", "workqueue")}
	sets := []func(){
		func() { c.Description = g.word() },
		func() { c.Subjects = []string{name + ".b", name + ".a.*"} },
		func() { c.Subjects = nil },
		func() { c.MaxConsumers = g.IntN(20) },
		func() { c.MaxMsgs = int64(g.IntN(1 << 20)) },
		func() { c.MaxBytes = 1 << 40 },
		func() { c.MaxAge = g.duration() },
		func() { c.MaxMsgsPer = int64(g.IntN(9)) },
		func() { c.MaxMsgSize = 1 << 20 },
		func() { c.Discard = broker.DiscardNew },
		func() { c.Storage = broker.MemoryStorage },
		func() { c.Replicas = pick(g, 1, 3, 5) },
		func() { c.NoAck = true },
		func() { c.Duplicates = g.duration() },
		func() { c.Placement = &broker.Placement{Cluster: g.word(), Tags: []string{g.word()}} },
		func() { c.Compression = broker.S2 },
		func() { c.FirstSeq = 1 << 60 },
		func() { c.Mirror, c.Subjects = &broker.Source{Name: "0", FilterSubject: "0.x"}, nil },
		func() {
			c.Sources = []*broker.Source{{Name: "9", FilterSubject: "x.>"}, {Name: "1", External: &broker.External{APIPrefix: "$JS.hub.API"}}}
		},
		func() { c.SubjectTransform = &broker.SubjectTransform{Source: name + ".>", Destination: "t.>"} },
		func() { c.Republish = &broker.Republish{Source: name + ".>", Destination: "r.>", HeadersOnly: true} },
		func() { c.AllowDirect = true },
		func() { c.DenyDelete = true },
		func() { c.DenyPurge = true },
		func() { c.AllowRollup = true },
		func() {
			c.ConsumerLimits = broker.ConsumerLimits{InactiveThreshold: time.Hour, MaxAckPending: g.IntN(100)}
		},
		func() { c.AllowMsgTTL = true },
		func() { c.AllowMsgTTL, c.SubjectDeleteMarkerTTL = true, time.Minute },
		func() { c.AllowMsgCounter = true },
		func() { c.AllowAtomicPublish = true },
		func() { c.AllowMsgSchedules = true },
		func() { c.Metadata = g.texts() },
	}
	for range g.IntN(6) {
		sets[g.IntN(len(sets))]()
	}
	return c
}

func (g *fleetGen) consumerConfig(name string, stream *broker.StreamConfig) broker.ConsumerConfig {
	c := broker.ConsumerConfig{Durable: name, AckPolicy: pick[broker.AckPolicy](g, "explicit", "explicit", "explicit", "all", "none", "")}
	start := time.Date(2025, 6, 1, 2, 0, 0, 123, time.FixedZone("", 7200))
	sets := []func(){
		func() { c.Durable, c.Name = "", name },
		func() { c.Durable, c.Name, c.InactiveThreshold = "", name, 0 },
		func() { c.Description = g.word() },
		func() { c.DeliverPolicy = pick[broker.DeliverPolicy](g, "last", "new", "last_per_subject") },
		func() { c.DeliverPolicy, c.OptStartSeq = "by_start_sequence", 1<<63+5 },
		func() { c.DeliverPolicy, c.OptStartTime = "by_start_time", &start },
		func() { c.AckWait = g.duration() },
		func() { c.MaxDeliver = g.IntN(9) - 1 },
		func() { c.Backoff, c.MaxDeliver = []time.Duration{g.duration(), g.duration()}, 4 },
		func() { c.FilterSubject = stream.Name + ".a.x" },
		func() { c.FilterSubjects = []string{stream.Name + ".b", stream.Name + ".a.y"} },
		func() { c.FilterSubjects = []string{stream.Name + ".b"} },
		func() { c.ReplayPolicy = "original" },
		func() { c.RateLimit = 1 << 40 },
		func() { c.SampleFrequency = pick(g, "50%", "100", "0%") },
		func() { c.MaxWaiting = g.IntN(1000) },
		func() { c.MaxAckPending = pick(g, 1, 50, 1000, audit.LegacyAckPending, -1) },
		func() { c.HeadersOnly = true },
		func() { c.MaxBatch, c.MaxExpires, c.MaxBytes = 5, time.Minute, 1<<20 },
		func() { c.DeliverSubject, c.DeliverGroup = "d.x", pick(g, "", "g") },
		func() { c.DeliverSubject, c.FlowControl, c.IdleHeartbeat = "d.y", true, time.Second },
		func() { c.InactiveThreshold = pick(g, time.Minute, time.Hour) },
		func() { c.Replicas = pick(g, 1, 3) },
		func() { c.MemStorage = true },
		func() { c.Metadata = g.texts() },
		func() { c.PauseUntil = &start },
		func() {
			c.PriorityGroups, c.PriorityPolicy = []string{"g1"}, pick[broker.PriorityPolicy](g, "overflow", "pinned_client", "prioritized")
		},
	}
	for range g.IntN(6) {
		sets[g.IntN(len(sets))]()
	}
	return c
}

// stream makes a stream that the broker accepts beside its peers, with some
// consumers.
func (g *fleetGen) stream(i int, peers []*broker.StreamConfig) (*broker.StreamConfig, []broker.Sibling) {
	for {
		name := pick(g, "", "", "", "KV_", "OBJ_") + g.name(i)
		res := g.broker.Stream(nil, peers, nil, &broker.StreamRequest{Config: g.streamConfig(name)})
		if res.Outcome != broker.Create {
			continue
		}
		s := &broker.Stream{Config: res.Stored}
		for k := range g.IntN(5) {
			c := g.broker.Consumer(s, nil, &broker.ConsumerRequest{Config: g.consumerConfig(g.name(k), res.Stored)})
			if c.Outcome == broker.Create {
				s.Consumers = append(s.Consumers, broker.Sibling{Name: c.Stored.ID(), Config: c.Stored})
			}
		}
		return s.Config, s.Consumers
	}
}

// snapshot makes a snapshot of one to three cells, and goes through its JSON.
func (g *fleetGen) snapshot(t *testing.T) *audit.Snapshot {
	t.Helper()
	s := audit.Snapshot{TakenAt: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
	for i := range 1 + g.IntN(3) {
		version := pick(g, "2.10.27", "2.11.4", "2.12.3", "2.14.2", "2.15.3")
		v, err := broker.ParseVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		c := audit.Cell{Name: g.name(i), BrokerVersion: version, Complete: true, Cluster: pick(g, "", "C1")}
		g.broker = broker.Broker{Version: v, Clustered: c.Cluster != ""}
		var peers []*broker.StreamConfig
		for k := range 1 + g.IntN(4) {
			config, consumers := g.stream(k, peers)
			peers = append(peers, config)
			c.Streams = append(c.Streams, liveStream(t, config, consumers))
		}
		s.Cells = append(s.Cells, c)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	read, err := audit.ReadSnapshot("snapshot.json", raw)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func liveStream(t *testing.T, config *broker.StreamConfig, consumers []broker.Sibling) audit.Stream {
	t.Helper()
	s := audit.Stream{Config: toJSON(t, config), State: json.RawMessage(`{"messages": 5, "first_seq": 1, "last_seq": 5}`)}
	for _, c := range consumers {
		info := map[string]any{"stream_name": config.Name, "name": c.Name, "config": c.Config, "num_pending": 3}
		s.Consumers = append(s.Consumers, audit.NewConsumer(toJSON(t, info)))
	}
	return s
}

func toJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
