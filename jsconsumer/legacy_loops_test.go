package jsconsumer_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// The loops of this file are written as they were before jsconsumer, with the
// legacy API of nats.go. docs/guide-from-legacy.md quotes them.

// A legacyHandler works on one message. The loop settles it.
type legacyHandler func(m *nats.Msg) error

func legacySerial(ctx context.Context, js nats.JetStreamContext, durable string, handle legacyHandler) error {
	sub, err := js.PullSubscribe("s.>", durable, nats.BackOff(ladder()), nats.MaxDeliver(4))
	if err != nil {
		return err
	}
	return fetchEach(ctx, sub, func(m *nats.Msg) error {
		if handle(m) == nil {
			return m.Ack()
		}
		return nil // not acknowledged: the ladder brings it again
	})
}

// fetchBatches asks for messages until ctx is done.
func fetchBatches(ctx context.Context, sub *nats.Subscription, size int, each func([]*nats.Msg) error) error {
	for ctx.Err() == nil {
		batch, err := sub.Fetch(size, nats.MaxWait(time.Second))
		if errors.Is(err, nats.ErrTimeout) {
			continue
		}
		if err != nil {
			return err
		}
		if err := each(batch); err != nil {
			return err
		}
	}
	return nil
}

// fetchEach asks for one message at a time.
func fetchEach(ctx context.Context, sub *nats.Subscription, each func(*nats.Msg) error) error {
	return fetchBatches(ctx, sub, 1, func(batch []*nats.Msg) error { return each(batch[0]) })
}

func legacyPooled(ctx context.Context, js nats.JetStreamContext, durable string, handle legacyHandler) error {
	ended := make([]error, 8)
	var workers sync.WaitGroup
	for i := range ended {
		workers.Go(func() { ended[i] = legacySerial(ctx, js, durable, handle) })
	}
	workers.Wait()
	return errors.Join(ended...)
}

func legacyNakScheduled(ctx context.Context, js nats.JetStreamContext, durable string, handle legacyHandler) error {
	sub, err := js.PullSubscribe("s.>", durable, nats.AckWait(2*time.Second), nats.MaxDeliver(4))
	if err != nil {
		return err
	}
	return fetchEach(ctx, sub, func(m *nats.Msg) error {
		if handle(m) != nil {
			return m.NakWithDelay(nakDelay)
		}
		return m.Ack()
	})
}

func legacyCaptured(ctx context.Context, js nats.JetStreamContext, durable string, handle legacyHandler) error {
	sub, err := js.PullSubscribe("s.>", durable, nats.BackOff(ladder()), nats.MaxDeliver(4))
	if err != nil {
		return err
	}
	return fetchEach(ctx, sub, func(m *nats.Msg) error {
		md, err := m.Metadata()
		if err != nil {
			return err
		}
		var failed error
		if md.NumDelivered == 4 { // kept for the capture; if it fails, all that is left is the advisory
			_, failed = js.Publish("dlq."+durable, m.Data)
		} else {
			failed = handle(m)
		}
		if failed == nil {
			return m.Ack()
		}
		return nil
	})
}
