package jsconsumer

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/engine"
)

// The headers of a captured message, beside those that it had. A header that the
// broker would act on, Nats-Msg-Id and its like, has OriginalPrefix before its
// name.
const (
	HeaderStream     = "Natsmig-Captured-Stream"
	HeaderConsumer   = "Natsmig-Captured-Consumer"
	HeaderSubject    = "Natsmig-Captured-Subject"
	HeaderSequence   = "Natsmig-Captured-Sequence"
	HeaderDeliveries = "Natsmig-Captured-Deliveries"
	HeaderStored     = "Natsmig-Captured-Stored" // RFC 3339, when the stream took it
	HeaderTime       = "Natsmig-Captured-Time"   // RFC 3339, when it was captured
	HeaderReason     = "Natsmig-Captured-Reason" // exhausted, discarded or swept
	HeaderError      = "Natsmig-Captured-Error"  // of the last attempt, if it is known
	OriginalPrefix   = "Natsmig-Original-"
)

// giveUp does with a message what is to be done after its last attempt.
func (r *Runner) giveUp(w *watch, d Delivery, cause error) {
	r.figures.count(GivenUp)
	switch r.c.GiveUp {
	case Capture:
		r.capture(w, d, "exhausted", cause)
	case Terminate:
		r.release(d, r.term(cause))
	default:
		r.release(d, "")
	}
}

func (r *Runner) release(d Delivery, verb string) {
	r.tried.remove(d.Sequence())
	r.e.Settle(d.in, verb) // what fails to be sent comes again
}

// capture publishes a message and acknowledges it then. As long as it can not be
// published the message is held, in progress; if a drain runs out of time, it is
// left to come again, or to the sweeper.
func (r *Runner) capture(w *watch, d Delivery, why string, cause error) {
	w.keep(d, r.timing.Load())
	defer w.end()
	if !r.deadLetter(r.work, d, why, cause, func() { r.release(d, engine.Ack) }) {
		r.release(d, "")
	}
}

// deadLetter publishes a captured message, however long that takes, settles it then,
// and tells. False: ctx is done, and it is not published.
func (r *Runner) deadLetter(ctx context.Context, d Delivery, why string, cause error, settle func()) bool {
	msg := r.captured(d, why, cause)
	var ack *jetstream.PubAck
	published := persist(ctx, func(tries int) bool {
		var err error
		if ack, err = r.publish(ctx, msg); err != nil {
			call(r.c.Hooks.CaptureFailing, CaptureFailing{r.about(), d, msg.Subject, tries, err})
		}
		return err == nil
	})
	if !published {
		return false
	}
	settle()
	r.figures.captured.Add(1)
	call(r.c.Hooks.Captured, Captured{r.about(), d, msg.Subject, why, ack.Duplicate})
	return true
}

// persist tries until it is done, at longer and longer intervals. False: ctx was
// done before.
func persist(ctx context.Context, try func(tries int) (done bool)) bool {
	wait := 250 * time.Millisecond
	for tries := 1; !try(tries); tries++ {
		if !sleep(ctx, wait) {
			return false
		}
		wait = min(2*wait, 5*time.Second)
	}
	return true
}

// publish bounds one try. The client's own retries are left out: they would only
// make it longer.
func (r *Runner) publish(ctx context.Context, msg *nats.Msg) (*jetstream.PubAck, error) {
	ctx, cancel := context.WithTimeout(ctx, r.c.Timeout)
	defer cancel()
	ack, err := r.js.PublishMsg(ctx, msg, jetstream.WithRetryAttempts(0))
	if err != nil {
		return nil, fmt.Errorf("capture to %q: %w", msg.Subject, err)
	}
	return ack, nil
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// captured is the message that is published.
func (r *Runner) captured(d Delivery, why string, cause error) *nats.Msg {
	m := &nats.Msg{Subject: r.c.Handling.Capture, Data: d.Data(), Header: nats.Header{}}
	m.Header.Set(HeaderStream, d.Stream())
	m.Header.Set(HeaderConsumer, d.Consumer())
	m.Header.Set(HeaderSubject, d.Subject())
	m.Header.Set(HeaderSequence, strconv.FormatUint(d.Sequence(), 10))
	m.Header.Set(HeaderDeliveries, strconv.FormatUint(d.Attempt(), 10))
	m.Header.Set(HeaderStored, d.Stored().UTC().Format(time.RFC3339Nano))
	m.Header.Set(HeaderTime, time.Now().UTC().Format(time.RFC3339Nano))
	m.Header.Set(HeaderReason, why)
	if cause != nil {
		m.Header.Set(HeaderError, oneLine(cause))
	}
	for name, values := range d.Header() {
		if strings.HasPrefix(strings.ToLower(name), "nats-") {
			name = OriginalPrefix + name
		}
		for _, v := range values {
			m.Header.Add(name, v)
		}
	}
	// The same message has the same ID however often it is captured, so that one
	// that comes again within the duplicate_window is stored once.
	m.Header.Set(jetstream.MsgIDHeader, captureID(d.Stream(), d.Consumer(), d.Sequence(), d.Stored()))
	return m
}

// captureID names a message. A stream that was created again counts from 1 again,
// so the time belongs to the name.
func captureID(stream, consumer string, seq uint64, stored time.Time) string {
	return fmt.Sprintf("%s/%s/%d/%d", stream, consumer, seq, stored.UnixNano())
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
