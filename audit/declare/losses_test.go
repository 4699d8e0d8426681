package declare_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/natstest"
)

// A loss is a change that costs messages. What a finding says of it is compared
// with what really goes.
type loss struct {
	name      string
	stream    string   // laid over the plain stream
	consumers []string // laid over the plain consumer
	work      func(*losing)
	declare   string // the consumer c, or the stream S where there is no durable_name
	code      string // of the finding; empty: there is none
	says      string // what stands around the number
	measure   func(*losing) uint64
	since     int // the lines on which it is so; zero: no bound
	until     int
}

var losses = []loss{
	{
		name: "a narrower filter, nobody else", code: "NM211", says: `: (.*) stored messages on s\.b lose`, measure: gone, since: 10,
		stream: `{"retention":"interest"}`, consumers: []string{`{"filter_subjects":["s.a","s.b"]}`},
		work:    func(l *losing) { l.publish("s.a", 6); l.publish("s.b", 4) },
		declare: `{"durable_name":"c","filter_subject":"s.a"}`,
	},
	{
		name: "a narrower filter, another has them still to come", code: "NM211", says: `: (.*) stored messages on s\.b lose`, measure: gone, since: 10,
		stream: `{"retention":"interest"}`, consumers: []string{`{"filter_subjects":["s.a","s.b"]}`, `{"durable_name":"d","filter_subject":"s.b"}`},
		work:    func(l *losing) { l.publish("s.a", 6); l.publish("s.b", 4) },
		declare: `{"durable_name":"c","filter_subject":"s.a"}`,
	},
	{
		name: "a narrower filter, another has settled them", code: "NM211", says: `: (.*) stored messages on s\.b lose`, measure: gone, since: 10,
		stream: `{"retention":"interest"}`, consumers: []string{`{"filter_subjects":["s.a","s.b"]}`, `{"durable_name":"d","filter_subject":"s.b"}`},
		work:    func(l *losing) { l.publish("s.a", 6); l.publish("s.b", 4); l.settle("d", 4) },
		declare: `{"durable_name":"c","filter_subject":"s.a"}`,
	},
	{
		name: "a narrower filter, another has settled some", code: "NM211", says: `: (.*) stored messages on s\.b lose`, measure: gone, since: 10,
		stream: `{"retention":"interest"}`, consumers: []string{`{"filter_subjects":["s.a","s.b"]}`, `{"durable_name":"d","filter_subject":"s.b"}`},
		work:    func(l *losing) { l.publish("s.a", 6); l.publish("s.b", 4); l.settle("d", 1) },
		declare: `{"durable_name":"c","filter_subject":"s.a"}`,
	},
	{
		name: "two on a work queue, nothing taken yet", code: "NM219", says: `to both, (.*) of the stored`, measure: gotByBoth,
		stream: `{"retention":"workqueue"}`, consumers: []string{`{"filter_subject":"s.a"}`, `{"durable_name":"d","filter_subject":"s.b"}`},
		work:    func(l *losing) { l.publish("s.a", 5); l.publish("s.b", 7) },
		declare: `{"durable_name":"c"}`,
	},
	{
		name: "two on a work queue, the wider one is past them", code: "NM219", says: `to both, (.*) of the stored`, measure: gotByBoth,
		stream: `{"retention":"workqueue"}`, consumers: []string{`{"filter_subject":"s.a"}`, `{"durable_name":"d","filter_subject":"s.b"}`},
		work:    func(l *losing) { l.publish("s.b", 7); l.publish("s.a", 5); l.settle("c", 5) },
		declare: `{"durable_name":"c"}`,
	},
	{
		name: "two on a work queue, the wider one is in the middle", code: "NM219", says: `to both, (.*) of the stored`, measure: gotByBoth,
		stream: `{"retention":"workqueue"}`, consumers: []string{`{"filter_subject":"s.a"}`, `{"durable_name":"d","filter_subject":"s.b"}`},
		work:    func(l *losing) { l.publish("s.b", 3); l.publish("s.a", 2); l.publish("s.b", 4); l.settle("c", 1) },
		declare: `{"durable_name":"c"}`,
	},
	{
		name: "made anew with deliver_policy all", code: "NM204", says: `anew, it gets (.*) messages with deliver_policy all`, measure: pendingOf(`{"durable_name":"new","deliver_policy":"all"}`),
		consumers: []string{`{"filter_subject":"s.a"}`}, work: halfRead, declare: `{"durable_name":"c","filter_subject":"s.a","ack_policy":"all"}`,
	},
	{
		name: "made anew with by_start_sequence", code: "NM204", says: `, and gets (.*) with by_start_sequence`, measure: pendingOf(`{"durable_name":"new","filter_subject":"s.a","deliver_policy":"by_start_sequence","opt_start_seq":2}`),
		consumers: []string{`{"filter_subject":"s.a"}`}, work: halfRead, declare: `{"durable_name":"c","filter_subject":"s.a","ack_policy":"all"}`,
	},
	{
		name: "made anew with new", code: "NM204", says: `, skips (.*) with new`, measure: skippedByNew,
		consumers: []string{`{"filter_subject":"s.a"}`}, work: halfRead, declare: `{"durable_name":"c","filter_subject":"s.a","ack_policy":"all"}`,
	},
	{
		name: "made anew, and what comes again", code: "NM204", says: `policy all, (.*) of them again`, measure: comesAgain,
		consumers: []string{`{"filter_subject":"s.a"}`}, work: halfRead, declare: `{"durable_name":"c","filter_subject":"s.a","ack_policy":"all"}`,
	},
	{
		name: "made anew on a work queue", code: "NM204", says: `anew, it gets (.*) messages, all`, measure: anewOnWorkQueue,
		stream:    `{"retention":"workqueue"}`,
		consumers: []string{`{"filter_subject":"s.a"}`}, work: halfRead, declare: `{"durable_name":"c","filter_subject":"s.a","replay_policy":"original"}`,
	},
	{
		name: "an interest stream's durable is deleted, and another one waits", code: "NM204", says: `no other consumer waits for, (.*)`, measure: goneWithConsumer,
		stream: `{"retention":"interest"}`, consumers: []string{`{"filter_subject":"s.a"}`, `{"durable_name":"d"}`},
		work:    func(l *losing) { halfRead(l); l.settle("d", 3) },
		declare: `{"durable_name":"c","filter_subject":"s.a","ack_policy":"all"}`,
	},
	{
		name: "an interest stream's durable is deleted", code: "NM204", says: `no other consumer waits for, (\d+)`, measure: goneWithConsumer,
		stream: `{"retention":"interest"}`, consumers: []string{`{}`}, work: halfRead, declare: `{"durable_name":"c","ack_policy":"all"}`,
	},
	{
		name: "max_deliver below two attempts", code: "NM218", says: `: (\d+) redelivered messages that reached 2`, measure: givenUp,
		consumers: []string{`{"ack_wait":"30s","max_deliver":10}`},
		work:      func(l *losing) { l.publish("s.a", 3); l.again("c", 3); l.publish("s.a", 2); l.take("c", 2) },
		declare:   `{"durable_name":"c","ack_wait":"100ms","max_deliver":2}`,
	},
	{
		name: "max_deliver of one", code: "NM218", says: `: (\d+) messages that reached 1`, measure: givenUp,
		consumers: []string{`{"ack_wait":"30s","max_deliver":10}`},
		work:      func(l *losing) { l.publish("s.a", 5); l.take("c", 4) },
		declare:   `{"durable_name":"c","ack_wait":"100ms","max_deliver":1}`,
	},
	{
		name: "max_msgs", code: "NM302", says: `: (\d+) of 10 stored`, measure: gone,
		work: func(l *losing) { l.publish("s.a", 10) }, declare: `{"max_msgs":4}`,
	},
	{
		name: "max_msgs with discard new", measure: gone, since: 10,
		work: func(l *losing) { l.publish("s.a", 10) }, declare: `{"max_msgs":4,"discard":"new"}`,
	},
	{
		name: "max_msgs with discard new, in 2.9", code: "NM302", says: `: (\d+) of 10 stored`, measure: gone, until: 9,
		work: func(l *losing) { l.publish("s.a", 10) }, declare: `{"max_msgs":4,"discard":"new"}`,
	},
	{
		name: "full with discard new", since: 10, code: "NM306", says: `refused until it holds less than (\d+)`, measure: roomAfter,
		work: func(l *losing) { l.publish("s.a", 10) }, declare: `{"max_msgs":4,"discard":"new"}`,
	},
	{
		name: "max_bytes", code: "NM302", says: `about (\d+) of 10 messages`, measure: gone,
		work: func(l *losing) { l.publish("s.a", 10) }, declare: `{"max_bytes":150}`,
	},
	{
		name: "max_bytes with discard new", measure: gone, since: 10,
		work: func(l *losing) { l.publish("s.a", 10) }, declare: `{"max_bytes":150,"discard":"new"}`,
	},
	{
		name: "max_msgs_per_subject", code: "NM302", says: `: (\d+) of 10 stored.*subject declare`, measure: gone,
		stream: `{"max_msgs_per_subject":100}`, work: threeSubjects, declare: `{"max_msgs_per_subject":2}`,
	},
	{
		name: "max_msgs_per_subject with discard new", code: "NM302", says: `: (\d+) of 10 stored.*subject declare`, measure: gone,
		stream: `{"max_msgs_per_subject":100}`, work: threeSubjects, declare: `{"max_msgs_per_subject":2,"discard":"new"}`,
	},
	{
		name: "max_msgs_per_subject where there was none", code: "NM302", says: `: (\d+) of 10 stored.*subject declare`, measure: gone, since: 12,
		work: threeSubjects, declare: `{"max_msgs_per_subject":2}`,
	},
	{
		name: "max_msgs_per_subject where there was none, with the next message", code: "NM302", says: `: (\d+) of 10 stored.*with the next`, measure: goneWithNext, until: 11,
		work: threeSubjects, declare: `{"max_msgs_per_subject":2}`,
	},
	{
		name: "max_age, all are older", code: "NM302", says: `: all (\d+) stored`, measure: goneInTime,
		work: func(l *losing) { l.publish("s.a", 10); l.age(150 * time.Millisecond) }, declare: `{"max_age":"100ms","duplicate_window":"100ms"}`,
	},
	{
		name: "max_msg_size", measure: gone,
		work: func(l *losing) { l.publish("s.a", 10) }, declare: `{"max_msg_size":1}`,
	},
	{
		name: "interest, nobody waits, before 2.14", measure: gone, since: 10, until: 12,
		work: func(l *losing) { l.publish("s.a", 10) }, declare: `{"retention":"interest"}`,
	},
	{
		name: "interest, nobody waits", code: "NM302", says: `: (\d+) of 10 stored`, measure: gone, since: 14,
		work: func(l *losing) { l.publish("s.a", 10) }, declare: `{"retention":"interest"}`,
	},
	{
		name: "interest, one has settled some", code: "NM302", says: `: (.*) of 10 stored`, measure: gone, since: 10,
		consumers: []string{`{}`},
		work:      func(l *losing) { l.publish("s.a", 10); l.settle("c", 4) }, declare: `{"retention":"interest"}`,
	},
	{
		name: "interest, one filters", code: "NM302", says: `: (.*) of 10 stored`, measure: gone, since: 10,
		consumers: []string{`{"filter_subject":"s.a"}`},
		work:      func(l *losing) { l.publish("s.a", 3); l.publish("s.b", 7); l.settle("c", 2) }, declare: `{"retention":"interest"}`,
	},
}

func threeSubjects(l *losing) { l.publish("s.a", 6); l.publish("s.b", 3); l.publish("s.c", 1) }

// halfRead publishes six messages for the consumer and two for nobody, and
// settles the first and the third of them: four are delivered.
func halfRead(l *losing) {
	l.publish("s.a", 6)
	l.publish("s.b", 2)
	msgs := l.take("c", 4)
	l.ack(msgs[0])
	l.ack(msgs[2])
}

// TestLossesAreAsTold makes each loss happen, embedded and on the binaries of
// NATSMIG_BROKERS, and counts.
func TestLossesAreAsTold(t *testing.T) {
	run := func(name string, opts ...natstest.Option) {
		t.Run(name, func(t *testing.T) {
			for _, c := range losses {
				t.Run(c.name, func(t *testing.T) {
					if l := newLosing(t, opts...); l.version.AtLeast(c.since) && (c.until == 0 || !l.version.AtLeast(c.until+1)) {
						l.play(&c)
					}
				})
			}
		})
	}
	run("embedded")
	if dir := os.Getenv("NATSMIG_BROKERS"); dir != "" {
		for _, bin := range natstest.Binaries(t, dir) {
			run(filepath.Base(bin), natstest.WithBinary(bin))
		}
	}
}

// A losing is a broker on which something is about to be lost.
type losing struct {
	t *testing.T
	s *natstest.Server
	*side
	before  uint64
	subject string // of the request, and what it sends
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
	if given < told.least || given > told.most {
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
					return f.Message + " " + f.Fix
				}
			}
		}
	}
	return ""
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
	}
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

// gone applies the change and counts what the stream holds less.
func gone(l *losing) uint64 {
	l.t.Helper()
	l.apply()
	return l.before - l.messages()
}

// goneWithNext is gone, after another message on the two subjects that are over
// their limit: it pushes out one more each.
func goneWithNext(l *losing) uint64 {
	l.t.Helper()
	if n := gone(l); n > 0 {
		l.t.Errorf("%d are gone at once", n)
	}
	l.publish("s.a", 1)
	l.publish("s.b", 1)
	return l.before + 2 - l.messages() - 2
}

// goneInTime is gone, where a timer of the broker does it.
func goneInTime(l *losing) uint64 {
	l.t.Helper()
	l.apply()
	natstest.Eventually(l.t, 10*time.Second, func() error {
		if n := l.messages(); n > 0 {
			return fmt.Errorf("%d are left", n)
		}
		return nil
	})
	return l.before
}

// roomAfter deletes one message after the other until one can be published, and
// tells how many there were before the last that had to go.
func roomAfter(l *losing) uint64 {
	l.t.Helper()
	l.apply()
	s, err := l.s.JS.Stream(l.t.Context(), "S")
	if err != nil {
		l.t.Fatal(err)
	}
	for n := uint64(0); n <= l.before; n++ {
		if _, err := l.s.JS.Publish(l.t.Context(), "s.a", nil); err == nil {
			return l.before - n + 1
		}
		if err := s.DeleteMsg(l.t.Context(), n+1); err != nil {
			l.t.Fatal(err)
		}
	}
	return l.before
}

// gotByBoth applies the change and counts what both consumers are handed.
func gotByBoth(l *losing) (n uint64) {
	l.t.Helper()
	l.apply()
	seen := map[uint64]bool{}
	for _, consumer := range []string{"c", "d"} {
		for _, m := range l.fetch(consumer, 100, 300*time.Millisecond) {
			meta, err := m.Metadata()
			if err != nil {
				l.t.Fatal(err)
			}
			if seen[meta.Sequence.Stream] {
				n++
			}
			seen[meta.Sequence.Stream] = true
		}
	}
	return n
}

// pendingOf counts what a new consumer would get.
func pendingOf(text string) func(*losing) uint64 {
	return func(l *losing) uint64 {
		l.t.Helper()
		d := plainConsumer.with(doc{"filter_subject": []byte(`"s.a"`)}).with(lossDoc(l.t, text))
		l.must(l.t, proof{}, create(d), sent(d, ""))
		c, err := l.s.JS.Consumer(l.t.Context(), "S", "new")
		if err != nil {
			l.t.Fatal(err)
		}
		return c.CachedInfo().NumPending
	}
}

// comesAgain counts what a new consumer with deliver_policy all would get that
// the live one has had.
func comesAgain(l *losing) uint64 {
	l.t.Helper()
	fresh := pendingOf(`{"durable_name":"new"}`)(l)
	c, err := l.s.JS.Consumer(l.t.Context(), "S", "c")
	if err != nil {
		l.t.Fatal(err)
	}
	return fresh - c.CachedInfo().NumPending
}

// anewOnWorkQueue makes the durable anew under another name, and counts what it
// would get.
func anewOnWorkQueue(l *losing) uint64 {
	l.t.Helper()
	if err := l.s.JS.DeleteConsumer(l.t.Context(), "S", "c"); err != nil {
		l.t.Fatal(err)
	}
	return pendingOf(`{"durable_name":"new"}`)(l)
}

// skippedByNew counts what the live consumer has to come, and a new one with
// deliver_policy new has not.
func skippedByNew(l *losing) uint64 {
	l.t.Helper()
	fresh := pendingOf(`{"durable_name":"new","deliver_policy":"new"}`)(l)
	c, err := l.s.JS.Consumer(l.t.Context(), "S", "c")
	if err != nil {
		l.t.Fatal(err)
	}
	info := c.CachedInfo()
	return info.NumPending + uint64(info.NumAckPending) - fresh
}

// goneWithConsumer deletes the durable and counts what the stream holds less.
func goneWithConsumer(l *losing) uint64 {
	l.t.Helper()
	if err := l.s.JS.DeleteConsumer(l.t.Context(), "S", "c"); err != nil {
		l.t.Fatal(err)
	}
	var left uint64
	natstest.Eventually(l.t, 10*time.Second, func() error {
		if left = l.messages(); left == l.before {
			return fmt.Errorf("all %d are there", left)
		}
		return nil
	})
	return l.before - left
}

// givenUp applies the change and counts the messages that the broker gives up
// without another attempt. It says so for each message at its deadline.
func givenUp(l *losing) (n uint64) {
	l.t.Helper()
	sub, err := l.nc.SubscribeSync("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.S.c")
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	l.apply()
	attempted := map[uint64]bool{}
	natstest.Eventually(l.t, 20*time.Second, func() error {
		for _, m := range l.fetch("c", 100, 100*time.Millisecond) {
			meta, err := m.Metadata()
			if err != nil {
				return err
			}
			attempted[meta.Sequence.Stream] = true
		}
		c, err := l.s.JS.Consumer(l.t.Context(), "S", "c")
		if err != nil {
			return err
		}
		if info := c.CachedInfo(); info.NumAckPending > 0 || info.NumPending > 0 {
			return fmt.Errorf("%d outstanding, %d pending", info.NumAckPending, info.NumPending)
		}
		return nil
	})
	for {
		msg, err := sub.NextMsg(100 * time.Millisecond)
		if err != nil {
			return n
		}
		var advisory struct {
			Seq uint64 `json:"stream_seq"`
		}
		decode(l.t, msg.Data, &advisory)
		if !attempted[advisory.Seq] {
			n++
		}
	}
}

// TestDemotedDurableIsGone has a durable lose its durable_name: nothing shows
// until the broker restarts, and then the position goes.
func TestDemotedDurableIsGone(t *testing.T) {
	l := newLosing(t)
	l.must(t, proof{}, "STREAM.CREATE.S", plainStream.raw())
	l.must(t, proof{}, create(plainConsumer), sent(plainConsumer, ""))
	l.publish("s.a", 5)
	l.settle("c", 2)
	finding := l.audit(&loss{code: "NM214", declare: `{"durable_name":null,"name":"c"}`})
	const position = "delivered 2, ack floor 2, 3 pending, 0 outstanding"
	if !strings.Contains(finding, position) {
		t.Errorf("the audit says %q, want %s", finding, position)
	}
	l.apply()
	c, err := l.s.JS.Consumer(t.Context(), "S", "c")
	if err != nil {
		t.Fatal(err)
	}
	if info := c.CachedInfo(); info.Config.InactiveThreshold != 0 || info.Delivered.Stream != 2 {
		t.Errorf("inactive_threshold %s, delivered %d: want none and 2 before the restart", info.Config.InactiveThreshold, info.Delivered.Stream)
	}
	l.s.Restart()
	natstest.Eventually(t, 30*time.Second, func() error {
		if _, err := l.s.JS.Consumer(t.Context(), "S", "c"); !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return fmt.Errorf("the consumer is there (%w)", err)
		}
		return nil
	})
}
