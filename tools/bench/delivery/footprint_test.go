package delivery

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

// What BenchmarkRunners puts on one connection.
const (
	durables           = 1000
	messagesPerDurable = 10
)

// BenchmarkRunners measures what a process pays for each of a thousand durables on
// one connection, when they have nothing to do and after each has handled ten
// messages:
//
//	goroutines/runner  goroutines that were not there before
//	bytes/runner       heap that is reachable, and stacks, that were not there before
//	x-peer             those bytes as a multiple of nats.go's Consume
func BenchmarkRunners(b *testing.B) {
	s := startBroker(b)
	for _, inFlight := range []int{1, 8, 256} {
		b.Run(fmt.Sprintf("inflight=%d", inFlight), func(b *testing.B) {
			var peer [2]footprint
			for i, p := range []path{{"consume", consume}, {"runner", runner}, {"runner-capture", runnerCapture}} {
				each := newThousand(b, s, fmt.Sprintf("%s_%d", p.name, inFlight)).run(b, p, inFlight)
				if i == 0 {
					peer = each
				}
				for k, state := range []string{"idle", "handled"} {
					b.Run("path="+p.name+"/state="+state, func(b *testing.B) { each[k].report(b, peer[k]) })
				}
			}
		})
	}
}

// footprint is what something takes of this process.
type footprint struct{ goroutines, bytes float64 }

// taken is what the process takes now, of which garbage is no part.
func taken() footprint {
	runtime.GC()
	runtime.GC() // what pools keep goes with the second
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return footprint{goroutines: float64(runtime.NumGoroutine()), bytes: float64(s.HeapAlloc + s.StackInuse)}
}

// each is a durable's part of what came since before.
func (f footprint) each(before footprint) footprint {
	return footprint{(f.goroutines - before.goroutines) / durables, (f.bytes - before.bytes) / durables}
}

func (f footprint) report(b *testing.B, peer footprint) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // of this function, which says nothing
	b.ReportMetric(f.goroutines, "goroutines/runner")
	b.ReportMetric(f.bytes, "bytes/runner")
	b.ReportMetric(f.bytes/peer.bytes, "x-peer")
}

// outlasting is an ack_wait beyond the benchmark: the timer of a lease holds on to
// its runner for so long, and one that fires would free what was there before.
const outlasting = time.Hour

// thousand is a stream with a subject for each of its durables.
type thousand struct {
	*natstest.Server
	stream jetstream.Stream
	name   string
}

func newThousand(b *testing.B, s *natstest.Server, name string) thousand {
	b.Helper()
	stream, err := s.JS.CreateStream(b.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name + ".*"}, Storage: jetstream.MemoryStorage})
	must(b, err)
	for i := range durables {
		_, err := stream.CreateConsumer(b.Context(), jetstream.ConsumerConfig{
			Durable: fmt.Sprintf("d%d", i), FilterSubject: fmt.Sprintf("%s.%d", name, i),
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: outlasting, MaxDeliver: 5,
		})
		must(b, err)
	}
	return thousand{s, stream, name}
}

// run lets a path handle the messages of all durables, and tells what each takes
// before and after.
func (f thousand) run(b *testing.B, p path, inFlight int) (each [2]footprint) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), runTimeout)
	defer cancel()
	nc, err := nats.Connect(f.URL())
	must(b, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	must(b, err)
	m := newMeter(durables * messagesPerDurable)
	stops := make([]func(), durables)
	before := taken()
	for i := range stops {
		stops[i], err = p.start(ctx, work{nc: nc, js: js, stream: f.name, durable: fmt.Sprintf("d%d", i), inFlight: inFlight, handled: m.handled})
		must(b, err)
	}
	f.idle(b)
	each[0] = taken().each(before)
	f.publish(b)
	select {
	case <-m.done:
	case <-ctx.Done():
		b.Fatalf("%s handled %d messages in %v", p.name, m.count.Load(), runTimeout)
	}
	f.idle(b)
	each[1] = taken().each(before)
	var all sync.WaitGroup
	for _, stop := range stops {
		all.Go(stop)
	}
	all.Wait()
	must(b, f.JS.DeleteStream(b.Context(), f.name))
	return each
}

// idle waits until every durable has a pull that waits, and nothing to deliver or to
// be acknowledged.
func (f thousand) idle(b *testing.B) {
	b.Helper()
	natstest.Eventually(b, time.Minute, func() error {
		n := 0
		list := f.stream.ListConsumers(b.Context())
		for i := range list.Info() {
			if i.NumWaiting > 0 && i.NumPending == 0 && i.NumAckPending == 0 {
				n++
			}
		}
		if err := list.Err(); err != nil || n < durables {
			return fmt.Errorf("%d of %d durables are idle: %w", n, durables, err)
		}
		return nil
	})
}

func (f thousand) publish(b *testing.B) {
	b.Helper()
	for range messagesPerDurable {
		for i := range durables {
			_, err := f.JS.PublishAsync(fmt.Sprintf("%s.%d", f.name, i), make([]byte, 128))
			must(b, err)
		}
	}
	<-f.JS.PublishAsyncComplete()
}
