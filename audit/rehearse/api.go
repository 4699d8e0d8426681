package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit/broker"
)

const (
	prefix = "$JS.API."

	askTimeout = 5 * time.Second       // of one request
	patience   = 30 * time.Second      // of a request that is tried again
	pause      = 20 * time.Millisecond // before that

	// placePatience is for a cluster that can not place a stream, though it has
	// servers enough: to its leader, one of them is not there.
	placePatience = 10 * time.Second
	// storePatience is for a store that can not be made: what is in the way may be
	// one that was just deleted, or the name.
	storePatience = 2 * time.Second
)

// errNoAnswer says that the broker did not answer one request, which may be the
// request's fault.
var errNoAnswer = errors.New("the broker did not answer")

// A request is one message to the API.
type request struct {
	subject string // without the prefix
	body    []byte
}

// An answer is what the API replied: a config, an error, or neither.
type answer struct {
	Config    json.RawMessage  `json:"config"`
	Err       *broker.APIError `json:"error"`
	PushBound bool             `json:"push_bound"`
}

// ask sends a request, again while the broker is not ready for it.
func (c *cell) ask(ctx context.Context, r request) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for start := time.Now(); ; {
		got, err := c.askOnce(ctx, r)
		switch {
		case err == nil && !passing(got.Err, time.Since(start)):
			return got, nil
		case err != nil && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrNoResponders):
			return answer{}, fmt.Errorf("%s: %w", r.subject, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			if err != nil {
				return answer{}, fmt.Errorf("%s: %w within %s", r.subject, errNoAnswer, patience)
			}
			return got, nil
		}
	}
}

// passing says whether an error tells the moment, not the request: a store that
// was deleted and is still in the way, a server that seems to be away, or a leader
// that is not there yet.
func passing(err *broker.APIError, waited time.Duration) bool {
	switch {
	case err == nil:
		return false
	case err.Description == "error creating store for stream":
		return waited < storePatience
	case err.ErrCode == 10005: // nobody asks for a place here
		return waited < placePatience
	}
	return err.Code == 503 && err.ErrCode == 10008
}

func (c *cell) askOnce(ctx context.Context, r request) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	msg, err := c.nc.RequestWithContext(ctx, prefix+r.subject, r.body)
	if err != nil {
		return answer{}, err
	}
	var got answer
	if err := json.Unmarshal(msg.Data, &got); err != nil {
		return answer{}, fmt.Errorf("read the reply: %w", err)
	}
	return got, nil
}

// must sends a request that is to succeed.
func (c *cell) must(ctx context.Context, r request) error {
	got, err := c.ask(ctx, r)
	if err == nil && got.Err != nil {
		err = fmt.Errorf("%s: %w", r.subject, got.Err)
	}
	return err
}

// gone deletes what may be there.
func (c *cell) gone(ctx context.Context, subject string) error {
	got, err := c.ask(ctx, request{subject: subject})
	if err == nil && got.Err != nil && got.Err.Code != 404 {
		err = fmt.Errorf("%s: %w", subject, got.Err)
	}
	return err
}

// consumer reads a consumer back, nil where there is none. A name with a dot in it
// can not be asked for, and no consumer has one.
func (c *cell) consumer(ctx context.Context, stream, name string) (*broker.ConsumerConfig, error) {
	if strings.Contains(name, ".") {
		return nil, nil //nolint:nilnil // there is none
	}
	got, err := c.ask(ctx, request{subject: "CONSUMER.INFO." + stream + "." + name})
	if err != nil || missing(got.Err) {
		return nil, err
	}
	return decoded(got, broker.DecodeConsumer)
}

// stream reads a stream back, nil where there is none.
func (c *cell) stream(ctx context.Context, name string) (*broker.StreamConfig, error) {
	got, err := c.ask(ctx, request{subject: "STREAM.INFO." + name})
	if err != nil || missing(got.Err) {
		return nil, err
	}
	return decoded(got, broker.DecodeStream)
}

func missing(err *broker.APIError) bool { return err != nil && err.Code == 404 }

func decoded[C any](got answer, decode func([]byte) (broker.Decoded[C], error)) (*C, error) {
	if got.Err != nil {
		return nil, got.Err
	}
	d, err := decode(got.Config)
	if err == nil && d.Err != nil && len(d.Unknown) == 0 { // a newer broker may write what nobody asked for
		err = d.Err
	}
	if err != nil {
		return nil, fmt.Errorf("read back: %w", err)
	}
	return &d.Config, nil
}
