package timingcontract

import (
	"testing"
	"time"
)

const (
	s = time.Second
	m = time.Minute
	h = time.Hour
)

// TestReferenceTimings holds the arithmetic to timings that were measured on
// live brokers.
func TestReferenceTimings(t *testing.T) {
	flat := Handler{OnFailure: NakDelay, Delays: []time.Duration{30 * s}}
	orphan := []time.Duration{30 * s, 2 * m, 10 * m, h, 4 * h, 12 * h, 24 * h}
	for _, tc := range []struct {
		name     string
		c        Contract
		delivery int
		last     time.Duration
		capture  time.Duration
		done     time.Duration
	}{
		{"the orphan, left to the server", Contract{Ladder: orphan, MaxDeliver: 8}, 8, 41*h + 12*m + 30*s, 0, 65*h + 12*m + 30*s},
		{"the orphan, nak of its first rung", Contract{Ladder: orphan, MaxDeliver: 8, Handler: flat}, 8, 41*h + 12*m + 30*s, 0, 65*h + 12*m + 30*s},
		{"nak 30s flat, no ladder", Contract{AckWait: 45 * s, MaxDeliver: 8, Handler: flat}, 8, 3*m + 30*s, 0, 4 * m},
		{"ladder 30s flat, reserve 1", Contract{Ladder: []time.Duration{30 * s}, MaxDeliver: 9, Handler: Handler{Reserve: 1}}, 8, 3*m + 30*s, 4 * m, 4*m + 30*s},
		{"growing ladder, reserve 1", Contract{Ladder: []time.Duration{30 * s, 2 * m, 5 * m, 12 * m, 20 * m}, MaxDeliver: 7, Handler: Handler{Reserve: 1}}, 6, 39*m + 30*s, 59*m + 30*s, 79*m + 30*s},
		{"slow ladder", Contract{Ladder: []time.Duration{5 * m, 5 * m, 5 * m, 12 * m, 15 * m}, MaxDeliver: 6}, 6, 42 * m, 0, 57 * m},
		{"ack_wait alone", Contract{AckWait: 30 * s, MaxDeliver: 100}, 100, 49*m + 30*s, 0, 50 * m},
		{"plain nak burns them all", Contract{Ladder: orphan, MaxDeliver: 8, Handler: Handler{OnFailure: Nak}}, 8, 0, 0, 0},
		{"a delay shorter than the correction is at once", Contract{Ladder: []time.Duration{4 * s, 1 * s}, MaxDeliver: 3, Handler: Handler{OnFailure: NakDelay, Delays: []time.Duration{2 * s}}}, 3, 2 * s, 0, 2 * s},
		{"discard", Contract{Ladder: orphan, MaxDeliver: 8, Handler: Handler{OnFailure: Discard}}, 1, 0, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := tc.c.Envelope()
			if e.LastAttempt != (Moment{tc.delivery, tc.last}) || e.Exhausted != tc.done {
				t.Errorf("last attempt %+v, exhausted %v; want delivery %d at %v, exhausted %v", e.LastAttempt, e.Exhausted, tc.delivery, tc.last, tc.done)
			}
			if (e.Capture != nil) != (tc.capture > 0) || e.Capture != nil && e.Capture.At != tc.capture {
				t.Errorf("capture %+v, want %v", e.Capture, tc.capture)
			}
		})
	}
}

func TestNoTimingsWithoutABound(t *testing.T) {
	if e := (Contract{AckWait: 30 * s, MaxDeliver: -1}).Envelope(); e != (Envelope{Unbounded: true}) {
		t.Errorf("an unlimited contract got timings: %+v", e)
	}
}

// TestZeroRung: the broker turns the ack timer off, so the second delivery is
// the last thing that happens.
func TestZeroRung(t *testing.T) {
	e := Contract{Ladder: []time.Duration{2 * s, 0, 4 * s}, MaxDeliver: 5}.Envelope()
	if want := (Moment{2, 2 * s}); !e.Stalled || e.LastAttempt != want {
		t.Errorf("got %+v, want stalled after %+v", e, want)
	}
}

func TestHugeContractsDoNotWrapAround(t *testing.T) {
	e := Contract{Ladder: []time.Duration{24 * 365 * h}, MaxDeliver: 1 << 40}.Envelope()
	if e.LastAttempt.At <= 0 || e.Exhausted <= 0 {
		t.Errorf("wrapped around: %+v", e)
	}
}

func TestHandlerCheckNamesEveryMistake(t *testing.T) {
	bad := Handler{OnFailure: "retry", Reserve: -1, Budget: -s}
	err := bad.Check()
	if err == nil {
		t.Fatal("no error")
	}
	if n := len(err.(interface{ Unwrap() []error }).Unwrap()); n != 3 {
		t.Errorf("%d mistakes told, want 3: %v", n, err)
	}
	if err := (Handler{OnFailure: NakDelay}).Check(); err == nil {
		t.Error("nak_delay without a delay passes")
	}
	if err := (Handler{Delays: []time.Duration{s}}).Check(); err == nil {
		t.Error("delays without nak_delay pass")
	}
}
