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

// errNoInbox says that no reply can come back.
var errNoInbox = errors.New("permission denied to subscribe to the replies")

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
	broken  error // no reply will come any more, and why
}

// A call is one request under way.
type call struct {
	subject string
	until   time.Time
	done    chan struct{} // closed when data or err is there
	data    []byte
	err     error
}

func newAPIConn(nc *nats.Conn, prefix string, timeout time.Duration) (*apiConn, error) {
	a := &apiConn{nc: nc, prefix: prefix, inbox: nc.NewInbox(), timeout: timeout, waiting: map[uint64]*call{}}
	before := nc.ErrorHandler()
	nc.SetErrorHandler(func(nc *nats.Conn, s *nats.Subscription, err error) {
		a.refuse(err)
		if before != nil {
			before(nc, s, err)
		}
	})
	a.restore = func() { nc.SetErrorHandler(before) }
	if err := a.subscribe(); err != nil {
		a.restore()
		return nil, fmt.Errorf("subscribe to the replies: %w", err)
	}
	return a, nil
}

// subscribe comes after the error handler is set: the server's refusal may be
// quick.
func (a *apiConn) subscribe() (err error) {
	if a.sub, err = a.nc.Subscribe(a.inbox+".*", a.deliver); err != nil {
		return err
	}
	// A page of listing may hold hundreds of kilobytes, and dozens are asked for
	// at once.
	return a.sub.SetPendingLimits(-1, -1)
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
// subject in its text, and no reply will come. Where it names the inbox, none
// will ever.
func (a *apiConn) refuse(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	text := err.Error()
	ended := fmt.Errorf("%w for the request", errDenied)
	a.mu.Lock()
	if strings.Contains(text, a.inbox) {
		ended, a.broken = errNoInbox, errNoInbox
	}
	var ids []uint64
	for id, c := range a.waiting {
		if a.broken != nil || strings.Contains(text, strconv.Quote(c.subject)) {
			ids = append(ids, id)
		}
	}
	a.mu.Unlock()
	for _, id := range ids {
		a.settle(id, nil, ended)
	}
}

// send publishes a request.
func (a *apiConn) send(subject string, body any) (*call, uint64) {
	var data []byte
	var err error
	if body != nil {
		data, err = json.Marshal(body)
	}
	a.mu.Lock()
	a.last++
	id, c := a.last, &call{subject: subject, until: time.Now().Add(a.timeout), done: make(chan struct{})}
	a.waiting[id] = c
	if err == nil {
		err = a.broken
	}
	a.mu.Unlock()
	if err == nil {
		err = a.nc.PublishRequest(subject, a.inbox+"."+strconv.FormatUint(id, 36), data)
	}
	if err != nil {
		a.settle(id, nil, err)
	}
	return c, id
}

// wait takes the reply when it is there, however late it is looked for.
func (a *apiConn) wait(ctx context.Context, c *call, id uint64) ([]byte, error) {
	select {
	case <-c.done:
		return c.data, c.err
	default:
	}
	timer := time.NewTimer(time.Until(c.until))
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
	c, id := a.send(subject, body)
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

// A request is one of many that are made together.
type request struct {
	subject string // below the prefix of the API
	body    any
	reply   []byte
	err     error
}

// askAll makes many requests, some of them at a time, and calls each as its
// reply is there, in order.
func (a *apiConn) askAll(ctx context.Context, requests []*request, each func(*request)) {
	type sent struct {
		r  *request
		c  *call
		id uint64
	}
	queue := make(chan sent, window)
	go func() {
		defer close(queue)
		for _, r := range requests {
			if ctx.Err() != nil {
				return // what is left is not worth asking
			}
			c, id := a.send(a.prefix+"."+r.subject, r.body)
			queue <- sent{r, c, id}
		}
	}()
	for s := range queue {
		data, err := a.wait(ctx, s.c, s.id)
		if err == nil && len(data) < errorSized {
			err = apiError(data)
		}
		s.r.reply, s.r.err = data, err
		each(s.r)
	}
}

// errorSized bounds the replies that are looked through for an error: a page
// with consumers in it is larger, and reading it twice would cost.
const errorSized = 1024
