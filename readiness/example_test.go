package readiness_test

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/readiness"
)

// What another process runs is asked for.
func ExampleProbe() {
	check := func(ctx context.Context, js jetstream.JetStream) {
		p := readiness.Probe{JS: js, RequireBound: true}
		for _, s := range p.Ask(ctx, readiness.Durable{Stream: "ORDERS", Consumer: "billing"}).Members {
			switch s.State {
			case readiness.Consumable:
				fmt.Println(s.Name, "is well")
			case readiness.Unknown:
				fmt.Println(s.Name, "could not be seen:", s.Reason)
			default:
				fmt.Println(s.Name, "is not consumable:", s.Class, s.Reason)
			}
		}
	}
	_ = check
}
