package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit/broker"
)

// errDenied says that the account's user may not make a request.
var errDenied = errors.New("permission denied")

// window is how many requests may be under way at once. More only queue up in
// the server.
const window = 64

// apiConn asks the JetStream API, many requests at a time over one inbox.
type apiConn struct {
	nc      *nats.Conn
	prefix  string
	inbox   string
	sub     *nats.Subscription
	timeout time.Duration
	restore func()

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]*call
}

// A call is one request under way.
type call struct {
	subject string
	done    chan struct{} // closed when data or err is there
	data    []byte
	err     error
}

func newAPIConn(nc *nats.Conn, prefix string, timeout time.Duration) (*apiConn, error) {
	a := &apiConn{nc: nc, prefix: prefix, inbox: nc.NewInbox(), timeout: timeout, waiting: map[uint64]*call{}}
	sub, err := nc.Subscribe(a.inbox+".*", a.deliver)
	if err != nil {
		return nil, fmt.Errorf("subscribe to the replies: %w", err)
	}
	// A page of listing may hold hundreds of kilobytes, and dozens are asked for
	// at once.
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return nil, fmt.Errorf("subscribe to the replies: %w", err)
	}
	a.sub = sub
	before := nc.ErrorHandler()
	nc.SetErrorHandler(func(nc *nats.Conn, s *nats.Subscription, err error) {
		a.refuse(err)
		if before != nil {
			before(nc, s, err)
		}
	})
	a.restore = func() { nc.SetErrorHandler(before) }
	return a, nil
}

func (a *apiConn) close() {
	a.restore()
	_ = a.sub.Unsubscribe() // the connection may be gone, which is as good
}

// deliver hands a reply to its call.
func (a *apiConn) deliver(m *nats.Msg) {
	id, err := strconv.ParseUint(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], 36, 64)
	if err != nil {
		return
	}
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		a.settle(id, nil, errors.New("JetStream does not answer: it is not enabled, or the domain does not exist"))
		return
	}
	a.settle(id, m.Data, nil)
}

func (a *apiConn) settle(id uint64, data []byte, err error) {
	a.mu.Lock()
	c := a.waiting[id]
	delete(a.waiting, id)
	a.mu.Unlock()
	if c != nil {
		c.data, c.err = data, err
		close(c.done)
	}
}

// refuse ends the calls that a permission violation is about: it names the
// subject in its text, and no reply will come.
func (a *apiConn) refuse(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	text := strings.ToLower(err.Error())
	a.mu.Lock()
	var ids []uint64
	for id, c := range a.waiting {
		if strings.Contains(text, `"`+strings.ToLower(c.subject)+`"`) || strings.Contains(text, strings.ToLower(a.inbox)) {
			ids = append(ids, id)
		}
	}
	a.mu.Unlock()
	for _, id := range ids {
		a.settle(id, nil, fmt.Errorf("%w for the request", errDenied))
	}
}

// send publishes a request.
func (a *apiConn) send(subject string, body any) (*call, uint64, error) {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, 0, err
		}
	}
	a.mu.Lock()
	a.last++
	id, c := a.last, &call{subject: subject, done: make(chan struct{})}
	a.waiting[id] = c
	a.mu.Unlock()
	if err := a.nc.PublishRequest(subject, a.inbox+"."+strconv.FormatUint(id, 36), data); err != nil {
		a.settle(id, nil, err)
	}
	return c, id, nil
}

func (a *apiConn) wait(ctx context.Context, c *call, id uint64) ([]byte, error) {
	timer := time.NewTimer(a.timeout)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-ctx.Done():
		a.settle(id, nil, ctx.Err())
	case <-timer.C:
		a.settle(id, nil, fmt.Errorf("no answer within %v", a.timeout))
	}
	<-c.done // settled above if not before: a reply may have come first
	return c.data, c.err
}

// ask makes one request of the JetStream API.
func (a *apiConn) ask(ctx context.Context, subject string, body any) (json.RawMessage, error) {
	data, err := a.askSubject(ctx, a.prefix+"."+subject, body)
	if err != nil {
		return nil, err
	}
	return data, apiError(data)
}

func (a *apiConn) askSubject(ctx context.Context, subject string, body any) (json.RawMessage, error) {
	c, id, err := a.send(subject, body)
	if err != nil {
		return nil, err
	}
	return a.wait(ctx, c, id)
}

// apiError is the error in a reply, nil when it has none.
func apiError(data []byte) error {
	var reply struct {
		Error *broker.APIError `json:"error"`
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return fmt.Errorf("the reply is not JSON: %w", err)
	}
	if reply.Error != nil {
		return reply.Error
	}
	return nil
}

func notFound(err error) bool {
	var api *broker.APIError
	return errors.As(err, &api) && api.Code == 404
}

// askAll asks for pages, so many at a time.
func (a *apiConn) askAll(ctx context.Context, pages []*listing) {
	type sent struct {
		l  *listing
		c  *call
		id uint64
	}
	queue := make(chan sent, window)
	go func() {
		defer close(queue)
		for _, l := range pages {
			c, id, err := a.send(a.prefix+"."+l.subject, offsetRequest{l.offset})
			if err != nil {
				l.err = err
				continue
			}
			queue <- sent{l, c, id}
		}
	}()
	for s := range queue {
		data, err := a.wait(ctx, s.c, s.id)
		if err == nil && len(data) < errorSized {
			err = apiError(data)
		}
		s.l.reply, s.l.err = data, err
	}
}

// errorSized bounds the replies that are looked through for an error: a page
// with consumers in it is larger, and reading it twice would cost.
const errorSized = 1024
