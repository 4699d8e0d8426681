package readiness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An answer is the reply to one request, or why there is none.
type answer struct {
	info *jetstream.ConsumerInfo
	err  error
}

// An asker has an inbox of its own. The client's own way of asking shares one
// among all requests, and is told only once that it may not subscribe to it; and
// asking for a consumer as a pull or a push consumer refuses the other kind.
type asker struct {
	nc     *nats.Conn
	prefix string // of the API, without a final dot
	inbox  string
	sub    *nats.Subscription
	// replies is a channel, because the synchronous way of taking messages drops the
	// subject of a reply that says that nobody responds.
	replies chan *nats.Msg
}

// crowd is more servers than one request is replied to by: all peers of a
// consumer may say that it has no leader.
const crowd = 16

// ask sends all requests and gives the answers in their order.
func ask(ctx context.Context, js jetstream.JetStream, durables []Durable) []answer {
	answers := make([]answer, len(durables))
	a, err := open(ctx, js, len(durables))
	if err != nil {
		giveUp(answers, err)
		return answers
	}
	defer a.sub.Unsubscribe() //nolint:errcheck // the connection may be gone, which is as good
	waiting := 0
	for i, d := range durables {
		if answers[i].err = a.send(ctx, d, i); answers[i].err == nil {
			waiting++
		}
	}
	a.collect(ctx, answers, waiting)
	return answers
}

// open subscribes to the replies. A connection that is not there now would keep
// the requests for later, when nobody waits for them.
func open(ctx context.Context, js jetstream.JetStream, requests int) (*asker, error) {
	a := &asker{nc: js.Conn(), prefix: prefixOf(js.Options())}
	switch {
	case a.nc.IsClosed():
		return nil, nats.ErrConnectionClosed
	case !a.nc.IsConnected():
		return nil, nats.ErrDisconnected
	}
	a.inbox, a.replies = a.nc.NewInbox(), make(chan *nats.Msg, crowd*requests)
	before := a.nc.LastError()
	var err error
	if a.sub, err = a.nc.ChanSubscribe(a.inbox+".*", a.replies); err != nil {
		return nil, fmt.Errorf("subscribe to the replies: %w", err)
	}
	if err := a.refused(ctx, before, a.inbox+".*"); err != nil {
		_ = a.sub.Unsubscribe()
		return nil, err
	}
	return a, nil
}

func prefixOf(o jetstream.JetStreamOptions) string {
	switch {
	case o.Domain != "":
		return "$JS." + o.Domain + ".API"
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".")
	}
	return "$JS.API"
}

func (a *asker) send(ctx context.Context, d Durable, i int) error {
	if err := d.check(); err != nil {
		return err
	}
	subject := a.prefix + ".CONSUMER.INFO." + d.Stream + "." + d.Consumer
	before := a.nc.LastError()
	if err := a.nc.PublishRequest(subject, a.inbox+"."+strconv.Itoa(i), nil); err != nil {
		return fmt.Errorf("send the request: %w", err)
	}
	return a.refused(ctx, before, subject)
}

// refused says whether the server refuses what was just sent about a subject. Its
// refusal comes as an asynchronous error, before the reply to a ping that is sent
// afterwards; the client keeps the latest. Without it a denied request is one that
// is never answered.
func (a *asker) refused(ctx context.Context, before error, subject string) error {
	if err := a.nc.FlushWithContext(ctx); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err
	}
	err := a.nc.LastError()
	// The same error as before is about an earlier request, and may be mended.
	if errors.Is(err, nats.ErrPermissionViolation) && err != before && strings.Contains(err.Error(), strconv.Quote(subject)) { //nolint:errorlint // the very same
		return err
	}
	return nil
}

// collect waits until the answers are there. Several servers of a cluster may
// reply to one request; the first counts, as for every client.
func (a *asker) collect(ctx context.Context, answers []answer, waiting int) {
	for waiting > 0 {
		select {
		case <-ctx.Done():
			giveUp(answers, context.Cause(ctx))
			return
		case m := <-a.replies:
			i, err := strconv.Atoi(strings.TrimPrefix(m.Subject, a.inbox+"."))
			if err == nil && i < len(answers) && answers[i].open() {
				answers[i] = read(m)
				waiting--
			}
		}
	}
}

func (a *answer) open() bool { return a.info == nil && a.err == nil }

func giveUp(answers []answer, err error) {
	for i := range answers {
		if answers[i].open() {
			answers[i].err = err
		}
	}
}

// errNoJetStream is what a server says for want of anybody who would answer.
var errNoJetStream = fmt.Errorf("JetStream does not answer: it is not enabled, or the domain does not exist: %w", nats.ErrNoResponders)

// read reads a reply.
func read(m *nats.Msg) answer {
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return answer{err: errNoJetStream}
	}
	var reply struct {
		Error *jetstream.APIError `json:"error"`
		jetstream.ConsumerInfo
	}
	if err := json.Unmarshal(m.Data, &reply); err != nil {
		return answer{err: fmt.Errorf("the reply is not JSON: %w", err)}
	}
	if reply.Error != nil {
		return answer{err: reply.Error}
	}
	if reply.Name == "" {
		return answer{err: errors.New("the reply is not about a consumer")}
	}
	return answer{info: &reply.ConsumerInfo}
}
