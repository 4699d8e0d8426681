package declare_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

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
	bound     bool // the snapshot tells no more than how many at most and at least
	since     int  // the lines on which it is so; zero: no bound
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
		name: "a narrower filter, another has settled some", bound: true, code: "NM211", says: `: (.*) stored messages on s\.b lose`, measure: gone, since: 10,
		stream: `{"retention":"interest"}`, consumers: []string{`{"filter_subjects":["s.a","s.b"]}`, `{"durable_name":"d","filter_subject":"s.b"}`},
		work:    func(l *losing) { l.publish("s.a", 6); l.publish("s.b", 4); l.settle("d", 1) },
		declare: `{"durable_name":"c","filter_subject":"s.a"}`,
	},
	{
		name: "a filter where there was none", code: "NM211", says: `: (.*) stored messages on s\.> lose`, measure: gone, since: 10,
		stream: `{"retention":"interest"}`, consumers: []string{`{}`},
		work:    func(l *losing) { l.publish("s.a", 6); l.publish("s.b", 4) },
		declare: `{"durable_name":"c","filter_subject":"s.a"}`,
	},
	{
		name: "a wider filter, after all was read", code: "NM212", says: `rewind: (.*) stored`, measure: notDelivered, since: 10,
		consumers: []string{`{"filter_subject":"s.a"}`},
		work:      func(l *losing) { l.publish("s.b", 4); l.publish("s.a", 2); l.settle("c", 2) },
		declare:   `{"durable_name":"c","filter_subjects":["s.a","s.b"]}`,
	},
	{
		name: "a wider filter, in the middle", bound: true, code: "NM212", says: `rewind: (.*) stored`, measure: notDelivered, since: 10,
		consumers: []string{`{"filter_subject":"s.a"}`},
		work:      func(l *losing) { l.publish("s.b", 3); l.publish("s.a", 2); l.publish("s.b", 4); l.settle("c", 1) },
		declare:   `{"durable_name":"c","filter_subjects":["s.a","s.b"]}`,
	},
	{
		name: "a wider filter, others came since", bound: true, code: "NM212", says: `rewind: (.*) stored`, measure: notDelivered, since: 10,
		consumers: []string{`{"filter_subject":"s.a"}`},
		work:      func(l *losing) { l.publish("s.b", 1); l.publish("s.a", 2); l.settle("c", 2); l.publish("s.b", 4) },
		declare:   `{"durable_name":"c","filter_subjects":["s.a","s.b"]}`,
	},
	{
		name: "a wider filter, nothing pulled and nothing pending", bound: true, code: "NM212", says: `rewind: (.*) stored`, measure: notDelivered, since: 10,
		consumers: []string{`{"filter_subject":"s.a"}`},
		work:      func(l *losing) { l.publish("s.b", 4) },
		declare:   `{"durable_name":"c","filter_subjects":["s.a","s.b"]}`,
	},
	{
		name: "a wider filter, pulled and nothing there", bound: true, code: "NM212", says: `rewind: (.*) stored`, measure: notDelivered, since: 10,
		consumers: []string{`{"filter_subject":"s.a"}`},
		work:      func(l *losing) { l.publish("s.b", 4); l.fetch("c", 1, 100*time.Millisecond) },
		declare:   `{"durable_name":"c","filter_subjects":["s.a","s.b"]}`,
	},
	{
		name: "two on a work queue, nothing taken yet", bound: true, code: "NM219", says: `to both, (.*) of the stored`, measure: gotByBoth,
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
		name: "two on a work queue, the wider one is in the middle", bound: true, code: "NM219", says: `to both, (.*) of the stored`, measure: gotByBoth,
		stream: `{"retention":"workqueue"}`, consumers: []string{`{"filter_subject":"s.a"}`, `{"durable_name":"d","filter_subject":"s.b"}`},
		work:    func(l *losing) { l.publish("s.b", 3); l.publish("s.a", 2); l.publish("s.b", 4); l.settle("c", 1) },
		declare: `{"durable_name":"c"}`,
	},
	{
		name: "made anew with deliver_policy all", code: "NM204", says: `anew, it gets (.*) messages with deliver_policy all`, measure: pendingOf(`{"durable_name":"new","deliver_policy":"all"}`),
		consumers: []string{`{"filter_subject":"s.a"}`}, work: halfRead, declare: `{"durable_name":"c","filter_subject":"s.a","ack_policy":"all"}`,
	},
	{
		name: "made anew with by_start_sequence", bound: true, code: "NM204", says: `, and gets (.*) with by_start_sequence`, measure: pendingOf(`{"durable_name":"new","filter_subject":"s.a","deliver_policy":"by_start_sequence","opt_start_seq":2}`),
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
		name: "an interest stream's durable is deleted, and another one waits", bound: true, code: "NM204", says: `no other consumer waits for, (.*)`, measure: goneWithConsumer,
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
			v := newLosing(t, opts...).version
			for _, c := range losses {
				if v.AtLeast(c.since) && (c.until == 0 || !v.AtLeast(c.until+1)) {
					t.Run(c.name, func(t *testing.T) { newLosing(t, opts...).play(&c) })
				}
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
