package prove

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/natsmig/natsmig/timingcontract"
)

// TestBrokenOnPurpose has models that are wrong in the ways that matter. Each of
// them is refuted, every time.
func TestBrokenOnPurpose(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		subject Subject
		model   func(timingcontract.Contract) timingcontract.Contract
	}{
		{
			"the model ignores the rung",
			Subject{"orphan", contract(4, 0, timingcontract.Handler{}, orphan()[:4]...)},
			func(c timingcontract.Contract) timingcontract.Contract {
				c.AckWait, c.Ladder = c.Ladder[0], nil
				return c
			},
		},
		{
			"the model ignores the rung behind a delay",
			Subject{"mixed", contract(4, 0, nakDelay(30*sec), orphan()[:4]...)},
			func(c timingcontract.Contract) timingcontract.Contract {
				c.AckWait, c.Ladder = c.Ladder[0], nil
				return c
			},
		},
		{
			"the model uses ack_wait",
			Subject{"flat", contract(4, 30*sec, nakDelay(30*sec))},
			func(c timingcontract.Contract) timingcontract.Contract {
				c.Handler = timingcontract.Handler{}
				return c
			},
		},
		{
			"the model adds no compensation",
			Subject{"mixed", contract(4, 0, nakDelay(30*sec), orphan()[:4]...)},
			func(c timingcontract.Contract) timingcontract.Contract {
				c.Handler.Delays = []time.Duration{c.Handler.Delays[0] + c.Ladder[0]} // delay + rung, and not - ack_wait
				return c
			},
		},
		{
			"the model paces a plain nak",
			Subject{"nak", contract(4, 0, timingcontract.Handler{OnFailure: timingcontract.Nak}, orphan()[:4]...)},
			func(c timingcontract.Contract) timingcontract.Contract {
				c.Handler = timingcontract.Handler{}
				return c
			},
		},
		{
			"the model forgets the last delivery",
			Subject{"short", contract(4, 30*sec, timingcontract.Handler{})},
			func(c timingcontract.Contract) timingcontract.Contract {
				c.MaxDeliver--
				return c
			},
		},
		{
			"the model retries what is discarded",
			Subject{"discard", contract(2, 30*sec, timingcontract.Handler{OnFailure: timingcontract.Discard})},
			func(c timingcontract.Contract) timingcontract.Contract {
				c.Handler = timingcontract.Handler{}
				return c
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, err := Run(t.Context(), []Subject{tc.subject}, Options{Predict: func(c timingcontract.Contract, of timingcontract.Case) timingcontract.Course {
				if of != timingcontract.Instant {
					return c.Course(of)
				}
				wrong := tc.model(c)
				return wrong.Course(of)
			}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Proofs {
				if p := &r.Proofs[i]; p.Case == timingcontract.Instant && (p.Verdict != Refuted || r.Verdict != Refuted || len(p.Disturbed) != tries-1) {
					t.Errorf("the wrong model passes: %s", tell(p))
				}
			}
		})
	}
}

// TestRandomSample measures contracts drawn at random. A draw may be one that
// tells nothing apart, but none is refuted. A failure names its seed.
func TestRandomSample(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	var subjects []Subject
	for range 12 {
		subjects = append(subjects, Subject{"drawn", drawn(r)})
	}
	report, err := Run(t.Context(), subjects, Options{})
	if err != nil {
		t.Fatal(err)
	}
	proved := 0
	for i := range report.Proofs {
		switch p := &report.Proofs[i]; p.Verdict {
		case Refuted:
			t.Errorf("seed %d: %s", seed, tell(p))
		case Proved:
			proved++
		case Undecided:
			t.Logf("seed %d: undecided: %s %s", seed, p.Case, p.Reason)
		}
	}
	if proved < len(report.Proofs)*3/4 {
		t.Errorf("seed %d: %d of %d proved", seed, proved, len(report.Proofs))
	}
}

func drawn(r *rand.Rand) timingcontract.Contract {
	wait := func() time.Duration { return time.Duration(1+r.IntN(20)) * 15 * sec }
	c := contract(2+r.IntN(5), wait(), timingcontract.Handler{
		OnFailure: []timingcontract.OnFailure{timingcontract.Ladder, timingcontract.NakDelay, timingcontract.Nak}[r.IntN(3)],
	})
	for range r.IntN(min(c.MaxDeliver, 5)) {
		c.Ladder = append(c.Ladder, wait())
	}
	if c.Handler.OnFailure == timingcontract.NakDelay {
		for range 1 + r.IntN(3) {
			c.Handler.Delays = append(c.Handler.Delays, wait())
		}
	}
	if r.IntN(2) == 0 {
		c.Handler.Budget = wait()
		c.Handler.Heartbeat.Every = wait() / 4
	}
	return c
}

// TestUndecided: on a flat ladder, which scaling never makes, the ladder and
// ack_wait are alike, and the measurement says so instead of passing.
func TestUndecided(t *testing.T) {
	c := contract(3, base, timingcontract.Handler{}, base, base, base)
	r := (&bench{}).run("S", Subject{"flat", c}, timingcontract.Instant, Modern)
	r.proof.Scaled, r.course = c, c.Course(timingcontract.Instant)
	for n, at := range r.course.Deliveries {
		r.proof.Raw = append(r.proof.Raw, Record{at, "delivery", n + 1})
	}
	r.proof.Raw = append(r.proof.Raw, Record{r.course.Exhausted, maxDeliveries, 3})
	r.judge()
	if p := &r.proof; p.Verdict != Undecided || p.Reason != "nothing tells it from: the ladder is ignored: ack_wait alone" {
		t.Errorf("%s", tell(p))
	}
	if v := overall([]Proof{{Verdict: Proved}, r.proof}); v != Undecided {
		t.Errorf("a report with it is %s", v)
	}
}

// TestNoBroker wants an error where nothing can be measured.
func TestNoBroker(t *testing.T) {
	if r, err := Run(t.Context(), referenceFleet(), Options{Binary: t.TempDir() + "/nats-server"}); err == nil {
		t.Errorf("no error, but %+v", r)
	}
}
