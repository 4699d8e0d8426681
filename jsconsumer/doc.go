// Package jsconsumer runs a JetStream consumer for a service: it binds the durable
// and keeps it bound, hands messages to a handler, settles them as the handler
// decides, captures what is given up, says whether it is ready, and drains without
// leaving a message behind.
//
//	r, err := jsconsumer.New(js, jsconsumer.Config{
//		Stream: "ORDERS",
//		Consumer: jetstream.ConsumerConfig{
//			Durable: "billing", AckPolicy: jetstream.AckExplicitPolicy,
//			BackOff: []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute}, MaxDeliver: 5,
//		},
//		Workers: 8,
//	}, func(ctx context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
//		return jsconsumer.FromError(bill(ctx, d.Data()))
//	})
//	if err != nil {
//		return err // a timing contract that can not hold, among others
//	}
//	return r.Run(ctx) // until ctx is done, and drained
//
// A [Handler] can not acknowledge; it returns a [Disposition]. Its context is the
// lease: it ends when the broker may deliver the message again. [Hooks] are told
// what happens. [Runner.Health] goes into a readiness.Group, which serves the probes.
//
// A [Runner] asks only for as many messages as workers are free, so the pending
// count that an autoscaler reads is honest, and stopping wastes no delivery.
//
// What it does not do: consume push consumers, or without acknowledgment; order
// messages across processes; or make a handler that is run twice harmless. A
// message is handled at least once.
package jsconsumer
