package delivery

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A path is one way to handle every message of a durable.
type path struct {
	name string
	// start begins to handle messages: each is acknowledged explicitly and then
	// told with work.handled, from any goroutine. stop is called after the last
	// one, and outside the measured time.
	start func(ctx context.Context, w work) (stop func(), err error)
}

// work is what a path has to do.
type work struct {
	nc              *nats.Conn // of this run alone
	js              jetstream.JetStream
	stream, durable string // the durable exists
	inFlight        int    // how many messages may be with the client
	handled         func()
}

// paths are measured in turns, round by round. The first is the peer of the
// others.
func paths(inFlight int) []path {
	all := []path{{"consume", consume}, {"inbox", inbox}}
	switch inFlight {
	case 1:
		all = append(all, path{"inbox+NXT", inboxNext})
	case 8:
		all = append(all, path{"consume-pool8", consumePool})
	case 500:
		all = append(all, path{"consume-pool8", consumePool}, path{"watermill", watermillConsume})
	}
	return append(all, ours(inFlight)...)
}

// ours are the paths of jsconsumer.
func ours(int) []path { return []path{{"runner", runner}} }
