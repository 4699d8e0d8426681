package broker_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/natsmig/natsmig/audit/broker"
)

// A record is one pair that was played on a real broker: the situation, the
// request, and the answer.
type record struct {
	Kind      string          `json:"kind"` // consumer or stream
	Clustered bool            `json:"clustered,omitempty"`
	Limits    *broker.Limits  `json:"limits,omitempty"`
	Stream    json.RawMessage `json:"stream,omitempty"` // the consumer's
	Live      json.RawMessage `json:"live,omitempty"`
	LiveName  string          `json:"live_name,omitempty"`
	Consumers []recordedAsset `json:"consumers,omitempty"` // others of the consumer, or those of the stream
	Peers     []recordedAsset `json:"peers,omitempty"`
	Action    broker.Action   `json:"action,omitempty"`
	// Sent is text, because JSON with two members of one name is sent too.
	Sent   string           `json:"sent"`
	Stored json.RawMessage  `json:"stored,omitempty"`
	Error  *broker.APIError `json:"error,omitempty"`
}

type recordedAsset struct {
	Name   string          `json:"name,omitempty"`
	Config json.RawMessage `json:"config"`
}

// maxRecord leaves out pairs whose only point is a long text.
const maxRecord = 2048

// A recorder keeps so many pairs of one server, and so many of every other
// setting.
const (
	keptStandalone = 80
	keptElsewhere  = 40
)

// A recorder keeps one pair of each kind that a run meets: the same err_code and
// text, or the same action and changed fields. A nil recorder keeps none.
//
//	NATSMIG_RECORD  the folder to write to, one file for each test and version
type recorder struct {
	seen  map[string]bool
	lines []string
	most  int
}

func startRecorder(t *testing.T, version string) *recorder {
	t.Helper()
	dir := os.Getenv("NATSMIG_RECORD")
	if dir == "" {
		return nil
	}
	r := &recorder{seen: map[string]bool{}, most: keptElsewhere}
	if strings.Contains(t.Name(), "/standalone/") {
		r.most = keptStandalone
	}
	t.Cleanup(func() { r.write(t, filepath.Join(dir, version)) })
	return r
}

func (r *recorder) write(t *testing.T, dir string) {
	t.Helper()
	if t.Failed() {
		return // what the model does not know must not become what it is tested with
	}
	name := strings.ReplaceAll(strings.TrimPrefix(filepath.Dir(t.Name()), "Test"), "/", "_")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	slices.Sort(r.lines)
	text := strings.Join(r.lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (r *recorder) consumer(t *testing.T, x *target, p *consumerPair, got answer) {
	t.Helper()
	if r == nil {
		return
	}
	rec := &record{Kind: "consumer", Stream: json.RawMessage(p.stream.String()), Action: p.action, Sent: p.config.String(), Consumers: recordSiblings(p.others)}
	if p.live != nil {
		rec.LiveName, rec.Live = p.live.name, p.live.config
	}
	for _, peer := range p.peers {
		rec.Peers = append(rec.Peers, recordedAsset{Config: peer})
	}
	r.add(t, x, rec, got)
}

func (r *recorder) stream(t *testing.T, x *target, p *streamPair, got answer) {
	t.Helper()
	if r == nil {
		return
	}
	rec := &record{Kind: "stream", Live: p.live, Action: p.action, Sent: p.config.String(), Consumers: recordSiblings(p.consumers)}
	for _, peer := range p.peers {
		rec.Peers = append(rec.Peers, recordedAsset{Config: peer})
	}
	r.add(t, x, rec, got)
}

func recordSiblings(all []sibling) (assets []recordedAsset) {
	for _, s := range all {
		assets = append(assets, recordedAsset{s.name, s.config})
	}
	return assets
}

func (r *recorder) add(t *testing.T, x *target, rec *record, got answer) {
	t.Helper()
	rec.Clustered, rec.Stored, rec.Error = x.model.Clustered, got.config, got.err
	if x.model.Limits != (broker.Limits{}) {
		rec.Limits = &x.model.Limits
	}
	kind := rec.sort()
	if r.seen[kind] || len(r.lines) == r.most {
		return
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(rec); err != nil {
		t.Fatal(err)
	}
	if line.Len() > maxRecord {
		return
	}
	r.seen[kind] = true
	r.lines = append(r.lines, strings.TrimSpace(line.String()))
}

// sort is what pairs of one kind have in common.
func (r *record) sort() string {
	if r.Error != nil {
		text, _, _ := strings.Cut(r.Error.Description, ":")
		return fmt.Sprint(r.Error.ErrCode, text)
	}
	var was, is map[string]json.RawMessage
	_ = json.Unmarshal(r.Live, &was) // nothing where nothing is live
	if err := json.Unmarshal(r.Stored, &is); err != nil {
		panic(err)
	}
	var changed []string
	for name, value := range is {
		if !bytes.Equal(was[name], value) {
			changed = append(changed, name)
		}
	}
	for name := range was {
		if _, ok := is[name]; !ok {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	if r.Live == nil || len(changed) > 2 {
		changed = changed[:min(len(changed), 3)]
	}
	return fmt.Sprint(r.Action, r.Live != nil, changed)
}

// TestRecordedPairs replays what brokers of each line answered when the pairs
// were recorded.
func TestRecordedPairs(t *testing.T) {
	lines := map[string]int{}
	files, err := filepath.Glob("testdata/recorded/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		version := filepath.Base(filepath.Dir(file))
		t.Run(version+"/"+strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			lines[version[:strings.LastIndex(version, ".")]] += replayFile(t, file, version)
		})
	}
	for _, l := range broker.Lines() {
		if got := lines[l.Line()]; got < 300 {
			t.Errorf("%s: %d recorded pairs, want at least 300", l.Line(), got)
		}
	}
}

func replayFile(t *testing.T, file, version string) (played int) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := broker.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		var rec record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatalf("%s:%d: %v", file, i+1, err)
		}
		if mismatch := rec.replay(t, v); mismatch != "" {
			t.Errorf("%s:%d: %s\n  %s", file, i+1, mismatch, line)
		}
		played++
	}
	return played
}

func (r *record) replay(t *testing.T, v broker.Version) (mismatch string) {
	t.Helper()
	model := broker.Broker{Version: v, Clustered: r.Clustered}
	if r.Limits != nil {
		model.Limits = *r.Limits
	}
	got := answer{config: r.Stored, err: r.Error}
	if r.Kind == "stream" {
		mismatch, _ = r.streamPair().judge(t, model, got)
	} else {
		mismatch, _ = r.consumerPair().judge(t, model, got)
	}
	return mismatch
}

func (r *record) consumerPair() *consumerPair {
	p := &consumerPair{stream: parse(r.Stream), others: siblings(r.Consumers), config: parseOrdered(r.Sent), action: r.Action}
	if r.Live != nil {
		p.live = &sibling{r.LiveName, r.Live}
	}
	for _, peer := range r.Peers {
		p.peers = append(p.peers, peer.Config)
	}
	return p
}

func (r *record) streamPair() *streamPair {
	p := &streamPair{live: r.Live, consumers: siblings(r.Consumers), config: parseOrdered(r.Sent), action: r.Action}
	for _, peer := range r.Peers {
		p.peers = append(p.peers, peer.Config)
	}
	return p
}

func siblings(all []recordedAsset) (out []sibling) {
	for _, a := range all {
		out = append(out, sibling{a.Name, a.Config})
	}
	return out
}
