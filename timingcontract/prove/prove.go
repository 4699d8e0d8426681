// Package prove measures timing contracts on a real broker: [Run] starts one,
// makes a durable for each contract, lets a handler fail as the contract says,
// and holds what happened against the contract's courses.
//
// Nobody waits 41 hours for it. A contract is scaled: the ranks of its waits are
// kept, and their lengths are made a second or so, each apart from the next. A
// ladder is made to grow where the contract's is flat, because on a flat one the
// ladder and ack_wait can not be told apart. So a proof is about the arithmetic
// of a contract and not about its hours.
//
// A measured wait proves something only against what else could explain it. Each
// [Proof] names the rival explanations (the ladder is ignored, ack_wait alone, a
// delay that nothing makes up for), and a wait counts if it is nearer to the
// prediction than half the way to the nearest rival. A rival that differs nowhere
// leaves the proof undecided.
//
// It does not measure the message's stream: a max_age that comes first is
// arithmetic, see [timingcontract.Surroundings].
package prove

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/internal/embedded"
	"github.com/natsmig/natsmig/timingcontract"
)

// A Subject is a contract to measure, and what to call it.
type Subject struct {
	Name     string
	Contract timingcontract.Contract
}

// Options say how to measure. The zero Options measure on the broker that is
// linked into the program.
type Options struct {
	// Binary is the path of a nats-server to measure on.
	Binary string
	// Predict says what a scaled contract should do. Nil: the contract's own
	// course. It is there to be wrong on purpose, to see a proof fail.
	Predict func(timingcontract.Contract, timingcontract.Case) timingcontract.Course
}

// A Report is what a measurement came to.
type Report struct {
	Broker  string // the version that was measured
	Verdict Verdict
	Proofs  []Proof // by subject, case and client
}

// A Verdict says what a measurement shows.
type Verdict string

// The verdicts. A measurement that can not tell the rivals apart, or that could
// not be made, is undecided; a report is proved if all of it is.
const (
	Proved    Verdict = "proved"
	Refuted   Verdict = "refuted"
	Undecided Verdict = "undecided"
)

// A Client is a nats.go client.
type Client string

// The clients: the package jetstream, and the first one, nats.JetStreamContext.
// Both are measured where the client's own words decide: a nak, a term.
const (
	Modern Client = "modern"
	Legacy Client = "legacy"
)

// A Proof is one case of one contract, measured.
type Proof struct {
	Name    string
	Case    timingcontract.Case
	Client  Client
	Verdict Verdict
	Reason  string                  // why it is not proved
	Scaled  timingcontract.Contract // what was measured
	Rivals  []Rival
	Events  []Event
	Raw     []Record // everything that was seen, in order
	// Disturbed are the reasons of measurements before this one that were refuted. A
	// machine that stops for a moment makes a wait long once; a wrong model is
	// refuted every time.
	Disturbed []string
}

// An Event is something that was predicted: the next delivery, or an end.
type Event struct {
	What      What
	After     int           // the delivery that it follows
	Predicted time.Duration // after that delivery
	Measured  time.Duration // after that delivery; negative: it did not happen
	// Tolerance is half the way to the nearest rival that can be told apart.
	Tolerance time.Duration
	Nearest   string // that rival; empty: none is apart, and the event proves nothing
}

// What can be predicted.
type What string

// The events. Silence is that nothing happens for as long as it was listened.
const (
	Redelivered What = "delivery"
	Exhausted   What = "exhausted"
	Silence     What = "silence"
)

// near says whether the event is nearer to the prediction than to any rival.
func (e *Event) near() bool {
	return e.Measured >= 0 && (e.Measured-e.Predicted).Abs() < e.Tolerance
}

// A Record is one thing that was seen, or done, during a measurement.
type Record struct {
	At       time.Duration // since the first delivery
	What     string        // delivery, nak, in_progress, term, or the advisory
	Delivery int           // by the broker's count; 0 where it tells none
}

// Run measures the subjects, all at once, on a broker of its own. The error
// says that there is no measurement at all; one that failed alone is undecided.
func Run(ctx context.Context, subjects []Subject, o Options) (*Report, error) {
	srv, err := embedded.Start(ctx, embedded.Config{Binary: o.Binary})
	if err != nil {
		return nil, fmt.Errorf("start a broker: %w", err)
	}
	defer srv.Close() //nolint:errcheck // its folder is a temporary one
	nc, err := nats.Connect(srv.ClientURL(), nats.Name("natsmig timing prove"))
	if err != nil {
		return nil, fmt.Errorf("connect to the broker: %w", err)
	}
	defer nc.Close()
	b := &bench{nc: nc, line: line(srv.Version()), predict: o.Predict}
	r := &Report{Broker: srv.Version(), Proofs: b.measure(ctx, subjects)}
	r.Verdict = overall(r.Proofs)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

func overall(ps []Proof) Verdict {
	v := Proved
	for i := range ps {
		switch ps[i].Verdict {
		case Refuted:
			return Refuted
		case Undecided:
			v = Undecided
		case Proved:
		}
	}
	if len(ps) == 0 {
		return Undecided
	}
	return v
}

// line is the release line of a version such as 2.12.15.
func line(version string) timingcontract.Line {
	_, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		return 0
	}
	return timingcontract.Line(n)
}

// A bench is where contracts are measured.
type bench struct {
	nc      *nats.Conn
	line    timingcontract.Line
	predict func(timingcontract.Contract, timingcontract.Case) timingcontract.Course
}

// measure has every run on its own stream, so that all can go at once.
func (b *bench) measure(ctx context.Context, subjects []Subject) []Proof {
	var todo []func() Proof
	for _, s := range subjects {
		for _, of := range cases(&s.Contract) {
			for _, client := range clients(&s.Contract, of) {
				stream := fmt.Sprintf("PROVE_%d", len(todo))
				todo = append(todo, func() Proof { return b.prove(ctx, stream, s, of, client) })
			}
		}
	}
	var all sync.WaitGroup
	proofs := make([]Proof, len(todo))
	for i, do := range todo {
		all.Go(func() { proofs[i] = do() })
	}
	all.Wait()
	return proofs
}

// tries is how often a contract is measured before it counts as refuted.
const tries = 2

// prove measures once, and again where that is refuted.
func (b *bench) prove(ctx context.Context, stream string, s Subject, of timingcontract.Case, client Client) Proof {
	var disturbed []string
	for try := 1; ; try++ {
		r := b.run(fmt.Sprintf("%s_%d", stream, try), s, of, client)
		r.measure(ctx)
		r.proof.Disturbed = disturbed
		if r.proof.Verdict != Refuted || try == tries {
			return r.proof
		}
		disturbed = append(disturbed, r.proof.Reason)
	}
}

// cases are those of a contract that differ from each other.
func cases(c *timingcontract.Contract) []timingcontract.Case {
	all := []timingcontract.Case{timingcontract.Instant}
	if !waits(c) {
		all = append(all, timingcontract.TimeOut)
	}
	if c.Handler.Budget > 0 {
		all = append(all, timingcontract.WholeBudget)
	}
	return all
}

// waits says whether a failing handler leaves it to the server.
func waits(c *timingcontract.Contract) bool {
	return c.Handler.OnFailure == "" || c.Handler.OnFailure == timingcontract.Ladder
}

func clients(c *timingcontract.Contract, of timingcontract.Case) []Client {
	if waits(c) || of == timingcontract.TimeOut {
		return []Client{Modern}
	}
	return []Client{Modern, Legacy}
}

// A run is one measurement.
type run struct {
	*bench
	stream string
	proof  Proof
	course timingcontract.Course // predicted
	last   int                   // the delivery that nothing is predicted after

	mu    sync.Mutex
	start time.Time     // the first delivery
	seen  chan struct{} // something was recorded
}

func (b *bench) run(stream string, s Subject, of timingcontract.Case, client Client) *run {
	r := &run{bench: b, stream: stream, seen: make(chan struct{}, 1)}
	r.proof = Proof{Name: s.Name, Case: of, Client: client, Verdict: Undecided}
	r.proof.Scaled = scale(s.Contract, of, b.line)
	watched := watchable(r.proof.Scaled)
	if b.predict != nil {
		r.course = b.predict(watched, of)
	} else {
		r.course = watched.Course(of)
	}
	r.last = len(r.course.Deliveries)
	if r.proof.Scaled.MaxDeliver < 1 {
		r.course.Exhausted = 0
	}
	return r
}

// measure drives the contract and judges what came of it.
func (r *run) measure(ctx context.Context) {
	if err := r.drive(ctx); err != nil {
		r.proof.Reason = err.Error()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.start.IsZero() {
		r.proof.Reason = "not even a first delivery came"
		return
	}
	slices.SortStableFunc(r.proof.Raw, func(a, b Record) int { return cmp.Compare(a.At, b.At) })
	r.judge()
}
