package prove

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A delivery is one message as a client got it.
type delivery struct {
	number     int // by the broker's count
	reply      string
	nak        func() error
	nakDelay   func(time.Duration) error
	inProgress func() error
	term       func() error
}

// A puller gets the next delivery, nil for none.
type puller func(context.Context) (*delivery, error)

// modern pulls with the package jetstream.
func modern(cons jetstream.Consumer) puller {
	return func(ctx context.Context) (*delivery, error) {
		batch, err := cons.Fetch(1, jetstream.FetchContext(ctx))
		if err != nil {
			return nil, err
		}
		m, ok := <-batch.Messages()
		if !ok {
			return nil, batch.Error()
		}
		meta, err := m.Metadata()
		if err != nil {
			return nil, fmt.Errorf("read metadata: %w", err)
		}
		return &delivery{
			number: int(meta.NumDelivered), reply: m.Reply(),
			nak: m.Nak, nakDelay: m.NakWithDelay, inProgress: m.InProgress, term: m.Term,
		}, nil
	}
}

// legacy pulls with the first JetStream client of nats.go, bound as it binds to
// what exists.
func legacy(nc *nats.Conn, stream string) (puller, error) {
	js, err := nc.JetStream()
	if err != nil {
		return nil, fmt.Errorf("use the legacy client: %w", err)
	}
	sub, err := js.PullSubscribe("", durable, nats.Bind(stream, durable))
	if err != nil {
		return nil, fmt.Errorf("bind the legacy client: %w", err)
	}
	return func(ctx context.Context) (*delivery, error) {
		msgs, err := sub.Fetch(1, nats.Context(ctx))
		if err != nil || len(msgs) == 0 {
			return nil, err
		}
		m := msgs[0]
		meta, err := m.Metadata()
		if err != nil {
			return nil, fmt.Errorf("read metadata: %w", err)
		}
		return &delivery{
			number: int(meta.NumDelivered), reply: m.Reply,
			nak:        func() error { return m.Nak() },
			nakDelay:   func(d time.Duration) error { return m.NakWithDelay(d) },
			inProgress: func() error { return m.InProgress() },
			term:       func() error { return m.Term() },
		}, nil
	}, nil
}
