package jsconsumer_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/natstest"
)

const asService = "-service"

// beService consumes S: what ends in an odd digit fails, and the rest is written to
// DONE and acknowledged. It says so when it is bound.
func beService(url string) error {
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	c := capturing(jsconsumer.Hooks{Bound: func(jsconsumer.Bound) { fmt.Println("bound") }})
	c.Stream, c.Consumer.Durable, c.Consumer.AckPolicy = "S", "d", jetstream.AckExplicitPolicy
	// One kill at the last delivery leaves a message to the sweeper.
	c.Consumer.MaxDeliver, c.Consumer.BackOff, c.Handling.Reserve = 3, c.Consumer.BackOff[:2], 1
	c.Advisories = "ADVISORIES"
	r, err := jsconsumer.New(far{js}, c, func(ctx context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		if odd(string(d.Data())) {
			return jsconsumer.Retry(errBroken)
		}
		if _, err := js.Publish(ctx, "done."+string(d.Data()), nil); err != nil {
			return jsconsumer.Retry(err)
		}
		return jsconsumer.Ack()
	})
	if err != nil {
		return err
	}
	return r.Run(context.Background())
}

// far is a dead-letter stream that is far away, so that many kills come before a
// capture has arrived, and many before its answer has.
type far struct{ jetstream.JetStream }

func (f far) PublishMsg(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	distance := time.Duration(rand.IntN(40)) * time.Millisecond
	time.Sleep(distance)
	defer time.Sleep(distance)
	return f.JetStream.PublishMsg(ctx, m, opts...)
}

func odd(data string) bool {
	n, _ := strconv.Atoi(data)
	return n%2 == 1
}

// TestKilledAtAnyPoint kills a service fifty times while it works, fails and
// captures. In the end each message was done or is captured, and none twice.
func TestKilledAtAnyPoint(t *testing.T) {
	t.Parallel()
	const messages, kills = 400, 50
	s := natstest.Start(t)
	b := on(t, s.Client).stream(jetstream.StreamConfig{}).dlq()
	b.stream(jetstream.StreamConfig{Name: "DONE", Subjects: []string{"done.>"}, MaxMsgsPerSubject: 1})
	b.stream(jetstream.StreamConfig{Name: "ADVISORIES", Subjects: []string{"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>"}})
	for i := range kills {
		b.publish(i*messages/kills, (i+1)*messages/kills)
		kill := service(t, s.URL())
		// At any point is what is wanted here: no moment is waited for.
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		kill()
	}
	service(t, s.URL())
	b.until("everything is settled", func() bool {
		i := b.info()
		return i.NumPending == 0 && i.NumAckPending == 0 && b.settled(messages) == ""
	})
	for what, n := range b.dead() {
		if n != 1 {
			t.Errorf("captured %d times: %s", n, what)
		}
	}
}

// settled names a message that is neither done nor captured, empty if there is none.
func (b *bench) settled(messages int) string {
	b.t.Helper()
	captured := map[string]bool{}
	dlq, err := b.JS.Stream(b.t.Context(), "DLQ")
	b.must(err)
	for seq := uint64(1); seq <= dlq.CachedInfo().State.LastSeq; seq++ {
		m, err := dlq.GetMsg(b.t.Context(), seq)
		b.must(err)
		captured[string(m.Data)] = true
	}
	done, err := b.JS.Stream(b.t.Context(), "DONE")
	b.must(err)
	info, err := done.Info(b.t.Context(), jetstream.WithSubjectFilter("done.>"))
	b.must(err)
	for i := range messages {
		name := strconv.Itoa(i)
		if !captured[name] && info.State.Subjects["done."+name] == 0 {
			return name
		}
	}
	return ""
}

// service starts one and waits until it is bound. It is killed with the test at the
// latest.
func service(t *testing.T, url string) (kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), self(t), asService, url)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // it was killed
	}
	t.Cleanup(kill)
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("the service ended before it was bound")
	}
	return kill
}
