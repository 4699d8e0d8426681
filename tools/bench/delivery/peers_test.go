package delivery

import (
	"context"
	"strconv"
	"sync"

	"github.com/ThreeDotsLabs/watermill"
	watermilljs "github.com/ThreeDotsLabs/watermill-nats/v2/pkg/jetstream"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// consume is nats.go's Consume with an ack. Its default is 500 messages.
func consume(ctx context.Context, w work) (func(), error) {
	return consumeInto(ctx, w, func(m jetstream.Msg) { ack(m, w) })
}

// consumePool hands the messages of Consume to eight goroutines.
func consumePool(ctx context.Context, w work) (func(), error) {
	todo := make(chan jetstream.Msg)
	var pool sync.WaitGroup
	for range 8 {
		pool.Go(func() {
			for m := range todo {
				ack(m, w)
			}
		})
	}
	stop, err := consumeInto(ctx, w, func(m jetstream.Msg) { todo <- m })
	if err != nil {
		return nil, err
	}
	return func() { stop(); close(todo); pool.Wait() }, nil
}

func consumeInto(ctx context.Context, w work, handle jetstream.MessageHandler) (func(), error) {
	c, err := w.js.Consumer(ctx, w.stream, w.durable)
	if err != nil {
		return nil, err
	}
	cc, err := c.Consume(handle, jetstream.PullMaxMessages(w.inFlight))
	if err != nil {
		return nil, err
	}
	return func() { cc.Stop(); <-cc.Closed() }, nil
}

// ack leaves an error to the check of the consumer's floor after the run.
func ack(m jetstream.Msg, w work) {
	_ = m.Ack()
	w.handled()
}

// inbox asks for messages with as little as that takes: one inbox for the whole
// run, and a new pull whenever half of the last has been handled.
func inbox(_ context.Context, w work) (func(), error) {
	reply := w.nc.NewInbox()
	pull := func(n int) error {
		const heartbeats = `,"expires":30000000000,"idle_heartbeat":15000000000}`
		return w.nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+w.stream+"."+w.durable, reply, []byte(`{"batch":`+strconv.Itoa(n)+heartbeats))
	}
	asked := 0
	return listen(w, reply, func(m *nats.Msg) {
		if m.Reply == "" {
			return // a status
		}
		_ = m.Respond([]byte("+ACK"))
		w.handled()
		if asked--; asked <= w.inFlight/2 {
			_ = pull(w.inFlight - asked)
			asked = w.inFlight
		}
	}, func() error { asked = w.inFlight; return pull(asked) })
}

// inboxNext asks for the next message in the ack of the last.
func inboxNext(_ context.Context, w work) (func(), error) {
	reply := w.nc.NewInbox()
	return listen(w, reply, func(m *nats.Msg) {
		_ = w.nc.PublishRequest(m.Reply, reply, []byte("+NXT"))
		w.handled()
	}, func() error {
		return w.nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+w.stream+"."+w.durable, reply, []byte("1"))
	})
}

// listen subscribes before the first pull goes out.
func listen(w work, reply string, handle nats.MsgHandler, first func() error) (func(), error) {
	sub, err := w.nc.Subscribe(reply, handle)
	if err != nil {
		return nil, err
	}
	if err := first(); err != nil {
		return nil, err
	}
	return func() { _ = sub.Unsubscribe() }, nil // the connection ends next
}

// watermillConsume is watermill-nats on the modern API, with acks that are not
// waited for: with the others, which are its default, it has a fifth of the
// speed.
func watermillConsume(ctx context.Context, w work) (func(), error) {
	sub, err := watermilljs.NewSubscriber(watermilljs.SubscriberConfig{
		Conn: w.nc, Logger: watermill.NopLogger{}, AckAsync: true,
		ResourceInitializer: func(ctx context.Context, js jetstream.JetStream, _ string) (jetstream.Consumer, func(context.Context, watermill.LoggerAdapter), error) {
			c, err := js.Consumer(ctx, w.stream, w.durable)
			return c, nil, err
		},
		ConsumeOptions: []jetstream.PullConsumeOpt{jetstream.PullMaxMessages(w.inFlight)},
	})
	if err != nil {
		return nil, err
	}
	messages, err := sub.Subscribe(ctx, w.stream)
	if err != nil {
		return nil, err
	}
	var handler sync.WaitGroup
	handler.Go(func() {
		for m := range messages {
			m.Ack()
			w.handled()
		}
	})
	return func() { _ = sub.Close(); handler.Wait() }, nil // which drains the run's connection
}
