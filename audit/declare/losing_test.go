package declare_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/natstest"
)

// A losing is a broker on which something is about to be lost.
type losing struct {
	t *testing.T
	s *natstest.Server
	*side
	before  uint64
	stored  []string // the subjects of the messages, by sequence from 1
	subject string   // of the request, and what it sends
	payload []byte
}

// newLosing starts a broker. Every loss has one of its own: a file store that is
// made where another one was deleted just before can find messages of it.
func newLosing(t *testing.T, opts ...natstest.Option) *losing {
	t.Helper()
	s := natstest.Start(t, opts...)
	v, err := broker.ParseVersion(s.Version())
	if err != nil {
		t.Fatal(err)
	}
	return &losing{t: t, s: s, side: &side{nc: s.NC, version: v}}
}

// play builds the situation, asks the audit, applies, and compares.
func (l *losing) play(c *loss) {
	l.t.Helper()
	l.must(l.t, proof{}, "STREAM.CREATE.S", plainStream.with(lossDoc(l.t, c.stream)).raw())
	for _, text := range c.consumers {
		d := plainConsumer.with(lossDoc(l.t, text))
		l.must(l.t, proof{}, create(d), sent(d, ""))
	}
	c.work(l)
	l.waitCounted()
	l.before = l.messages()
	finding := l.audit(c)
	given := c.measure(l)
	if c.code == "" {
		if finding != "" || given != 0 {
			l.t.Errorf("%d lost, and told: %s", given, finding)
		}
		return
	}
	told, ok := number(c.says, finding)
	if !ok {
		l.t.Fatalf("the audit says %q, want %s", finding, c.says)
	}
	if given < told.least || given > told.most || told.least != told.most && !c.bound {
		l.t.Errorf("%d, and the audit says %d to %d: %s", given, told.least, told.most, finding)
	}
	l.t.Logf("%d: %s", given, finding)
}

// lossDoc reads a document as the files of testdata/model have it.
func lossDoc(t *testing.T, text string) doc {
	t.Helper()
	if text == "" {
		return nil
	}
	return object(expand(t, text))
}

type told struct{ least, most uint64 }

var (
	single = regexp.MustCompile(`^\d+$`)
	atMost = regexp.MustCompile(`^at most (\d+)$`)
	fromTo = regexp.MustCompile(`^(\d+) to (\d+)$`)
)

// number reads the number that a message tells.
func number(says, message string) (told, bool) {
	m := regexp.MustCompile(says).FindStringSubmatch(message)
	if m == nil {
		return told{}, false
	}
	atoi := func(s string) uint64 { n, _ := strconv.ParseUint(s, 10, 64); return n }
	switch text := m[1]; {
	case single.MatchString(text):
		return told{atoi(text), atoi(text)}, true
	case atMost.MatchString(text):
		return told{0, atoi(atMost.FindStringSubmatch(text)[1])}, true
	case fromTo.MatchString(text):
		r := fromTo.FindStringSubmatch(text)
		return told{atoi(r[1]), atoi(r[2])}, true
	}
	return told{}, false
}

// audit says what the audit finds, and prepares the request.
func (l *losing) audit(c *loss) string {
	l.t.Helper()
	d := lossDoc(l.t, c.declare)
	var declared *audit.Declaration
	var err error
	if _, consumer := d["durable_name"]; !consumer {
		d = plainStream.with(lossDoc(l.t, c.stream)).with(d)
		l.subject, l.payload = "STREAM.UPDATE.S", d.raw()
		declared, err = audit.DeclareStream(d.raw())
	} else {
		d = plainConsumer.with(d)
		l.subject, l.payload = create(d), sent(d, "")
		declared, err = audit.DeclareConsumer("S", d.raw())
	}
	if err != nil {
		l.t.Fatal(err)
	}
	snapshot, err := audit.Take(l.t.Context(), []audit.Source{{Name: "x", Conn: l.nc}}, audit.TakeOptions{Subjects: true})
	if err != nil {
		l.t.Fatal(err)
	}
	r := compare(l.t, index(l.t, snapshot), []*audit.Declaration{declared}, audit.Options{})
	code := c.code
	if code == "" {
		code = "NM302"
	}
	for _, entries := range [][]audit.Entry{r.Streams, r.Consumers} {
		for i := range entries {
			for _, f := range entries[i].Findings {
				if f.Code == code {
					l.wantClass(&entries[i], code)
					return f.Message + " " + f.Fix
				}
			}
		}
	}
	return ""
}

// wantClass wants a destructive field where an update that is accepted loses
// something.
func (l *losing) wantClass(e *audit.Entry, code string) {
	l.t.Helper()
	destructive := slices.ContainsFunc(e.Fields, func(f audit.Field) bool { return f.Class == audit.Destructive })
	if want := !slices.Contains([]string{"NM204", "NM212", "NM306"}, code); destructive != want {
		l.t.Errorf("%s: a field is destructive: %t, want %t: %+v", code, destructive, want, e.Fields)
	}
}

func (l *losing) apply() {
	l.t.Helper()
	if _, err := l.request(l.t, l.subject, l.payload); err != nil {
		l.t.Fatalf("%s %s: %v", l.subject, l.payload, err)
	}
}

func (l *losing) messages() uint64 {
	l.t.Helper()
	s, err := l.s.JS.Stream(l.t.Context(), "S")
	if err != nil {
		l.t.Fatal(err)
	}
	return s.CachedInfo().State.Msgs
}

func (l *losing) publish(subject string, n int) {
	l.t.Helper()
	for range n {
		if _, err := l.s.JS.Publish(l.t.Context(), subject, []byte("message")); err != nil {
			l.t.Fatal(err)
		}
		l.stored = append(l.stored, subject)
	}
}

// waitCounted waits until the consumers have heard of all messages: a broker
// acknowledges a message before it counts it as pending.
func (l *losing) waitCounted() {
	l.t.Helper()
	s, err := l.s.JS.Stream(l.t.Context(), "S")
	if err != nil {
		l.t.Fatal(err)
	}
	natstest.Eventually(l.t, 10*time.Second, func() error {
		for info := range s.ListConsumers(l.t.Context()).Info() {
			if want := l.pending(info); info.NumPending != want {
				return fmt.Errorf("%s: %d pending, want %d", info.Name, info.NumPending, want)
			}
		}
		return nil
	})
}

// pending counts what a consumer has not been handed yet.
func (l *losing) pending(c *jetstream.ConsumerInfo) (n uint64) {
	filters := c.Config.FilterSubjects
	if c.Config.FilterSubject != "" {
		filters = []string{c.Config.FilterSubject}
	}
	for i, subject := range l.stored {
		wanted := len(filters) == 0 || slices.Contains(filters, subject)
		if wanted && uint64(i+1) > c.Delivered.Stream {
			n++
		}
	}
	return n
}

// take fetches so many messages and settles none.
func (l *losing) take(consumer string, n int) []jetstream.Msg {
	l.t.Helper()
	msgs := l.fetch(consumer, n, 5*time.Second)
	if len(msgs) != n {
		l.t.Fatalf("%s: %d messages, want %d", consumer, len(msgs), n)
	}
	return msgs
}

func (l *losing) fetch(consumer string, n int, wait time.Duration) (msgs []jetstream.Msg) {
	l.t.Helper()
	c, err := l.s.JS.Consumer(l.t.Context(), "S", consumer)
	if err != nil {
		l.t.Fatal(err)
	}
	batch, err := c.Fetch(n, jetstream.FetchMaxWait(wait))
	if err != nil {
		l.t.Fatal(err)
	}
	for m := range batch.Messages() {
		msgs = append(msgs, m)
	}
	return msgs
}

func (l *losing) ack(m jetstream.Msg) {
	l.t.Helper()
	if err := m.DoubleAck(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

func (l *losing) settle(consumer string, n int) {
	l.t.Helper()
	for _, m := range l.take(consumer, n) {
		l.ack(m)
	}
}

// again has so many messages delivered twice.
func (l *losing) again(consumer string, n int) {
	l.t.Helper()
	for _, m := range l.take(consumer, n) {
		if err := m.Nak(); err != nil {
			l.t.Fatal(err)
		}
	}
	for _, m := range l.take(consumer, n) {
		if meta, err := m.Metadata(); err != nil || meta.NumDelivered != 2 {
			l.t.Fatalf("delivered %+v (%v), want twice", meta, err)
		}
	}
}

// age waits until the last message is so old. The broker is on this machine.
func (l *losing) age(d time.Duration) {
	l.t.Helper()
	natstest.Eventually(l.t, 10*time.Second, func() error {
		s, err := l.s.JS.Stream(l.t.Context(), "S")
		if err != nil {
			return err
		}
		if old := time.Since(s.CachedInfo().State.LastTime); old < d {
			return fmt.Errorf("the last message is %s old", old)
		}
		return nil
	})
}
