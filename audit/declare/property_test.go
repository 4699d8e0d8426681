package declare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/audit/declare"
	"github.com/natsmig/natsmig/internal/fleet"
	"github.com/natsmig/natsmig/natstest"
)

// eachFleet tries a property on random fleets. A failure names its seed.
func eachFleet(t *testing.T, n int, property func(*testing.T, *fleetGen, *audit.Snapshot, *audit.Fleet)) {
	t.Helper()
	base := uint64(time.Now().UnixNano())
	for i := range uint64(n) {
		seed := base + i
		ok := t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			g := &fleetGen{Rand: rand.New(rand.NewPCG(seed, 0))}
			s := g.snapshot(t)
			property(t, g, s, index(t, s))
		})
		if !ok {
			return
		}
	}
}

func index(t *testing.T, s *audit.Snapshot) *audit.Fleet {
	t.Helper()
	f, err := audit.Index(s, broker.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAdoptRoundTrip adopts random fleets, writes and reads the text, and audits
// it over the very fleet: nothing would change.
func TestAdoptRoundTrip(t *testing.T) {
	eachFleet(t, 150, func(t *testing.T, g *fleetGen, _ *audit.Snapshot, f *audit.Fleet) {
		adoptRoundTrip(t, f, audit.AdoptOptions{Ephemerals: g.chance(2), Internal: true})
	})
}

// TestAdoptReferenceFleet does the same with a real broker's fleet.
func TestAdoptReferenceFleet(t *testing.T) {
	srv := natstest.Start(t)
	if err := fleet.Build(t.Context(), srv.NC); err != nil {
		t.Fatal(err)
	}
	s, err := audit.Take(t.Context(), []audit.Source{{Name: "prod", Conn: srv.NC}}, audit.TakeOptions{Subjects: true})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Cells[0].Complete {
		t.Fatalf("the snapshot is not complete: %v", s.Cells[0].Missing)
	}
	f := index(t, s)
	adoptRoundTrip(t, f, audit.AdoptOptions{})
	if ds := audit.Adopt(f, audit.AdoptOptions{}); len(ds) != 15 {
		t.Errorf("adopted %d declarations, want 4 streams and 11 durables", len(ds))
	}
}

func adoptRoundTrip(t *testing.T, f *audit.Fleet, o audit.AdoptOptions) {
	t.Helper()
	adopted := audit.Adopt(f, o)
	var text bytes.Buffer
	if err := declare.Write(&text, adopted); err != nil {
		t.Fatal(err)
	}
	set, err := declare.Read("adopted.yaml", text.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, &text)
	}
	sameDeclarations(t, adopted, set.Declarations, &text)
	r, err := audit.Compare(f, set.Declarations, audit.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, &text)
	}
	if r.Verdict != audit.Pass {
		t.Errorf("verdict %s, want pass", r.Verdict)
	}
	wantNoops(t, r, &text)
}

// wantNoops wants every declared entry to change nothing, and no error.
func wantNoops(t *testing.T, r *audit.Report, text fmt.Stringer) {
	t.Helper()
	for _, entries := range [][]audit.Entry{r.Streams, r.Consumers} {
		for i := range entries {
			e := &entries[i]
			if e.Writer != "" && e.Outcome != broker.Noop {
				t.Errorf("%s in %q: %s %v %v, want noop\n%+v\n%s", e.Name(), e.Cell, e.Outcome, e.Error, e.Reason, e.Fields, text)
			}
			for _, found := range e.Findings {
				if found.Severity == audit.Error {
					t.Errorf("%s: %s %s", e.Name(), found.Code, found.Message)
				}
			}
		}
	}
}

// plainDeclaration is what has to be the same on both sides of a text.
type plainDeclaration struct {
	Name     string
	Writer   audit.Writer
	Target   audit.Target
	Consumer *broker.ConsumerConfig
	Stream   *broker.StreamConfig
	Declared broker.FieldSet
}

func plain(ds []*audit.Declaration) []plainDeclaration {
	all := make([]plainDeclaration, len(ds))
	for i, d := range ds {
		p := plainDeclaration{Name: d.Name(), Writer: d.Writer, Target: d.Target, Declared: d.Declared}
		if d.Request != nil {
			c := d.Request.Config.Canonical(0)
			p.Consumer = &c
			if name, _ := broker.ConsumerFieldIndex("name"); c.Durable != "" {
				p.Declared.Add(name) // goes without saying
			}
		}
		if d.StreamRequest != nil {
			c := d.StreamRequest.Config.Canonical()
			p.Stream = &c
		}
		all[i] = p
	}
	return all
}

func sameDeclarations(t *testing.T, want, got []*audit.Declaration, text fmt.Stringer) {
	t.Helper()
	if diff := cmp.Diff(byName(plain(want)), byName(plain(got))); diff != "" {
		t.Errorf("what is read is not what was written (-written +read):\n%s\n%s", diff, text)
	}
}

func byName(ds []plainDeclaration) map[string]plainDeclaration {
	m := map[string]plainDeclaration{}
	for _, d := range ds {
		m[d.Target.Cell+"\n"+d.Name] = d
	}
	return m
}

// TestInfoIsItsOwnDeclaration feeds infos back over the snapshot they came from.
func TestInfoIsItsOwnDeclaration(t *testing.T) {
	eachFleet(t, 60, func(t *testing.T, _ *fleetGen, s *audit.Snapshot, _ *audit.Fleet) {
		one := &audit.Snapshot{TakenAt: s.TakenAt, Cells: s.Cells[:1]}
		var ds []*audit.Declaration
		for _, stream := range one.Cells[0].Streams {
			infos := [][]byte{toJSON(t, map[string]any{"config": stream.Config, "state": stream.State})}
			for _, c := range stream.Consumers {
				infos = append(infos, c.Raw())
			}
			for _, info := range infos {
				set, err := declare.Read("info.json", info)
				if err != nil {
					t.Fatalf("%v\n%s", err, info)
				}
				ds = append(ds, set.Declarations...)
			}
		}
		r, err := audit.Compare(index(t, one), ds, audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		wantNoops(t, r, bytes.NewBuffer(toJSON(t, one)))
		if r.Summary.Noop != len(ds) {
			t.Errorf("%d noops of %d declarations", r.Summary.Noop, len(ds))
		}
	})
}

// TestSnapshotIsItsOwnDeclaration does so with the whole snapshot as a file.
func TestSnapshotIsItsOwnDeclaration(t *testing.T) {
	eachFleet(t, 60, func(t *testing.T, _ *fleetGen, s *audit.Snapshot, f *audit.Fleet) {
		var text bytes.Buffer
		if err := s.Write(&text); err != nil {
			t.Fatal(err)
		}
		set, err := declare.Read("snapshot.json", text.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		r, err := audit.Compare(f, set.Declarations, audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		wantNoops(t, r, &text)
	})
}

// nackKeys are the keys that a resource made of a live config gets.
var nackKeys = map[string]string{
	"durable_name": "durableName", "description": "description", "deliver_policy": "deliverPolicy", "opt_start_seq": "optStartSeq",
	"opt_start_time": "optStartTime", "ack_policy": "ackPolicy", "ack_wait": "ackWait", "max_deliver": "maxDeliver", "backoff": "backoff",
	"filter_subject": "filterSubject", "filter_subjects": "filterSubjects", "replay_policy": "replayPolicy", "rate_limit_bps": "rateLimitBps",
	"sample_freq": "sampleFreq", "max_waiting": "maxWaiting", "max_ack_pending": "maxAckPending", "flow_control": "flowControl",
	"headers_only": "headersOnly", "max_batch": "maxRequestBatch", "max_expires": "maxRequestExpires", "max_bytes": "maxRequestMaxBytes",
	"deliver_subject": "deliverSubject", "deliver_group": "deliverGroup", "idle_heartbeat": "heartbeatInterval",
	"inactive_threshold": "inactiveThreshold", "num_replicas": "replicas", "mem_storage": "memStorage", "metadata": "metadata",
	"pause_until": "pauseUntil", "priority_groups": "priorityGroups", "priority_policy": "priorityPolicy", "priority_timeout": "pinnedTtl",
}

// nackOf writes a resource of a live consumer, in JSON, which is YAML. The words
// of its policies are the controller's.
func nackOf(t *testing.T, stream string, c *broker.ConsumerConfig) []byte {
	t.Helper()
	spec := map[string]any{"streamName": stream}
	for _, f := range broker.ConsumerFields() {
		key, v := nackKeys[f.Name], f.Get(c)
		if key == "" || v == nil {
			continue
		}
		switch v := v.(type) {
		case time.Duration:
			spec[key] = v.String()
		case []time.Duration:
			var list []string
			for _, d := range v {
				list = append(list, d.String())
			}
			spec[key] = list
		case broker.DeliverPolicy:
			spec[key] = map[broker.DeliverPolicy]string{
				"by_start_sequence": "byStartSequence", "by_start_time": "byStartTime", "last_per_subject": "lastPerSubject",
			}[v]
			if spec[key] == "" {
				spec[key] = string(v)
			}
		default:
			spec[key] = v
		}
	}
	return toJSON(t, map[string]any{
		"apiVersion": "jetstream.nats.io/v1beta2", "kind": "Consumer", "metadata": map[string]any{"name": "x"}, "spec": spec,
	})
}

// TestResourceOfLiveConsumer makes a resource of each live durable and audits it
// over it: nothing would change, or the audit says what and why.
func TestResourceOfLiveConsumer(t *testing.T) {
	noops, others := 0, 0
	eachFleet(t, 60, func(t *testing.T, _ *fleetGen, s *audit.Snapshot, _ *audit.Fleet) {
		f := index(t, &audit.Snapshot{Cells: s.Cells[:1]})
		for _, stream := range f.Cells[0].Streams {
			for _, c := range stream.Consumers {
				if c.Config.Durable == "" {
					continue
				}
				resource := nackOf(t, stream.Name, c.Config)
				set, err := declare.Read("consumer.yaml", resource)
				if err != nil {
					t.Fatalf("%v\n%s", err, resource)
				}
				r, err := audit.Compare(f, set.Declarations, audit.Options{})
				if err != nil {
					t.Fatal(err)
				}
				e := entryOf(r, stream.Name, c.Name)
				if e.Outcome == broker.Noop {
					noops++
					continue
				}
				others++
				if why := explained(e); why != "" {
					t.Errorf("%s: %s, %s\nlive %s\n%s", e.Name(), e.Outcome, why, toJSON(t, c.Config), resource)
				}
			}
		}
	})
	if noops < others {
		t.Errorf("%d resources would change nothing, %d something", noops, others)
	}
}

func entryOf(r *audit.Report, stream, consumer string) *audit.Entry {
	for i := range r.Consumers {
		if e := &r.Consumers[i]; e.Stream == stream && e.Consumer == consumer {
			return e
		}
	}
	return nil
}

// explained says what an entry that changes something leaves unexplained. Only
// what the resource definition fills in can change, and the field says so.
func explained(e *audit.Entry) string {
	if len(e.Fields) == 0 {
		return "and no field changes"
	}
	for i := range e.Fields {
		if f := &e.Fields[i]; f.Class != audit.Same && !strings.Contains(f.Note, "CRD default") {
			return "and nothing says why " + f.Name + " changes"
		}
	}
	return ""
}

// TestSnapshotIsLossless writes and reads snapshots with members that nobody
// knows, at every level.
func TestSnapshotIsLossless(t *testing.T) {
	eachFleet(t, 60, func(t *testing.T, g *fleetGen, s *audit.Snapshot, _ *audit.Fleet) {
		var tree map[string]any
		decode(t, toJSON(t, s), &tree)
		cell := tree["cells"].([]any)[0].(map[string]any)
		cell["complete"], cell["missing"] = false, []any{map[string]any{"what": "the account", "reason": "denied"}}
		g.sprinkle(tree, 0)
		had := toJSON(t, tree)
		first := rewrite(t, had)
		if second := rewrite(t, first); !bytes.Equal(first, second) {
			t.Errorf("written again it differs:\n%s", cmp.Diff(string(first), string(second)))
		}
		var want, got map[string]any
		decode(t, had, &want)
		decode(t, first, &got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-had +has):\n%s", diff)
		}
		sorted := sortedJSON(t, first)
		if diff := cmp.Diff(string(sorted), string(first)); diff != "" {
			t.Errorf("keys are not sorted (-sorted +written):\n%s", diff)
		}
	})
}

func rewrite(t *testing.T, data []byte) []byte {
	t.Helper()
	s, err := audit.ReadSnapshot("s.json", data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t *testing.T, data []byte, to any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(to); err != nil {
		t.Fatal(err)
	}
}

func sortedJSON(t *testing.T, data []byte) []byte {
	t.Helper()
	var tree any // maps are written sorted
	decode(t, data, &tree)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tree); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sprinkle puts members that no version knows into objects at every level.
func (g *fleetGen) sprinkle(v any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedNames(v) {
			g.sprinkle(v[k], depth+1)
		}
		for range g.IntN(3) {
			v["x-"+strings.ToValidUTF8(g.word(), "?")] = g.value(0)
		}
	case []any:
		for _, item := range v {
			g.sprinkle(item, depth+1)
		}
	}
}

func (g *fleetGen) value(depth int) any {
	switch g.IntN(7 - 2*depth) {
	case 0:
		return g.word()
	case 1:
		return json.Number(pick(g, "0", "-1", "18446744073709551616", "1.10", "1e400", "0.1e-5"))
	case 2:
		return pick[any](g, nil, true, false)
	case 3, 4:
		return []any{g.value(depth + 1), g.value(depth + 1)}
	}
	return map[string]any{g.word(): g.value(depth + 1)}
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
