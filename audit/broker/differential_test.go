package broker_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit/broker"
)

// The differential tests send random requests to a real broker, as JSON on its
// API, and give the same JSON to the model. The broker is right.
//
//	NATSMIG_SEED     the seed, in place of the fixed one
//	NATSMIG_PAIRS    how many consumer requests; half as many stream requests
//	NATSMIG_BROKERS  a folder with binaries called nats-server-<version>, which
//	                 are compared in place of the embedded broker
const (
	defaultSeed  = 20261201
	defaultPairs = 500

	maxMismatches = 5 // a run ends after so many
)

// A target is one broker, or a cluster of them, to compare the model with.
type target struct {
	name  string
	model broker.Broker
	nc    *nats.Conn
	pairs int // consumer requests
	// replicas are the values of num_replicas that the generators use besides
	// the edge values.
	replicas []int
	maxBytes bool // streams have max_bytes more often than not
	record   *recorder
	another  func() *target // starts a second one like it
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

// A tally counts what a run has reached.
type tally struct {
	outcomes map[broker.Outcome]int
	codes    map[int]int
	lost     int // requests that a cluster did not answer, or not twice the same
}

func newTally() *tally { return &tally{outcomes: map[broker.Outcome]int{}, codes: map[int]int{}} }

func (y *tally) add(o broker.Outcome, a answer) {
	y.outcomes[o]++
	if a.err != nil {
		y.codes[a.err.ErrCode]++
	}
}

// A pair can report itself: it plays itself again, and makes itself smaller.
type pair interface {
	report(t *testing.T, x *target, mismatch string) (sure bool)
}

// ends is the end of a game: with a mismatch, or with no answer where there is
// none. Ok is as with a step.
func (y *tally) ends(t *testing.T, x *target, p pair, mismatch string) (ok bool) {
	t.Helper()
	return y.doubt(mismatch != "" && p.report(t, x, mismatch))
}

// doubt passes on whether a mismatch is sure, and counts what is not.
func (y *tally) doubt(sure bool) (ok bool) {
	if !sure {
		y.lost++
	}
	return !sure
}

// complain fails the test, or only tells what a cluster did once; then it is not
// sure.
func (x *target) complain(t *testing.T, seenAgain bool, format string, args ...any) (sure bool) {
	t.Helper()
	if sure = seenAgain || !x.model.Clustered; sure {
		t.Errorf(format, args...)
	} else {
		t.Logf(format, args...)
	}
	return sure
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
		if n := y.outcomes[o]; n == 0 || n*100 < all*minPercent {
			t.Errorf("%s happened %d times of %d, want at least %d %%", o, n, all, minPercent)
		}
	}
	if n := y.outcomes[broker.Unknown]; n > all/20 {
		t.Errorf("the model could not tell for %d of %d requests", n, all)
	}
	if y.lost > max(2, all/50) {
		t.Errorf("%d of %d requests had no answer, or another one later", y.lost, all)
	}
	var codes []string
	for _, c := range slices.Sorted(maps.Keys(y.codes)) {
		codes = append(codes, fmt.Sprintf("%d×%d", c, y.codes[c]))
	}
	t.Logf("%d pairs: %v, %d lost; %d err_codes: %s", all, y.outcomes, y.lost, len(codes), strings.Join(codes, " "))
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
