package timingcontract

import (
	"slices"
	"testing"
	"time"
)

const (
	ms = time.Millisecond
	s  = time.Second
	m  = time.Minute
	h  = time.Hour
)

func list(ds ...time.Duration) []time.Duration { return ds }

func flat(d time.Duration) Handler { return Handler{OnFailure: NakDelay, Delays: list(d)} }

// orphan is the ladder that two durables still carried long after the code had
// dropped it.
func orphan() []time.Duration { return list(30*s, 2*m, 10*m, h, 4*h, 12*h, 24*h) }

// worker is the mirror worker: half an hour of work, and its own schedule.
func worker() Contract {
	c := Contract{AckWait: 30 * m, MaxDeliver: 10, Handler: flat(30 * s)}
	c.Handler.Budget = 30 * m
	return c
}

// TestReferenceTimings holds the arithmetic to timings that were measured on
// live brokers.
func TestReferenceTimings(t *testing.T) {
	for _, tc := range []struct {
		name     string
		c        Contract
		delivery int
		last     time.Duration
		capture  time.Duration
		done     time.Duration
		stays    time.Duration
	}{
		{"the orphan, left to the server", Contract{Ladder: orphan(), MaxDeliver: 8}, 8, 41*h + 12*m + 30*s, 0, 65*h + 12*m + 30*s, 65*h + 12*m + 30*s},
		{"the orphan, nak of its first rung", Contract{Ladder: orphan(), MaxDeliver: 8, Handler: flat(30 * s)}, 8, 41*h + 12*m + 30*s, 0, 65*h + 12*m + 30*s, 65*h + 12*m + 30*s},
		{"nak 30s flat, no ladder", Contract{AckWait: 45 * s, MaxDeliver: 8, Handler: flat(30 * s)}, 8, 3*m + 30*s, 0, 4 * m, 6 * m},
		{"nak 30s flat, ack_wait by default", Contract{MaxDeliver: 8, Handler: flat(30 * s)}, 8, 3*m + 30*s, 0, 4 * m, 4 * m},
		{"ladder 30s flat, reserve 1", Contract{Ladder: list(30 * s), MaxDeliver: 9, Handler: Handler{Reserve: 1}}, 8, 3*m + 30*s, 4 * m, 4*m + 30*s, 4*m + 30*s},
		{"growing ladder, reserve 1", Contract{Ladder: list(30*s, 2*m, 5*m, 12*m, 20*m), MaxDeliver: 7, Handler: Handler{Reserve: 1}}, 6, 39*m + 30*s, 59*m + 30*s, 79*m + 30*s, 79*m + 30*s},
		{"slow ladder", Contract{Ladder: list(5*m, 5*m, 5*m, 12*m, 15*m), MaxDeliver: 6}, 6, 42 * m, 0, 57 * m, 57 * m},
		{"the mirror worker", worker(), 10, 4*m + 30*s, 0, 5 * m, 5*h + 4*m + 30*s},
		{"a worker by ack_wait alone", Contract{AckWait: 15 * m, MaxDeliver: 9}, 9, 2 * h, 0, 2*h + 15*m, 2*h + 15*m},
		{"ack_wait alone", Contract{AckWait: 30 * s, MaxDeliver: 100}, 100, 49*m + 30*s, 0, 50 * m, 50 * m},
		{"plain nak burns them all", Contract{Ladder: orphan(), MaxDeliver: 8, Handler: Handler{OnFailure: Nak}}, 8, 0, 0, 0, 65*h + 12*m + 30*s},
		{"a delay shorter than the correction is at once", Contract{Ladder: list(4*s, 1*s), MaxDeliver: 3, Handler: flat(2 * s)}, 3, 2 * s, 0, 2 * s, 6 * s},
		{"discard", Contract{Ladder: orphan(), MaxDeliver: 8, Handler: Handler{OnFailure: Discard}}, 1, 0, 0, 0, 65*h + 12*m + 30*s},
		{"sum of the ladder forgets the last wait", Contract{Ladder: list(5*s, 10*s, 15*s), MaxDeliver: 4}, 4, 30 * s, 0, 45 * s, 45 * s},
		{"20 deliveries", Contract{Ladder: list(10*s, m, 5*m), MaxDeliver: 20}, 20, h + 26*m + 10*s, 0, h + 31*m + 10*s, h + 31*m + 10*s},
		{"8 deliveries", Contract{Ladder: list(30*s, 2*m, 10*m, h, 6*h), MaxDeliver: 8}, 8, 19*h + 12*m + 30*s, 0, 25*h + 12*m + 30*s, 25*h + 12*m + 30*s},
		{"a pull every 30s at the latest", Contract{Ladder: list(5 * s), MaxDeliver: 10, Handler: Handler{PullGap: 30 * s}}, 10, 45 * s, 0, 50 * s, 5*m + 20*s},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := tc.c.Envelope()
			if e.LastAttempt != (Moment{tc.delivery, tc.last}) || e.Exhausted != tc.done || e.Residency != tc.stays {
				t.Errorf("last attempt %+v, exhausted %v, residency %v; want delivery %d at %v, exhausted %v, residency %v", e.LastAttempt, e.Exhausted, e.Residency, tc.delivery, tc.last, tc.done, tc.stays)
			}
			if (e.Capture != nil) != (tc.capture > 0) || e.Capture != nil && e.Capture.At != tc.capture {
				t.Errorf("capture %+v, want %v", e.Capture, tc.capture)
			}
		})
	}
}

// TestCourses has what was measured about single deliveries.
func TestCourses(t *testing.T) {
	ladder := list(200*ms, 500*ms, s)
	beating := Handler{Budget: 700 * ms, Heartbeat: Heartbeat{Every: 200 * ms}}
	compensated := Contract{Ladder: ladder, MaxDeliver: 5, Handler: flat(300 * ms)}
	compensated.Handler.Delays = compensated.CompensatedDelays()
	for _, tc := range []struct {
		name string
		c    Contract
		of   Case
		want Course
	}{
		{"delay and ladder add up", Contract{Ladder: ladder, MaxDeliver: 5, Handler: flat(300 * ms)}, Instant, Course{Deliveries: list(0, 300*ms, 900*ms, 2*s, 3100*ms), Exhausted: 4200 * ms}},
		{"delays that make up for it, negative ones too", compensated, Instant, Course{Deliveries: list(0, 300*ms, 600*ms, 900*ms, 1200*ms), Exhausted: 1500 * ms}},
		{"a delay of zero is a plain nak", Contract{Ladder: ladder, MaxDeliver: 3, Handler: flat(0)}, Instant, Course{Deliveries: list(0, 0, 0)}},
		{"a ladder that goes down", Contract{Ladder: list(s, 300*ms), MaxDeliver: 4}, TimeOut, Course{Deliveries: list(0, s, 1300*ms, 1600*ms), Exhausted: 1900 * ms}},
		{"the same with a short delay", Contract{Ladder: list(s, 300*ms), MaxDeliver: 4, Handler: flat(200 * ms)}, Instant, Course{Deliveries: list(0, 200*ms, 200*ms, 200*ms), Exhausted: 200 * ms}},
		{"a process that died does not nak", Contract{Ladder: ladder, MaxDeliver: 3, Handler: flat(300 * ms)}, TimeOut, Course{Deliveries: list(0, 200*ms, 700*ms), Exhausted: 1700 * ms}},
		{"heartbeats reset the clock of the rung", Contract{Ladder: list(500*ms, s, 2*s), MaxDeliver: 3, Handler: beating}, WholeBudget, Course{Deliveries: list(0, 1100*ms, 2700*ms), Exhausted: 5300 * ms}},
		{"no heartbeat at the very end", Contract{AckWait: 300 * ms, MaxDeliver: 2, Handler: Handler{Budget: 600 * ms, Heartbeat: Heartbeat{Every: 200 * ms}}}, WholeBudget, Course{Deliveries: list(0, 700*ms), Exhausted: 1400 * ms}},
		{"a heartbeat that is not kept up", Contract{AckWait: 300 * ms, MaxDeliver: 3, Handler: Handler{Budget: s, Heartbeat: Heartbeat{Every: 200 * ms, Cap: 500 * ms}}}, WholeBudget, Course{Deliveries: list(0, 700*ms), Lapsed: 1}},
		{"work longer than the second rung", Contract{Ladder: list(s, 500*ms), MaxDeliver: 5, Handler: Handler{OnFailure: Nak, Budget: 800 * ms}}, WholeBudget, Course{Deliveries: list(0, 800*ms, 1300*ms), Lapsed: 2}},
		{"zero first rung", Contract{Ladder: list(0, s), MaxDeliver: 4}, TimeOut, Course{Deliveries: list(0), Stalled: 1}},
		{"zero first rung on 2.12", Contract{Ladder: list(0, s), MaxDeliver: 4, Line: 12}, TimeOut, Course{Deliveries: list(0, 0, s, 2*s), Exhausted: 3 * s}},
		{"zero second rung waits ack_wait", Contract{Ladder: list(500*ms, 0, s), MaxDeliver: 5}, TimeOut, Course{Deliveries: list(0, 500*ms, s, 2*s, 3*s), Exhausted: 4 * s}},
		{"zero second rung on 2.9", Contract{Ladder: list(500*ms, 0, s), MaxDeliver: 5, Line: 9}, TimeOut, Course{Deliveries: list(0, 500*ms, s, 2*s, 3*s), Exhausted: 4 * s}},
		{"zero second rung on 2.10", Contract{Ladder: list(500*ms, 0, s), MaxDeliver: 5, Line: 10}, TimeOut, Course{Deliveries: list(0, 500*ms, 500*ms, 1500*ms, 2500*ms), Exhausted: 3500 * ms}},
		{"zero second rung and a delayed nak", Contract{Ladder: list(500*ms, 0, s), MaxDeliver: 5, Handler: flat(700 * ms)}, Instant, Course{Deliveries: list(0), Stalled: 1}},
		{"zero last rung and a delayed nak", Contract{Ladder: list(500*ms, s, 0), MaxDeliver: 5, Handler: flat(700 * ms)}, Instant, Course{Deliveries: list(0), Stalled: 1}},
		{"discard after the whole budget", Contract{AckWait: s, MaxDeliver: 3, Handler: Handler{OnFailure: Discard, Budget: 800 * ms}}, WholeBudget, Course{Deliveries: list(0), Ended: true, Exhausted: 800 * ms}},
		{"discard after too long", Contract{AckWait: s, MaxDeliver: 3, Handler: Handler{OnFailure: Discard, Budget: 2 * s}}, WholeBudget, Course{Deliveries: list(0, s), Lapsed: 1}},
		{"for ever", Contract{AckWait: s, MaxDeliver: -1}, TimeOut, Course{Unbounded: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.want.Case = tc.of
			if got := tc.c.Course(tc.of); !sameCourse(got, tc.want) {
				t.Errorf("got %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func sameCourse(a, b Course) bool {
	return slices.Equal(a.Deliveries, b.Deliveries) && a.Case == b.Case && a.More == b.More && a.Ended == b.Ended &&
		a.Exhausted == b.Exhausted && a.Unbounded == b.Unbounded && a.Stalled == b.Stalled && a.Lapsed == b.Lapsed
}

func TestNoTimingsWithoutABound(t *testing.T) {
	if e := (Contract{AckWait: 30 * s, MaxDeliver: -1}).Envelope(); e != (Envelope{Unbounded: true}) {
		t.Errorf("an unlimited contract got timings: %+v", e)
	}
}

func TestZeroRung(t *testing.T) {
	e := Contract{Ladder: list(2*s, 0, 4*s), MaxDeliver: 5, Handler: flat(3 * s)}.Envelope()
	if want := (Moment{1, 0}); !e.Stalled || e.LastAttempt != want || e.Exhausted != 0 || e.Residency != 0 {
		t.Errorf("got %+v, want stalled after %+v", e, want)
	}
}

func TestHugeContractsDoNotWrapAround(t *testing.T) {
	c := Contract{Ladder: list(24 * 365 * h), MaxDeliver: 1 << 40}
	if e := c.Envelope(); e.LastAttempt.At <= 0 || e.Exhausted <= 0 || e.Residency <= 0 {
		t.Errorf("wrapped around: %+v", e)
	}
	if got := c.Course(TimeOut); len(got.Deliveries) != Listed || got.More != 1<<40-Listed || got.Exhausted <= 0 {
		t.Errorf("%d deliveries listed and %d more, exhausted %v", len(got.Deliveries), got.More, got.Exhausted)
	}
}

// TestReserveOfEverything: the handler sees nothing, and gets no moment.
func TestReserveOfEverything(t *testing.T) {
	e := Contract{AckWait: s, MaxDeliver: 2, Handler: Handler{Reserve: 5}}.Envelope()
	if e.LastAttempt != (Moment{}) || e.Capture == nil || *e.Capture != (Moment{1, 0}) {
		t.Errorf("last attempt %+v, capture %+v", e.LastAttempt, e.Capture)
	}
}

func TestHandlerCheckNamesEveryMistake(t *testing.T) {
	bad := Handler{OnFailure: "retry", Reserve: -1, Workers: -1, Budget: -s, Grace: -s}
	err := bad.Check()
	if err == nil {
		t.Fatal("no error")
	}
	if n := len(err.(interface{ Unwrap() []error }).Unwrap()); n != 5 {
		t.Errorf("%d mistakes told, want 5: %v", n, err)
	}
	if err := (Handler{OnFailure: NakDelay}).Check(); err == nil {
		t.Error("nak_delay without a delay passes")
	}
	if err := (Handler{Delays: list(s)}).Check(); err == nil {
		t.Error("delays without nak_delay pass")
	}
}

func TestScheduler(t *testing.T) {
	for want, c := range map[Scheduler]Contract{
		ByLadder:   {Ladder: orphan()},
		ByNak:      {Ladder: orphan(), Handler: Handler{OnFailure: Nak}},
		ByNakDelay: {Ladder: list(s, s), Handler: flat(m)}, // alike rungs move nothing
		ByNobody:   {Handler: Handler{OnFailure: Discard}},
		Mixed:      {Ladder: list(s, 2*s), Handler: flat(m)},
	} {
		if got := c.Scheduler(); got != want {
			t.Errorf("%+v is scheduled by %s, want %s", c, got, want)
		}
	}
	unreached := Contract{Ladder: list(s, s, 2*s), MaxDeliver: 2, Handler: flat(m)}
	if got := unreached.Scheduler(); got != ByNakDelay {
		t.Errorf("a rung that no delivery reaches makes the schedule %s", got)
	}
}
