package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/natsmig/natsmig/timingcontract"
)

// TimingSchema names the JSON form of the timing reports.
const TimingSchema = "natsmig.timing.v1"

// SVG is a picture, of timings only.
const SVG Format = "svg"

// TimingFormats lists the formats of timings and of their comparison.
func TimingFormats() []Format { return append(Formats(), SVG) }

// A Timing is what one contract comes to, in the words of the report. Durations
// are written as Go does and count from the first delivery.
type Timing struct {
	Cell          string `json:"cell,omitempty"`
	Stream        string `json:"stream"`
	Consumer      string `json:"consumer"`
	BrokerVersion string `json:"broker_version,omitempty"`
	// Handler is what the handler is taken to do: declared, or one of the two that
	// stand in for a handler section.
	Handler   Handler                  `json:"handler"`
	Scheduler timingcontract.Scheduler `json:"scheduler,omitempty"`
	// Deliveries are those of a message whose every attempt fails at once.
	Deliveries  []string       `json:"deliveries"`
	More        int            `json:"more,omitempty"` // deliveries that are not listed
	LastAttempt *TimingMoment  `json:"last_attempt"`
	Capture     *TimingMoment  `json:"capture"`
	Exhausted   *string        `json:"exhausted"` // null: never, or the handler ends it
	Residency   *string        `json:"residency"` // null: never over
	Unbounded   bool           `json:"unbounded"`
	Stalled     bool           `json:"stalled"`
	MaxAge      *string        `json:"max_age"` // of the stream; null: none, or not known
	Margin      *string        `json:"margin"`  // max_age less residency
	TimeOut     *TimingCourse  `json:"timeout"` // nothing is heard of any attempt
	Budget      *TimingCourse  `json:"budget"`  // attempts take their whole budget; null: none stated
	Breaches    []TimingBreach `json:"breaches"`
	Reason      string         `json:"reason,omitempty"` // why there is no timing

	contract timingcontract.Contract
	around   timingcontract.Surroundings
	envelope timingcontract.Envelope
}

// A Handler says what a contract's handler is taken to do.
type Handler string

// The handlers. The last two stand in where none is declared.
const (
	Declared    Handler = "declared"
	DoesNothing Handler = "does nothing"
	NaksAtOnce  Handler = "naks at once"
)

// A TimingMoment is one delivery and when it happens.
type TimingMoment struct {
	Delivery int    `json:"delivery"`
	At       string `json:"at"`
}

// A TimingCourse is one way for every attempt to fail.
type TimingCourse struct {
	Deliveries []string `json:"deliveries"`
	More       int      `json:"more,omitempty"`
	Exhausted  *string  `json:"exhausted"`
	Stalled    int      `json:"stalled,omitempty"` // the delivery after which nothing happens
	Lapsed     int      `json:"lapsed,omitempty"`  // the delivery whose lease ends at work
}

// A TimingBreach is a promise that can not hold.
type TimingBreach struct {
	Kind     timingcontract.Kind `json:"kind"`
	Risk     bool                `json:"risk,omitempty"`
	Field    string              `json:"field"`
	Delivery int                 `json:"delivery,omitempty"`
	Relation TimingRelation      `json:"relation"`
	Message  string              `json:"message"`
	Source   string              `json:"source"`
	Fix      string              `json:"fix"`
	Delays   []TimingDelay       `json:"delays,omitempty"`
}

// A TimingRelation is what is so and should not be.
type TimingRelation struct {
	Left  timingcontract.Term `json:"left"`
	Is    string              `json:"is"`
	Right timingcontract.Term `json:"right"`
}

// A TimingDelay is what becomes of a delay that a handler asks for.
type TimingDelay struct {
	Delivery    int    `json:"delivery"`
	Asked       string `json:"asked"`
	Given       string `json:"given"`
	Compensated string `json:"compensated"`
}

// Work fills in what a contract comes to.
func (t *Timing) Work(c timingcontract.Contract, s timingcontract.Surroundings) {
	t.contract, t.around, t.envelope = c, s, c.Envelope()
	e := &t.envelope
	t.Scheduler, t.Unbounded, t.Stalled = c.Scheduler(), e.Unbounded, e.Stalled
	course := c.Course(timingcontract.Instant)
	t.Deliveries, t.More = spell(course.Deliveries), course.More
	if e.LastAttempt.Delivery > 0 {
		t.LastAttempt = &TimingMoment{e.LastAttempt.Delivery, e.LastAttempt.At.String()}
	}
	if e.Capture != nil {
		t.Capture = &TimingMoment{e.Capture.Delivery, e.Capture.At.String()}
	}
	if !e.Unbounded && !e.Stalled && !course.Ended {
		t.Exhausted = spelt(e.Exhausted)
	}
	t.stay(c, s)
	t.TimeOut = timingCourse(c.Course(timingcontract.TimeOut))
	if c.Handler.Budget > 0 {
		t.Budget = timingCourse(c.Course(timingcontract.WholeBudget))
	}
	t.Breaches = []TimingBreach{}
	for _, b := range c.Breaches(s) {
		t.Breaches = append(t.Breaches, timingBreach(&b))
	}
}

// stay tells how long a message can stay, and what that leaves.
func (t *Timing) stay(c timingcontract.Contract, s timingcontract.Surroundings) {
	if t.envelope.Residency > 0 {
		t.Residency = spelt(t.envelope.Residency)
	}
	if s.MaxAge > 0 {
		t.MaxAge = spelt(s.MaxAge)
	}
	if margin, err := c.Margin(s); err == nil {
		t.Margin = spelt(margin)
	}
}

func timingCourse(c timingcontract.Course) *TimingCourse {
	if c.Unbounded {
		return nil
	}
	out := &TimingCourse{Deliveries: spell(c.Deliveries), More: c.More, Stalled: c.Stalled, Lapsed: c.Lapsed}
	if c.Exhausted > 0 && !c.Ended {
		out.Exhausted = spelt(c.Exhausted)
	}
	return out
}

func timingBreach(b *timingcontract.Breach) TimingBreach {
	out := TimingBreach{
		Kind: b.Kind, Risk: b.Risk, Field: b.Field, Delivery: b.Delivery,
		Relation: TimingRelation{b.Left, b.Relation, b.Right}, Message: b.Message, Source: b.Source, Fix: b.Fix,
	}
	for _, d := range b.Delays {
		out.Delays = append(out.Delays, TimingDelay{d.Delivery, d.Asked.String(), d.Given.String(), d.Compensated.String()})
	}
	return out
}

func spell(ds []time.Duration) []string {
	out := make([]string, len(ds))
	for i, d := range ds {
		out[i] = d.String()
	}
	return out
}

func spelt(d time.Duration) *string {
	s := d.String()
	return &s
}

// Name is what a person calls the consumer.
func (t *Timing) Name() string {
	name := t.Stream + "/" + t.Consumer
	if t.Cell != "" {
		name = t.Cell + " " + name
	}
	return name
}

// WriteTimings writes what contracts come to. It fails on a format that is not
// in [TimingFormats].
func WriteTimings(w io.Writer, ts []Timing, o Options) error {
	return writeTiming(w, o, timingWriter{
		json: struct {
			Schema    string   `json:"schema"`
			Consumers []Timing `json:"consumers"`
		}{TimingSchema, append([]Timing{}, ts...)},
		text:     func(s style) (string, error) { return timingText(ts, s) },
		markdown: func() (string, error) { return timingMarkdown(ts) },
		svg:      func() string { return timingSVG(ts) },
	})
}

// A timingWriter has a report in every form.
type timingWriter struct {
	json     any
	text     func(style) (string, error)
	markdown func() (string, error)
	svg      func() string // nil: there is no picture
}

func writeTiming(w io.Writer, o Options, t timingWriter) error {
	var out string
	var err error
	switch o.Format {
	case Table, "":
		out, err = t.text(style{color: o.Color, width: o.Width})
	case ASCII:
		out, err = t.text(style{color: o.Color, width: o.Width, ascii: true})
	case Markdown:
		out, err = t.markdown()
	case JSON:
		out, err = indented(t.json)
	case SVG:
		if t.svg == nil {
			return fmt.Errorf("there is no picture of this")
		}
		out = t.svg()
	default:
		return fmt.Errorf("unknown format %q: want %s", o.Format, oneOf(TimingFormats()))
	}
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, out); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// lanes are the courses of a contract that differ from each other, with the cases
// that they are of.
func (t *Timing) lanes() []lane {
	var all []lane
	for _, of := range timingcontract.Cases() {
		if of == timingcontract.WholeBudget && t.contract.Handler.Budget == 0 {
			continue
		}
		c := t.contract.Course(of)
		i := slices.IndexFunc(all, func(l lane) bool { return sameTimes(&l.course, &c) })
		if i < 0 {
			all = append(all, lane{course: c, names: []string{caseName(of)}})
			continue
		}
		all[i].names = append(all[i].names, caseName(of))
	}
	return all
}

// A lane is a course of which a picture has a line.
type lane struct {
	course timingcontract.Course
	names  []string
}

func sameTimes(a, b *timingcontract.Course) bool {
	return slices.Equal(a.Deliveries, b.Deliveries) && a.Exhausted == b.Exhausted && a.Ended == b.Ended &&
		a.Stalled == b.Stalled && a.Lapsed == b.Lapsed && a.More == b.More
}

func caseName(of timingcontract.Case) string {
	switch of {
	case timingcontract.TimeOut:
		return "time-out"
	case timingcontract.WholeBudget:
		return "whole budget"
	case timingcontract.Instant:
	}
	return "fails at once"
}
