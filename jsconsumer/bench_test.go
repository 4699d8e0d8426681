package jsconsumer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
)

// BenchmarkDelivery consumes the same messages by Consume of nats.go and by the
// runner, in turn, and tells the ratio. The broker is in the same process.
func BenchmarkDelivery(b *testing.B) {
	for _, size := range []int{128, 1024} {
		for _, inFlight := range []int{1, 8, 256, 500} {
			b.Run(fmt.Sprintf("%dB/%d", size, inFlight), func(b *testing.B) {
				const n = 100_000
				s := natstest.Start(b)
				if _, err := s.JS.CreateStream(b.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Storage: jetstream.MemoryStorage}); err != nil {
					b.Fatal(err)
				}
				data := make([]byte, size)
				for i := range n {
					if _, err := s.JS.PublishAsync("s.x", data); err != nil {
						b.Fatal(err)
					}
					if i%1000 == 999 {
						<-s.JS.PublishAsyncComplete()
					}
				}
				var theirs, ours time.Duration
				runs := 0
				for b.Loop() {
					runs++
					theirs += byConsume(b, s.Client, fmt.Sprintf("c%d", runs), inFlight, n)
					ours += byRunner(b, s.Client, fmt.Sprintf("r%d", runs), inFlight, n)
				}
				b.ReportMetric(float64(n*runs)/ours.Seconds(), "msgs/s")
				b.ReportMetric(float64(n*runs)/theirs.Seconds(), "consume-msgs/s")
				b.ReportMetric(theirs.Seconds()/ours.Seconds(), "x-consume")
			})
		}
	}
}

func byConsume(b *testing.B, c *natstest.Client, durable string, inFlight, n int) time.Duration {
	cons, err := c.JS.CreateConsumer(b.Context(), "S", jetstream.ConsumerConfig{Durable: durable, AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		b.Fatal(err)
	}
	done, seen := make(chan struct{}), 0
	var began time.Time
	cc, err := cons.Consume(func(m jetstream.Msg) {
		if seen == 0 {
			began = time.Now()
		}
		_ = m.Ack()
		if seen++; seen == n {
			close(done)
		}
	}, jetstream.PullMaxMessages(inFlight))
	if err != nil {
		b.Fatal(err)
	}
	<-done
	took := time.Since(began)
	cc.Stop()
	<-cc.Closed()
	_ = c.JS.DeleteConsumer(b.Context(), "S", durable)
	return took
}

func byRunner(b *testing.B, c *natstest.Client, durable string, inFlight, n int) time.Duration {
	var began time.Time
	done := make(chan struct{})
	r, err := jsconsumer.New(c.JS, jsconsumer.Config{
		Stream: "S", Consumer: jetstream.ConsumerConfig{Durable: durable, AckPolicy: jetstream.AckExplicitPolicy},
		Workers: inFlight, Expires: time.Second,
	}, func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		switch d.Sequence() {
		case 1:
			began = time.Now()
		case uint64(n):
			close(done)
		}
		return jsconsumer.Ack()
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	<-done
	took := time.Since(began)
	cancel()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	_ = c.JS.DeleteConsumer(b.Context(), "S", durable)
	return took
}
