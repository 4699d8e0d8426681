package delivery

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

// runTimeout leaves room for stalls of thirty seconds each.
const runTimeout = 3 * time.Minute

// BenchmarkDelivery measures the paths of each cell in turns: size of a message,
// store of the stream, and messages in flight. Its rows are medians of
// NATSMIG_ROUNDS rounds, five unless told:
//
//	msgs/s        messages handled and acknowledged in a second
//	x-peer        the same as a multiple of nats.go's Consume in the same round,
//	              of rounds in which Consume did not stall
//	allocs/msg    allocations of the client
//	cpu-µs/msg    time on a core of the client
//	max-pause-ms  the longest pause between two messages, of all rounds
//	stalls        rounds with a pause of more than a second
func BenchmarkDelivery(b *testing.B) {
	for _, size := range []int{128, 1024} {
		for _, store := range []jetstream.StorageType{jetstream.MemoryStorage, jetstream.FileStorage} {
			b.Run(fmt.Sprintf("size=%d/store=%s", size, store), func(b *testing.B) {
				s := startBroker(b)
				few, many := fill(b, s, store, size, 20_000), fill(b, s, store, size, 100_000)
				for _, inFlight := range []int{1, 8, 256, 500} {
					c := cell{server: s, stream: many, inFlight: inFlight}
					if inFlight < 256 {
						c.stream = few // a round trip for each
					}
					b.Run(fmt.Sprintf("inflight=%d", inFlight), c.measure)
				}
			})
		}
	}
}

// filled is a stream of messages that stay when they are acknowledged.
type filled struct {
	name     string
	messages int
}

func fill(b *testing.B, s *natstest.Server, store jetstream.StorageType, size, messages int) filled {
	b.Helper()
	f := filled{name: fmt.Sprintf("orders_%d", messages), messages: messages}
	_, err := s.JS.CreateStream(b.Context(), jetstream.StreamConfig{Name: f.name, Subjects: []string{f.name}, Storage: store})
	must(b, err)
	body := make([]byte, size)
	for range messages {
		_, err := s.JS.PublishAsync(f.name, body)
		must(b, err)
	}
	select {
	case <-s.JS.PublishAsyncComplete():
	case <-time.After(runTimeout):
		b.Fatal("the broker did not store the messages")
	}
	return f
}

// cell is one setting, in which all paths are compared.
type cell struct {
	server   *natstest.Server
	stream   filled
	inFlight int
}

func (c cell) measure(b *testing.B) {
	all := paths(c.inFlight)
	results := make([][]result, len(all))
	for round := range rounds(b) {
		for i := range all {
			k := (i + round) % len(all) // nobody is always first
			results[k] = append(results[k], c.run(b, all[k]))
		}
	}
	for k, p := range all {
		b.Run("path="+p.name, func(b *testing.B) { report(b, results[k], results[0]) })
	}
}

func rounds(b *testing.B) int {
	b.Helper()
	told := os.Getenv("NATSMIG_ROUNDS")
	if told == "" {
		return 5
	}
	n, err := strconv.Atoi(told)
	must(b, err)
	return n
}

// run lets a path handle the whole stream, over a durable and a connection of
// its own.
func (c cell) run(b *testing.B, p path) result {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), runTimeout)
	defer cancel()
	durable, err := c.server.JS.CreateConsumer(ctx, c.stream.name, jetstream.ConsumerConfig{Durable: p.name, AckPolicy: jetstream.AckExplicitPolicy})
	must(b, err)
	nc, err := nats.Connect(c.server.URL())
	must(b, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	must(b, err)

	m := newMeter(c.stream.messages)
	stop, err := p.start(ctx, work{nc: nc, js: js, stream: c.stream.name, durable: p.name, inFlight: c.inFlight, handled: m.handled})
	must(b, err)
	select {
	case <-m.done:
	case <-ctx.Done():
		b.Fatalf("%s handled %d of %d messages in %v", p.name, m.count.Load(), c.stream.messages, runTimeout)
	}
	must(b, nc.Flush())
	r := m.result()
	stop()
	c.settled(b, durable)
	must(b, c.server.JS.DeleteConsumer(ctx, c.stream.name, p.name))
	return r
}

// settled checks that each message was delivered once and acknowledged.
func (c cell) settled(b *testing.B, durable jetstream.Consumer) {
	b.Helper()
	natstest.Eventually(b, 10*time.Second, func() error {
		i, err := durable.Info(b.Context())
		if err != nil {
			return err
		}
		if n := uint64(c.stream.messages); i.AckFloor.Stream != n || i.Delivered.Consumer != n { //nolint:gosec // small
			return fmt.Errorf("delivered %d and acknowledged up to %d, of %d", i.Delivered.Consumer, i.AckFloor.Stream, n)
		}
		return nil
	})
}

func report(b *testing.B, of, peer []result) {
	b.Helper()
	var speeds, allocs, cpu, ratios []float64
	var pause time.Duration
	stalls := 0
	for round, r := range of {
		speeds, allocs, cpu = append(speeds, r.perSecond), append(allocs, r.allocs), append(cpu, r.cpu)
		pause = max(pause, r.pause)
		if r.stalled() {
			stalls++
		}
		if !peer[round].stalled() {
			ratios = append(ratios, r.perSecond/peer[round].perSecond)
		}
	}
	b.ReportMetric(0, "ns/op") // of this function, which says nothing
	b.ReportMetric(median(speeds), "msgs/s")
	b.ReportMetric(median(allocs), "allocs/msg")
	b.ReportMetric(median(cpu), "cpu-µs/msg")
	b.ReportMetric(float64(pause.Milliseconds()), "max-pause-ms")
	b.ReportMetric(float64(stalls), "stalls")
	if len(ratios) > 0 {
		b.ReportMetric(median(ratios), "x-peer")
	}
}
