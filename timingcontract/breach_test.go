package timingcontract

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestBreaches has each kind of breach speak where it should, with its values
// and what to do, and be silent for the nearest contract that holds.
func TestBreaches(t *testing.T) {
	for _, tc := range []struct {
		kind   Kind
		c      Contract
		s      Surroundings
		told   []string // in the breach
		silent func(*Contract, *Surroundings)
	}{
		{
			LadderTooLong,
			Contract{Ladder: list(s, s, s), MaxDeliver: 2},
			Surroundings{},
			[]string{"rungs 3 > max_deliver 2", "10116", "drop 1 rungs"},
			func(c *Contract, _ *Surroundings) { c.MaxDeliver = 3 },
		},
		{
			AckWaitOverridden,
			Contract{AckWait: 5 * s, Ladder: list(200 * ms)},
			Surroundings{},
			[]string{"ack_wait 5s != backoff[0] 200ms", "declare ack_wait: 200ms"},
			func(c *Contract, _ *Surroundings) { c.AckWait = 200 * ms },
		},
		{
			MixedOwnership,
			Contract{Ladder: orphan(), MaxDeliver: 8, Handler: flat(30 * s)},
			Surroundings{},
			[]string{"delay 30s != wait 2m", "after delivery 2 asked 30s, waits 2m", "[30s -1m -9m -59m -3h59m -11h59m -23h59m]"},
			func(c *Contract, _ *Surroundings) { c.Ladder = list(30*s, 30*s) },
		},
		{
			BurningNak,
			Contract{Ladder: list(30*s, 30*s, 30*s), MaxDeliver: 4, Handler: Handler{OnFailure: Nak}},
			Surroundings{},
			[]string{"all 4 deliveries", "given up only when somebody pulls"},
			func(c *Contract, _ *Surroundings) { c.MaxDeliver = 1 },
		},
		{
			BurningNak,
			Contract{MaxDeliver: -1, Handler: Handler{OnFailure: Nak}},
			Surroundings{},
			[]string{"for ever"},
			func(c *Contract, _ *Surroundings) { c.Handler.OnFailure = "" },
		},
		{
			BurningNak,
			Contract{MaxDeliver: 4, Handler: flat(0)},
			Surroundings{},
			[]string{"all 4 deliveries"},
			func(c *Contract, _ *Surroundings) { c.Handler.Delays = list(0, s) },
		},
		{
			ZeroRung,
			Contract{Ladder: list(0, 2*s), MaxDeliver: 5},
			Surroundings{},
			[]string{"after delivery 1", "never given up"},
			func(c *Contract, _ *Surroundings) { c.Ladder[0] = ms },
		},
		{
			ZeroRung,
			Contract{Ladder: list(0, 2*s), MaxDeliver: 5, Line: 12},
			Surroundings{},
			[]string{"delivery 1 is followed by the next one at once"},
			func(c *Contract, _ *Surroundings) { c.Ladder[0] = ms },
		},
		{
			ZeroRung,
			Contract{Ladder: list(s, 0), MaxDeliver: 5},
			Surroundings{},
			[]string{"after delivery 2 the broker waits ack_wait (1s)"},
			func(c *Contract, _ *Surroundings) { c.MaxDeliver = 1 },
		},
		{
			DescendingRung,
			Contract{Ladder: list(4*s, s), MaxDeliver: 5},
			Surroundings{},
			[]string{"backoff[1] 1s < backoff[0] 4s", "a nak with a delay under 3s comes again at once"},
			func(c *Contract, _ *Surroundings) { c.Ladder[1] = 4 * s },
		},
		{
			BudgetOverRung,
			Contract{Ladder: list(2*s, 10*s), MaxDeliver: 3, Handler: Handler{Budget: 5 * s}},
			Surroundings{},
			[]string{"budget 5s > backoff[0] 2s", "heartbeat every 666ms"},
			func(c *Contract, _ *Surroundings) { c.Ladder[0] = 5 * s },
		},
		{
			SlowHeartbeat,
			Contract{Ladder: list(m, 5*m, 15*m, h), MaxDeliver: 5, Handler: Handler{Budget: 20 * m, Heartbeat: Heartbeat{Every: m}}},
			Surroundings{},
			[]string{"heartbeat.every 1m >= backoff[0] 1m", "every 20s at most"},
			func(c *Contract, _ *Surroundings) { c.Handler.Heartbeat.Every = 59 * s },
		},
		{
			ShortHeartbeat,
			Contract{AckWait: 30 * s, MaxDeliver: 5, Handler: Handler{Budget: 30 * m, Heartbeat: Heartbeat{Every: 10 * s, Cap: 150 * s}}},
			Surroundings{},
			[]string{"heartbeat.cap + ack_wait 3m < budget 30m"},
			func(c *Contract, _ *Surroundings) { c.Handler.Budget = 3 * m },
		},
		{
			DeepPrefetch,
			Contract{AckWait: 30 * s, MaxDeliver: 5, Handler: Handler{Budget: 2 * s, Prefetch: 500, Workers: 1}},
			Surroundings{},
			[]string{"16m40s > ack_wait 30s", "prefetch at most 7", "at least 67"},
			func(c *Contract, _ *Surroundings) { c.Handler.Prefetch = 15 },
		},
		{
			OutlivesMaxAge, worker(),
			Surroundings{MaxAge: 5 * h},
			[]string{"residency 5h4m30s > max_age 5h", "MSG_TERMINATED", "5m too soon"},
			func(_ *Contract, s *Surroundings) { s.MaxAge = 6 * h },
		},
		{
			OutlivesMaxAge, worker(),
			Surroundings{MaxAge: 5*h + 4*m + 45*s},
			[]string{"exhausted 5h5m > max_age 5h4m45s"},
			func(_ *Contract, s *Surroundings) { s.MaxAge = 5*h + 5*m },
		},
		{
			NoCapture,
			Contract{MaxDeliver: 5, Handler: Handler{Reserve: 2}},
			Surroundings{},
			[]string{"none is named"},
			func(c *Contract, _ *Surroundings) { c.Handler.Capture = "dlq" },
		},
		{
			NoCapture,
			Contract{MaxDeliver: 2, Handler: Handler{Reserve: 2, Capture: "dlq"}},
			Surroundings{},
			[]string{"never sees a message"},
			func(c *Contract, _ *Surroundings) { c.MaxDeliver = 3 },
		},
		{
			NoCapture,
			Contract{MaxDeliver: -1, Handler: Handler{Reserve: 2, Capture: "dlq"}},
			Surroundings{},
			[]string{"nothing is ever captured"},
			func(c *Contract, _ *Surroundings) { c.MaxDeliver = 3 },
		},
		{
			NoReserve,
			Contract{MaxDeliver: 5, Handler: Handler{Capture: "dlq"}},
			Surroundings{},
			[]string{"captured to dlq"},
			func(c *Contract, _ *Surroundings) { c.Handler.Reserve = 1 },
		},
		{
			ThinReserve,
			Contract{MaxDeliver: 5, Handler: Handler{Capture: "dlq", Reserve: 1}},
			Surroundings{},
			[]string{"reserve 1 <", "hold the message"},
			func(c *Contract, _ *Surroundings) { c.Handler.Reserve = 2 },
		},
		{
			PinnedFloor,
			Contract{Ladder: orphan(), MaxDeliver: 8, Handler: Handler{Pin: h}},
			Surroundings{Consumers: 2},
			[]string{"exhausted 65h12m30s > pin 1h"},
			func(_ *Contract, s *Surroundings) { s.Consumers = 1 },
		},
		{
			PinnedFloor,
			Contract{MaxDeliver: -1, Handler: Handler{Pin: h}},
			Surroundings{},
			[]string{"for ever"},
			func(c *Contract, _ *Surroundings) { c.MaxDeliver = 100 },
		},
		{
			FullAckPending,
			Contract{MaxDeliver: 10, MaxAckPending: 1000, Handler: Handler{OnFailure: NakDelay, Delays: list(4 * h), FailingEvery: 10 * s, Workers: 50}},
			Surroundings{},
			[]string{"waiting 1440 > free max_ack_pending 950", "after about 2h38m20s"},
			func(c *Contract, _ *Surroundings) { c.MaxAckPending = 1490 },
		},
		{
			StrandedMessages, worker(),
			Surroundings{Retention: WorkQueue, MaxAge: 6 * h},
			[]string{"until it is 6h old"},
			func(c *Contract, _ *Surroundings) { c.Handler.Capture, c.Handler.Reserve = "dlq", 1 },
		},
		{
			DeletedWhenIdle,
			Contract{MaxDeliver: 5, InactiveThreshold: 24 * h, Handler: Handler{Outage: 48 * h}},
			Surroundings{},
			[]string{"inactive_threshold 24h < outage 48h"},
			func(c *Contract, _ *Surroundings) { c.InactiveThreshold = 48 * h },
		},
		{
			DeletedWhenIdle,
			Contract{Ladder: list(m, 2*h), MaxDeliver: 5, InactiveThreshold: h, Line: 10},
			Surroundings{},
			[]string{"inactive_threshold 1h < longest wait 2h"},
			func(c *Contract, _ *Surroundings) { c.Line = 11 },
		},
		{
			ShortDedupWindow,
			Contract{Ladder: list(30*s, 2*m), MaxDeliver: 3, Handler: Handler{Publishes: "OUT"}},
			Surroundings{DuplicateWindow: 2 * m},
			[]string{"duplicate_window 2m < last attempt 2m30s", "raise the duplicate_window of OUT"},
			func(_ *Contract, s *Surroundings) { s.DuplicateWindow = 150 * time.Second },
		},
		{
			LongDrain,
			Contract{MaxDeliver: 3, Handler: Handler{Budget: 20 * s, Prefetch: 8, Workers: 4, Grace: 30 * s}},
			Surroundings{},
			[]string{"drain 40s > grace 30s"},
			func(c *Contract, _ *Surroundings) { c.Handler.Prefetch = 4 },
		},
		{
			SlowRecovery,
			Contract{AckWait: 10 * m, MaxDeliver: 3, Handler: Handler{Recovery: m}},
			Surroundings{},
			[]string{"ack_wait 10m > recovery 1m", "ack_wait 45s with a heartbeat every 15s"},
			func(c *Contract, _ *Surroundings) { c.AckWait = m },
		},
	} {
		t.Run(string(tc.kind), func(t *testing.T) {
			b := find(tc.c.Breaches(tc.s), tc.kind)
			if b == nil {
				t.Fatalf("silent; breaches %v", tc.c.Breaches(tc.s))
			}
			for _, want := range tc.told {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q does not tell %q", b, want)
				}
			}
			if b.Source == "" || b.Field == "" || b.Fix == "" || b.Left.From == "" || b.Right.From == "" {
				t.Errorf("%+v is not whole", b)
			}
			if err := tc.c.Err(tc.s); (err != nil) != (len(grave(tc.c.Breaches(tc.s))) > 0) {
				t.Errorf("Err is %v", err)
			}
			tc.silent(&tc.c, &tc.s)
			if b := find(tc.c.Breaches(tc.s), tc.kind); b != nil {
				t.Errorf("speaks of the nearest contract that holds: %s", b)
			}
		})
	}
}

func find(bs []Breach, k Kind) *Breach {
	for i := range bs {
		if bs[i].Kind == k {
			return &bs[i]
		}
	}
	return nil
}

// grave are the breaches that are no mere risks.
func grave(bs []Breach) []Breach {
	var out []Breach
	for _, b := range bs {
		if !b.Risk {
			out = append(out, b)
		}
	}
	return out
}

// TestNothingStatedNothingChecked: what is zero is not stated.
func TestNothingStatedNothingChecked(t *testing.T) {
	c := Contract{MaxDeliver: 5}
	if bs := c.Breaches(Surroundings{}); len(bs) > 0 {
		t.Errorf("breaches of nothing: %v", bs)
	}
	if err := c.Err(Surroundings{}); err != nil {
		t.Errorf("an error of nothing: %v", err)
	}
}

// TestErrListsEveryBreach has one line for each.
func TestErrListsEveryBreach(t *testing.T) {
	c := worker()
	c.AckWait = 15 * m
	err := c.Err(Surroundings{MaxAge: h, Retention: WorkQueue})
	var be *BreachError
	if !errors.As(err, &be) || len(be.Breaches) != 2 || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("want the budget and the max age, the stranded messages being a risk: %v", err)
	}
}

func TestMargin(t *testing.T) {
	if got, err := worker().Margin(Surroundings{MaxAge: 6 * h}); err != nil || got != 55*m+30*s {
		t.Errorf("margin %v, %v; want 55m30s", got, err)
	}
	if got, err := worker().Margin(Surroundings{MaxAge: 4 * h}); err != nil || got >= 0 {
		t.Errorf("margin %v, %v; want a negative one", got, err)
	}
	if _, err := worker().Margin(Surroundings{}); err == nil {
		t.Error("a margin without a max_age")
	}
	if _, err := (Contract{MaxDeliver: -1}).Margin(Surroundings{MaxAge: h}); err == nil {
		t.Error("a margin without a bound")
	}
}

func TestCompare(t *testing.T) {
	before := Contract{Ladder: orphan(), MaxDeliver: 8}
	after := Contract{Ladder: list(30*s, 2*m, 5*m, 12*m, 20*m), MaxDeliver: 7, Handler: Handler{Reserve: 1}}
	c := Compare(before, after)
	want := `              before                  after
retries       bounded                 bounded
delivery 1    0s                      0s
delivery 2    30s                     30s
delivery 3    2m30s                   2m30s
delivery 4    12m30s                  7m30s
delivery 5    1h12m30s                19m30s
delivery 6    5h12m30s                39m30s
delivery 7    17h12m30s               59m30s
delivery 8    41h12m30s               –
last attempt  41h12m30s (delivery 8)  39m30s (delivery 6)
capture       –                       59m30s (delivery 7)
exhausted     65h12m30s               1h19m30s
residency     65h12m30s               1h19m30s
`
	if got := c.Table(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	same := Compare(before, before)
	if !c.Changed() || same.Changed() {
		t.Error("Changed does not tell")
	}
	unbounded := Compare(before, Contract{MaxDeliver: -1})
	if table := unbounded.Table(); !strings.Contains(table, "for ever") {
		t.Errorf("no word of the missing bound:\n%s", table)
	}
}
