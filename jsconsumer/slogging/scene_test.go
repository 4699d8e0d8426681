package slogging_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/jsconsumer/slogging"
	"github.com/natsmig/natsmig/natstest"
)

// steady is the cadence of attempts after the start-up. Times are rounded to it: half
// of it is the distance between what should be and the nearest rival.
const steady = 5 * time.Second

// entry is a record, or several alike in a row.
type entry struct {
	Level, Msg, Class, Kind string

	Count    int           // of records; zero is one
	Attempts int           // told by the last
	At       time.Duration // of the first, since the scene's last mark
	For      time.Duration // from the first to the last
}

func (e entry) like(o entry) bool {
	return e.Level == o.Level && e.Msg == o.Msg && e.Class == o.Class && e.Kind == o.Kind
}

// Records that are the same wherever they come.
var (
	bound      = entry{Level: "INFO", Msg: "consumer bound"}
	recreated  = entry{Level: "WARN", Msg: "consumer recreated"}
	drainBegan = entry{Level: "INFO", Msg: "drain started"}
	drainEnded = entry{Level: "INFO", Msg: "drain ended"}
)

func lost(class string) entry {
	return entry{Level: "WARN", Msg: "consumer lost", Class: class}
}

// isAnother is told while the failure lasts, whose class it has.
func isAnother(class string) entry {
	return entry{Level: "WARN", Msg: "consumer is another one", Class: class, Kind: "recreated"}
}

func disturbed(class string) entry {
	return entry{Level: "DEBUG", Msg: "delivery disturbed", Class: class}
}

func quiet(class string) entry {
	return entry{Level: "DEBUG", Msg: "consumer attempt failed", Class: class, Kind: "quiet"}
}

func loud(class string) entry {
	return entry{Level: "ERROR", Msg: "consumer failing", Class: class, Kind: "loud"}
}

func recovered(class string) entry {
	return entry{Level: "INFO", Msg: "consumer recovered", Class: class, Kind: "recovered"}
}

// scene is a runner on a broker of its own, whose hooks write to a journal.
type scene struct {
	*natstest.Server
	journal
	t      *testing.T
	r      *jsconsumer.Runner
	cancel context.CancelFunc
	ended  chan error

	marking sync.Mutex
	marks   []time.Time
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{Server: natstest.Start(t), t: t, ended: make(chan error, 1)}
	_, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}})
	s.must(err)
	return s
}

// run runs a runner that only binds unless c says otherwise. More hooks are called
// after the record was written.
func (s *scene) run(js jetstream.JetStream, c jsconsumer.Config, more jsconsumer.Hooks) {
	s.t.Helper()
	c.Stream, c.Consumer.Durable, c.Provision, c.Expires = "S", "d", jsconsumer.BindOnly, time.Second
	c.Hooks = jsconsumer.Join(slogging.Hooks(s.logger(slog.LevelDebug)), more)
	r, err := jsconsumer.New(js, c, func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition { return jsconsumer.Ack() })
	s.must(err)
	s.r = r
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.t.Cleanup(cancel)
	s.mark()
	go func() { s.ended <- r.Run(ctx) }()
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// mark makes what follows be timed from now on.
func (s *scene) mark() {
	s.marking.Lock()
	defer s.marking.Unlock()
	s.marks = append(s.marks, time.Now())
}

func (s *scene) create() {
	s.t.Helper()
	_, err := s.JS.CreateConsumer(s.t.Context(), "S", jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy})
	s.must(err)
}

func (s *scene) remove() {
	s.t.Helper()
	s.mark()
	s.must(s.JS.DeleteConsumer(s.t.Context(), "S", "d"))
}

// asked waits until the broker has a pull, whose end it tells.
func (s *scene) asked() {
	s.t.Helper()
	natstest.Eventually(s.t, 20*time.Second, func() error {
		c, err := s.JS.Consumer(s.t.Context(), "S", "d")
		if err == nil && c.CachedInfo().NumWaiting == 0 {
			return fmt.Errorf("no pull waits")
		}
		return err
	})
}

// told waits for n records that are like one.
func (s *scene) told(like entry, n int) {
	s.t.Helper()
	natstest.Eventually(s.t, 30*time.Second, func() error {
		if got := s.count(like); got < n {
			return fmt.Errorf("%d of %d records like %+v:\n%s", got, n, like, s.String())
		}
		return nil
	})
}

func (s *scene) count(like entry) (n int) {
	for _, e := range s.sequence() {
		if e.like(like) {
			n += max(e.Count, 1)
		}
	}
	return n
}

// stop cancels the runner's own context, which is no error.
func (s *scene) stop() {
	s.t.Helper()
	s.mark()
	s.cancel()
	if err := <-s.ended; err != nil {
		s.t.Errorf("Run returned %v", err)
	}
}

func (s *scene) want(want ...entry) {
	s.t.Helper()
	s.compare(want, s.sequence())
}

func (s *scene) compare(want, got []entry) {
	s.t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		s.t.Errorf("records (-want +got):\n%s\n%s", d, s.String())
	}
}

// sequence is all that was written.
func (s *scene) sequence() (all []entry) {
	var first time.Time
	for line := range strings.Lines(s.String()) {
		e, at := s.parse(line)
		if n := len(all); n > 0 && all[n-1].like(e) {
			last := &all[n-1]
			last.Count, last.Attempts, last.For = max(last.Count, 1)+1, e.Attempts, at.Sub(first).Round(steady)
			continue
		}
		first = at
		all = append(all, e)
	}
	return all
}

func (s *scene) parse(line string) (entry, time.Time) {
	var r struct {
		Time             time.Time
		Level, Msg, Kind string
		Class            string `json:"err_class"`
		Attempts         int
		Stream, Consumer string
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.Stream != "S" || r.Consumer != "d" {
		s.t.Errorf("%v: %s", err, line)
	}
	return entry{
		Level: r.Level, Msg: r.Msg, Class: r.Class, Kind: r.Kind, Attempts: r.Attempts,
		At: s.since(r.Time).Round(steady),
	}, r.Time
}

// since is the time from the last mark before.
func (s *scene) since(at time.Time) time.Duration {
	s.marking.Lock()
	defer s.marking.Unlock()
	from := s.marks[0]
	for _, m := range s.marks {
		if !m.After(at) {
			from = m
		}
	}
	return at.Sub(from)
}
