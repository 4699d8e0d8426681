package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/natsmig/natsmig/timingcontract"
)

// drawTiming works out a random contract.
func drawTiming(r *rand.Rand) Timing {
	wait := func() time.Duration { return time.Duration(r.Int64N(int64(72 * time.Hour))).Round(time.Second) }
	c := timingcontract.Contract{AckWait: wait() + time.Second, MaxDeliver: r.IntN(30) - 1}
	for range r.IntN(6) {
		c.Ladder = append(c.Ladder, wait())
	}
	c.Handler.OnFailure = []timingcontract.OnFailure{timingcontract.Ladder, timingcontract.Nak, timingcontract.NakDelay, timingcontract.Discard}[r.IntN(4)]
	if c.Handler.OnFailure == timingcontract.NakDelay {
		c.Handler.Delays = []time.Duration{wait()}
	}
	if r.IntN(2) == 0 {
		c.Handler.Budget = wait()
	}
	c.Handler.Reserve = r.IntN(3)
	t := Timing{Stream: "s", Consumer: "c", Handler: Declared}
	t.Work(c, timingcontract.Surroundings{MaxAge: wait()})
	return t
}

// TestPicturesFit: no line of a picture is wider than the terminal, and the
// numbers of a lane rise from left to right.
func TestPicturesFit(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		one := drawTiming(r)
		if one.Unbounded {
			continue
		}
		for _, width := range []int{40, 80, 200} {
			p := &page{style: style{width: width, ascii: r.IntN(2) == 0}}
			for _, line := range p.picture(&one) {
				if columns(line)+2 > max(width, narrowest+2) {
					t.Fatalf("seed %d: %d columns at %d: %q\n%+v", seed, columns(line), width, line, one.contract)
				}
				if p.ascii && strings.ContainsFunc(line, func(r rune) bool { return r > 127 }) {
					t.Fatalf("seed %d: not ASCII: %q", seed, line)
				}
			}
		}
	}
}

// TestSpotsRise: places keep the order of the moments, whatever the scale.
func TestSpotsRise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	logs := 0
	for range 1000 {
		one := drawTiming(r)
		lanes := one.lanes()
		if one.Unbounded {
			continue
		}
		a := one.axis(lanes)
		if a.log {
			logs++
		}
		for i := range lanes {
			spots := a.spots(one.marks(&lanes[i]), 77)
			for j := 1; j < len(spots); j++ {
				if spots[j].x <= spots[j-1].x || spots[j].x > 77 {
					t.Fatalf("%+v", spots)
				}
			}
		}
	}
	if logs == 0 || logs == 1000 {
		t.Errorf("%d log scales: the draw is too narrow", logs)
	}
}

// TestLogScale: it begins where times are more than two decades apart.
func TestLogScale(t *testing.T) {
	for _, tc := range []struct {
		last time.Duration
		log  bool
	}{{99 * time.Second, false}, {102 * time.Second, true}} {
		one := Timing{Handler: Declared}
		one.Work(timingcontract.Contract{Ladder: []time.Duration{time.Second, tc.last}, MaxDeliver: 2}, timingcontract.Surroundings{})
		if a := one.axis(one.lanes()); a.log != tc.log {
			t.Errorf("from 1s to %v: log scale %t", 1*time.Second+tc.last, a.log)
		}
	}
}

// TestSVGIsXML parses pictures, of names that would break out of it too.
func TestSVGIsXML(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"c", `<script>alert("1")</script>`, "a&b", "\x1b[31m", "]]>"} {
		one := drawTiming(r)
		one.Consumer = name
		svg := timingSVG([]Timing{one, one})
		if strings.Contains(svg, "<script") || strings.Contains(svg, "\x1b") {
			t.Errorf("%q breaks out", name)
		}
		dec := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%q: %v", name, err)
			}
		}
	}
}

// TestTimingTextIsHarmless: names act on no terminal and break out of no
// Markdown.
func TestTimingTextIsHarmless(t *testing.T) {
	one := drawTiming(rand.New(rand.NewPCG(5, 6)))
	one.Consumer, one.Reason = "\x1b[2J`|<b>", "\x1b[2J"
	for _, f := range []Format{Table, ASCII, Markdown, SVG} {
		var b strings.Builder
		if err := WriteTimings(&b, []Timing{one}, Options{Format: f}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\x1b[2J") {
			t.Errorf("%s passes an escape on", f)
		}
	}
}

// TestTimingForms has a contract of each kind in every form. UPDATE=1 rewrites
// the expected files.
func TestTimingForms(t *testing.T) {
	sec, minute := time.Second, time.Minute
	contracts := []struct {
		name string
		c    timingcontract.Contract
		s    timingcontract.Surroundings
	}{
		{"captured", timingcontract.Contract{Ladder: []time.Duration{30 * sec, 2 * minute, 5 * minute, 12 * minute, 20 * minute}, MaxDeliver: 7, Handler: timingcontract.Handler{Reserve: 1, Capture: "dlq", Budget: 5 * sec}}, timingcontract.Surroundings{MaxAge: 2 * time.Hour}},
		{"worker", timingcontract.Contract{AckWait: 30 * minute, MaxDeliver: 10, Handler: timingcontract.Handler{OnFailure: timingcontract.NakDelay, Delays: []time.Duration{30 * sec}, Budget: 30 * minute}}, timingcontract.Surroundings{MaxAge: 4 * time.Hour}},
		{"stuck", timingcontract.Contract{Ladder: []time.Duration{0, minute}, MaxDeliver: 3}, timingcontract.Surroundings{}},
		{"discards", timingcontract.Contract{AckWait: 30 * sec, MaxDeliver: 3, Handler: timingcontract.Handler{OnFailure: timingcontract.Discard, Budget: sec}}, timingcontract.Surroundings{}},
		{"twice", timingcontract.Contract{AckWait: 30 * sec, MaxDeliver: 20, Handler: timingcontract.Handler{Budget: minute}}, timingcontract.Surroundings{}},
		{"for_ever", timingcontract.Contract{AckWait: 30 * sec, MaxDeliver: -1}, timingcontract.Surroundings{}},
	}
	var ts []Timing
	for _, c := range contracts {
		one := Timing{Cell: "prod", Stream: "S", Consumer: c.name, Handler: Declared}
		one.Work(c.c, c.s)
		ts = append(ts, one)
	}
	ts = append(ts, Timing{Stream: "S", Consumer: "refused", Reason: "the broker refuses it"})
	for _, f := range TimingFormats() {
		var b strings.Builder
		if err := WriteTimings(&b, ts, Options{Format: f, Width: 80}); err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/timing."+string(f), b.String())
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestTimingJSONIsWhole: what a program reads has no member that comes and goes,
// and no list that is null.
func TestTimingJSONIsWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		one := drawTiming(r)
		var b strings.Builder
		if err := WriteTimings(&b, []Timing{one}, Options{Format: JSON}); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Schema    string
			Consumers []map[string]any
		}
		if err := json.Unmarshal([]byte(b.String()), &doc); err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{"deliveries", "last_attempt", "capture", "exhausted", "residency", "unbounded", "breaches"} {
			v, there := doc.Consumers[0][member]
			if list := member == "deliveries" || member == "breaches"; !there || list && v == nil {
				t.Fatalf("%s: there %t, %v\n%+v", member, there, v, one.contract)
			}
		}
		if one.Unbounded && (doc.Consumers[0]["last_attempt"] != nil || doc.Consumers[0]["exhausted"] != nil) {
			t.Fatalf("an unbounded contract has timings: %s", b.String())
		}
	}
}

// TestProofs writes a measurement that did not come as predicted.
func TestProofs(t *testing.T) {
	seen := "1.2s"
	r := &Proofs{Schema: TimingSchema, Broker: "2.15.3", Verdict: "refuted", Proofs: []Proof{
		{Name: "S/c", Case: timingcontract.Instant, Client: "modern", Verdict: "refuted", Reason: "delivery came 1.2s after delivery 1", Rivals: []ProofRival{{Name: "r", RuledOut: true}, {Name: "q"}}, Events: []ProofEvent{
			{What: "delivery", After: 1, Predicted: "800ms", Measured: &seen, Tolerance: "200ms"},
			{What: "exhausted", After: 2, Predicted: "800ms", Tolerance: "400ms"},
		}},
		{Name: "S/`d`", Case: timingcontract.TimeOut, Client: "legacy", Verdict: "proved", Events: []ProofEvent{{Predicted: "800ms", Measured: &seen, Tolerance: "1s"}}},
	}}
	for _, f := range []Format{Table, Markdown} {
		var b strings.Builder
		if err := WriteProofs(&b, r, Options{Format: f}); err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/proofs."+string(f), b.String())
	}
	if err := WriteProofs(io.Discard, r, Options{Format: SVG}); err == nil {
		t.Error("a picture of a measurement")
	}
}
