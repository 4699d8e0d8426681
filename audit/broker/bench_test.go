package broker_test

import (
	"testing"

	"github.com/natsmig/natsmig/audit/broker"
)

// BenchmarkConsumer is one prediction. The live configuration is as a broker
// reports it, with metadata of its own.
func BenchmarkConsumer(b *testing.B) {
	model := broker.Broker{Version: broker.Newest}
	declare := func(text string) broker.ConsumerConfig {
		d, err := broker.DecodeConsumer([]byte(text))
		if err != nil || d.Err != nil {
			b.Fatal(err, d.Err)
		}
		return d.Config
	}
	const body = `"durable_name":"d","ack_policy":"explicit","max_deliver":7,"backoff":[30000000000,120000000000],
		"filter_subject":"s.a","inactive_threshold":259200000000000`
	live := declare(`{` + body + `,"name":"d","ack_wait":30000000000,"max_ack_pending":1000,"max_waiting":512,"replay_policy":"instant",
		"metadata":{"_nats.level":"5","_nats.req.level":"0","_nats.ver":"2.15.3"}}`)
	host := &broker.Stream{
		Config:    &broker.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Retention: broker.LimitsRetention, Replicas: 1},
		Consumers: []broker.Sibling{{Name: "d", Config: &live}},
	}
	for _, tt := range []struct {
		outcome broker.Outcome
		live    *broker.LiveConsumer
		config  string
	}{
		{broker.Create, nil, `{` + body + `}`},
		{broker.Noop, &broker.LiveConsumer{Config: &live}, `{` + body + `}`},
		{broker.Update, &broker.LiveConsumer{Config: &live}, `{` + body + `,"max_ack_pending":5}`},
		{broker.Reject, &broker.LiveConsumer{Config: &live}, `{` + body + `,"replay_policy":"original"}`},
	} {
		b.Run(string(tt.outcome), func(b *testing.B) {
			req := &broker.ConsumerRequest{Config: declare(tt.config)}
			b.ReportAllocs()
			for b.Loop() {
				if got := model.Consumer(host, tt.live, req); got.Outcome != tt.outcome {
					b.Fatal(got.Outcome, got.Error)
				}
			}
		})
	}
}
