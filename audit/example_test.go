package audit_test

import (
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/timingcontract"
)

// A service can ask from its own tests what the broker would do with the config
// in its code, with a snapshot of production beside it.
func Example() {
	data, err := os.ReadFile("../examples/preflight/snapshot.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot, err := audit.ReadSnapshot("snapshot.json", data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fleet, err := audit.Index(snapshot, broker.Version{})
	if err != nil {
		fmt.Println(err)
		return
	}
	forwarder, err := audit.Declare("webhooks", jetstream.ConsumerConfig{
		Durable:    "forwarder",
		AckPolicy:  jetstream.AckExplicitPolicy,
		AckWait:    30 * time.Second,
		MaxDeliver: 8,
	}, audit.WithHandler(timingcontract.Handler{
		OnFailure: timingcontract.NakDelay, Delays: []time.Duration{30 * time.Second},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := audit.Compare(fleet, []*audit.Declaration{forwarder}, audit.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range report.Consumers {
		fmt.Println(e.Name(), e.Outcome, e.Envelope.Before.LastAttempt, "->", e.Envelope.After.LastAttempt)
		for _, f := range e.Fields {
			fmt.Println(f.Name, audit.Show(f.Have), "->", audit.Show(f.After), f.Class)
		}
	}
	// Output:
	// webhooks/forwarder update 41h12m30s -> 3m30s
	// backoff [30s 2m 10m 1h 4h 12h 24h] -> - silent-reset
	// max_ack_pending 65536 -> 1000 silent-reset
}

// The legacy client binds, so the ladder stays.
func ExampleWithWriter() {
	d, err := audit.Declare("webhooks", jetstream.ConsumerConfig{Durable: "forwarder"}, audit.WithWriter(audit.Bind))
	fmt.Println(d.Name(), d.Writer, err)

	_, err = audit.Declare("webhooks", jetstream.ConsumerConfig{})
	fmt.Println(err)
	// Output:
	// webhooks/forwarder bind <nil>
	// consumer of stream "webhooks": neither durable_name nor name is set
}
