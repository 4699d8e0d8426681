// Package fleet builds the reference fleet on a broker: four streams and eleven
// durables of a mirroring service for Git hosting, just as a legacy client left
// them, with the faults that a real migration found. [Build] makes it;
// [Declarations] is what the service's code says instead.
//
// It is for the demo and for tests. It expects a broker of its own.
package fleet

import (
	"context"
	_ "embed" // the declarations
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// Declarations is the file of the fleet's declarations.
//
//go:embed fleet.yaml
var Declarations []byte

// Orphan is the ladder that two durables still carry, long after the code
// dropped it.
func Orphan() []time.Duration {
	return []time.Duration{
		30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	}
}

const day = 24 * time.Hour

// Build makes the streams and the durables, and lets one message fail so that
// it pins the ack floor of webhook-forwarder.
func Build(ctx context.Context, nc *nats.Conn) error {
	js, err := nc.JetStream(nats.Context(ctx))
	if err != nil {
		return fmt.Errorf("use JetStream: %w", err)
	}
	for _, s := range streams() {
		if _, err := js.AddStream(&s); err != nil {
			return fmt.Errorf("add stream %q: %w", s.Name, err)
		}
	}
	for _, d := range durables() {
		if err := d.create(js); err != nil {
			return fmt.Errorf("create durable %q: %w", d.name, err)
		}
	}
	return pin(js)
}

func streams() []nats.StreamConfig {
	return []nats.StreamConfig{
		{Name: "webhooks_github_v1", Subjects: []string{"webhooks.github.>"}, Retention: nats.InterestPolicy, MaxAge: 4 * day},
		{Name: "webhooks_github_dlq", Subjects: []string{"webhooks.dlq.>"}, MaxAge: 7 * day},
		{Name: "resource_lifecycle_v1", Subjects: []string{"lifecycle.>"}, MaxAge: 4 * day},
		{Name: "mirror_git_v1", Subjects: []string{"mirror.git"}, Retention: nats.WorkQueuePolicy, MaxAge: 6 * time.Hour, Duplicates: time.Second},
	}
}

// A durable is created the way the service created it: by subscribing.
type durable struct {
	name, subject string
	opts          []nats.SubOpt
}

func durables() []durable {
	webhooks, lifecycle := "webhooks.github.>", "lifecycle.>"
	idle := nats.InactiveThreshold(3 * day)
	orphan := nats.BackOff(Orphan())
	return []durable{
		{"webhook-forwarder", webhooks, []nats.SubOpt{nats.MaxDeliver(8), orphan, idle}},
		{"fanout-eu", webhooks, []nats.SubOpt{nats.MaxDeliver(8), orphan, idle}},
		{"core-fanout", "webhooks.github.push", []nats.SubOpt{nats.MaxDeliver(8), idle}},
		{"trails-fanout-push", "webhooks.github.push", []nats.SubOpt{nats.MaxDeliver(8), nats.InactiveThreshold(day)}},
		{"trails-fanout-pull-request", "webhooks.github.pull_request", []nats.SubOpt{nats.MaxDeliver(8), nats.InactiveThreshold(day)}},
		{"webhooks-backfill", webhooks, []nats.SubOpt{nats.MaxDeliver(5), nats.AckWait(5 * time.Minute), idle}},
		{"meta-fanout-lifecycle", lifecycle, []nats.SubOpt{nats.MaxDeliver(6), nats.BackOff([]time.Duration{
			5 * time.Minute, 5 * time.Minute, 5 * time.Minute, 12 * time.Minute, 15 * time.Minute,
		})}},
		{"search-lifecycle", lifecycle, []nats.SubOpt{nats.MaxDeliver(8)}},
		{"billing-lifecycle", lifecycle, []nats.SubOpt{nats.MaxDeliver(8)}},
		{"lifecycle-backfill", lifecycle, []nats.SubOpt{nats.MaxDeliver(3), nats.AckWait(5 * time.Minute)}},
		{"mirror-worker", "mirror.git", []nats.SubOpt{nats.MaxDeliver(10), nats.AckWait(30 * time.Minute)}},
	}
}

func (d *durable) create(js nats.JetStreamContext) error {
	_, err := d.subscribe(js)
	return err
}

// subscribe creates the durable, or binds to it. The subscription is left to the
// connection: unsubscribing would delete a durable that it created.
func (d *durable) subscribe(js nats.JetStreamContext) (*nats.Subscription, error) {
	return js.PullSubscribe(d.subject, d.name, d.opts...)
}

// pin makes a message fail in earnest: it is refused once and delivered again,
// refused with a delay, and everything after it is acknowledged.
func pin(js nats.JetStreamContext) error {
	const before, after = 3, 12
	for i := range before + 1 + after {
		if _, err := js.Publish("webhooks.github.push", fmt.Appendf(nil, `{"delivery":%d}`, i)); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	for _, d := range durables()[:6] {
		sub, err := d.subscribe(js)
		if err != nil {
			return fmt.Errorf("subscribe %q: %w", d.name, err)
		}
		fails := -1
		if d.name == "webhook-forwarder" {
			fails = before
		}
		if err := work(sub, fails); err != nil {
			return fmt.Errorf("work off %q: %w", d.name, err)
		}
	}
	return nil
}

// work handles everything that is there, the message at index fails being the
// one that never succeeds.
func work(sub *nats.Subscription, fails int) error {
	for i := 0; ; i++ {
		msgs, err := sub.Fetch(1, nats.MaxWait(250*time.Millisecond))
		if errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, m := range msgs {
			if err := settle(m, i == fails); err != nil {
				return err
			}
		}
	}
}

// settle acknowledges a message, or refuses it: at once the first time, so that
// it is delivered again, and with the flat delay of the code after that.
func settle(m *nats.Msg, fail bool) error {
	meta, err := m.Metadata()
	switch {
	case err != nil:
		return err
	case fail:
		return m.Nak()
	case meta.NumDelivered > 1:
		return m.NakWithDelay(30 * time.Second)
	}
	return m.AckSync()
}
