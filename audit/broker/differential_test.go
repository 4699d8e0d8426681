package broker_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/natstest"
)

// The differential tests send random requests to a real broker, as JSON on its
// API, and give the same JSON to the model. The broker is right.
//
//	NATSMIG_SEED     the seed, in place of the fixed one
//	NATSMIG_PAIRS    how many consumer requests; half as many stream requests
//	NATSMIG_BROKERS  a folder with binaries of other lines, called
//	                 nats-server-<version>; all of them are compared too
const (
	defaultSeed  = 20261201
	defaultPairs = 500

	maxMismatches = 5 // a run ends after so many
)

// A target is one broker to compare the model with.
type target struct {
	name  string
	model broker.Broker
	nc    *nats.Conn
	pairs int // consumer requests
	// replicas are the values of num_replicas that the generators use besides
	// the edge values.
	replicas []int
	maxBytes bool // streams have max_bytes more often than not
}

// onEachBroker runs do against the embedded broker, and against those of
// NATSMIG_BROKERS.
func onEachBroker(t *testing.T, do func(*testing.T, *target), common ...natstest.Option) {
	t.Helper()
	start := func(name string, opts ...natstest.Option) {
		t.Run(name, func(t *testing.T) {
			s := natstest.Start(t, append(opts, common...)...)
			do(t, newTarget(t, s.Client, s.Version()))
		})
	}
	start("embedded")
	for _, bin := range binaries(t) {
		start(filepath.Base(bin), natstest.WithBinary(bin))
	}
}

func newTarget(t *testing.T, c *natstest.Client, version string) *target {
	t.Helper()
	v, err := broker.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return &target{name: version, model: broker.Broker{Version: v}, nc: c.NC, pairs: pairs(t), replicas: []int{1}}
}

// binaries lists the brokers of NATSMIG_BROKERS. A folder without any is an
// error: nothing is skipped silently.
func binaries(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("NATSMIG_BROKERS")
	if dir == "" {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(dir, "nats-server-*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("NATSMIG_BROKERS=%s holds no nats-server-<version> (%v)", dir, err)
	}
	return found
}

func pairs(t *testing.T) int {
	t.Helper()
	n := envInt(t, "NATSMIG_PAIRS", defaultPairs)
	if testing.Short() {
		n /= 5
	}
	return n
}

func seed(t *testing.T) uint64 {
	t.Helper()
	n := uint64(envInt(t, "NATSMIG_SEED", defaultSeed))
	t.Logf("NATSMIG_SEED=%d", n)
	return n
}

func envInt(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

var verbose = flag.Bool("broker.pairs", false, "log every pair of the differential tests")

// A random makes documents. Every scenario has its own, made of the seed and
// the scenario's number, so that one can be repeated alone.
type random struct {
	*rand.Rand
	t *target
}

func (x *target) random(seed, scenario uint64) *random {
	return &random{rand.New(rand.NewPCG(seed, scenario)), x}
}

// chance is true once in n.
func (r *random) chance(n int) bool { return r.IntN(n) == 0 }

func one[T any](r *random, of ...T) T { return of[r.IntN(len(of))] }

// An answer is what a broker said: a configuration or an error.
type answer struct {
	config json.RawMessage
	err    *broker.APIError
}

// ask sends a request, again where the store of a stream that was just deleted
// is still in the way.
func (x *target) ask(t *testing.T, subject string, payload []byte) answer {
	t.Helper()
	for range 200 {
		got := x.askOnce(t, subject, payload)
		if got.err == nil || got.err.Description != "error creating store for stream" {
			return got
		}
	}
	t.Fatalf("%s %s: the store can not be made", subject, payload)
	return answer{}
}

func (x *target) askOnce(t *testing.T, subject string, payload []byte) answer {
	t.Helper()
	msg, err := x.nc.Request(subject, payload, 20*time.Second)
	if err != nil {
		t.Fatalf("%s %s: %v", subject, payload, err)
	}
	var reply struct {
		Error  *broker.APIError
		Config json.RawMessage
	}
	if err := json.Unmarshal(msg.Data, &reply); err != nil {
		t.Fatalf("%s: reply %s: %v", subject, msg.Data, err)
	}
	if reply.Error == nil && reply.Config == nil && !strings.Contains(subject, "DELETE") {
		t.Fatalf("%s %s: reply %s", subject, payload, msg.Data)
	}
	return answer{reply.Config, reply.Error}
}

// clean deletes every stream.
func (x *target) clean(t *testing.T) {
	t.Helper()
	msg, err := x.nc.Request("$JS.API.STREAM.NAMES", nil, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var names struct{ Streams []string }
	if err := json.Unmarshal(msg.Data, &names); err != nil {
		t.Fatal(err)
	}
	for _, n := range names.Streams {
		x.ask(t, "$JS.API.STREAM.DELETE."+n, nil)
	}
}

// A tally counts what a run has reached.
type tally struct {
	outcomes map[broker.Outcome]int
	codes    map[int]int
}

func newTally() *tally { return &tally{map[broker.Outcome]int{}, map[int]int{}} }

func (y *tally) add(o broker.Outcome, a answer) {
	y.outcomes[o]++
	if a.err != nil {
		y.codes[a.err.ErrCode]++
	}
}

// check fails when an outcome is missing from the run: a comparison that only
// ever sees refusals shows nothing.
func (y *tally) check(t *testing.T, minPercent int) {
	t.Helper()
	all := 0
	for _, n := range y.outcomes {
		all += n
	}
	for _, o := range []broker.Outcome{broker.Create, broker.Noop, broker.Update, broker.Reject} {
		if y.outcomes[o]*100 < all*minPercent {
			t.Errorf("%s happened %d times of %d, want at least %d %%", o, y.outcomes[o], all, minPercent)
		}
	}
	var codes []string
	for _, c := range slices.Sorted(maps.Keys(y.codes)) {
		codes = append(codes, fmt.Sprintf("%d×%d", c, y.codes[c]))
	}
	t.Logf("%d pairs: %v; %d err_codes: %s", all, y.outcomes, len(codes), strings.Join(codes, " "))
}

// compareError says how the model's error differs from the broker's.
func compareError(model, got *broker.APIError) string {
	if model.Same(got) {
		return ""
	}
	return fmt.Sprintf("error: model %+v, broker %+v", model, got)
}

// compareStored says how two configurations differ, field by field, but for
// what the server owns.
func compareStored[C any](fields []broker.Field[C], model, got *C) string {
	if model == nil {
		return "stored: model nothing"
	}
	var diff []string
	for _, f := range broker.Differing(fields, model, got) {
		diff = append(diff, fmt.Sprintf("%s: model %v, broker %v", f.Name, show(f.Get(model)), show(f.Get(got))))
	}
	if len(diff) == 0 {
		return ""
	}
	return "stored: " + strings.Join(diff, "; ")
}

func show(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
