package jsconsumer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/internal/engine"
)

// A Handler works on one delivery and decides what becomes of it. The context ends
// when the broker may deliver the message again, and when a drain has run out of
// time. A panic is a retry.
type Handler func(ctx context.Context, d Delivery) Disposition

// HandlerFunc makes a Handler of a function that acknowledges by returning nil and
// asks for a retry with an error. An error made by one of [Disposition.AsError] is
// that disposition.
func HandlerFunc(f func(ctx context.Context, d Delivery) error) Handler {
	return func(ctx context.Context, d Delivery) Disposition {
		return FromError(f(ctx, d))
	}
}

// A Delivery is one message, delivered once. It can not acknowledge: the handler
// returns what is to become of it.
type Delivery struct {
	in               *engine.Delivery
	stream, consumer string
}

// Subject is what the message was published to.
func (d Delivery) Subject() string { return d.in.Msg.Subject }

// Data is the payload. It is the handler's own.
func (d Delivery) Data() []byte { return d.in.Msg.Data }

// Header are the message's headers, nil if it has none.
func (d Delivery) Header() nats.Header { return d.in.Msg.Header }

// Stream is the stream that the message comes from.
func (d Delivery) Stream() string { return d.stream }

// Consumer is the durable that delivered it.
func (d Delivery) Consumer() string { return d.consumer }

// Sequence is the message's sequence in its stream.
func (d Delivery) Sequence() uint64 { return d.in.StreamSeq }

// Attempt counts the deliveries of this message, from 1.
func (d Delivery) Attempt() uint64 { return d.in.Count }

// Stored is when the stream took the message.
func (d Delivery) Stored() time.Time { return d.in.Stored() }

// Received is when this delivery arrived.
func (d Delivery) Received() time.Time { return d.in.Received }

// Pending is how many messages the consumer had still to deliver then.
func (d Delivery) Pending() uint64 { return d.in.Pending() }

// JSON reads the payload into v.
func (d Delivery) JSON(v any) error {
	if err := json.Unmarshal(d.Data(), v); err != nil {
		return fmt.Errorf("message %d of stream %q: %w", d.Sequence(), d.stream, err)
	}
	return nil
}
