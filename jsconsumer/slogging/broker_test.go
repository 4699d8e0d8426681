package slogging_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/jsconsumer/slogging"
	"github.com/natsmig/natsmig/natstest"
	"github.com/natsmig/natsmig/timingcontract"
)

// behave does what the payload says. A message that is late works until release.
func behave(release <-chan struct{}) jsconsumer.Handler {
	return func(_ context.Context, d jsconsumer.Delivery) jsconsumer.Disposition {
		what, _, _ := strings.Cut(string(d.Data()), " ")
		switch {
		case what == "fail":
			return jsconsumer.RetryAfter(time.Millisecond, errors.New("no luck"))
		case d.Attempt() > 1:
			return jsconsumer.Ack()
		case what == "retry":
			return jsconsumer.Retry(errors.New("not now"))
		case what == "discard":
			return jsconsumer.Discard(errors.New("nonsense"))
		case what == "panic":
			panic("oh")
		case what == "late":
			<-release
		}
		return jsconsumer.Ack()
	}
}

// TestOnABroker looks at the records of messages, which only a broker makes.
func TestOnABroker(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	for name, subject := range map[string]string{"S": "s.>", "DLQ": "dlq"} {
		if _, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}}); err != nil {
			t.Fatal(err)
		}
	}
	for i, what := range []string{"ack", "retry", "discard", "panic", "late", "fail"} {
		msg := &nats.Msg{Subject: "s.unspoken", Data: []byte(what + " unspoken"), Header: nats.Header{"Secret": {"unspoken"}}}
		if ack, err := s.JS.PublishMsg(t.Context(), msg); err != nil || ack.Sequence != uint64(i+1) {
			t.Fatal(ack, err)
		}
	}
	var j journal
	release := make(chan struct{})
	r, err := jsconsumer.New(s.JS, jsconsumer.Config{
		Stream: "S", Workers: 2, StuckAfter: 50 * time.Millisecond, Expires: time.Second,
		Consumer: jetstream.ConsumerConfig{Durable: "d", AckWait: time.Second, MaxDeliver: 3},
		Handling: timingcontract.Handler{Reserve: 1, Capture: "dlq"},
		Hooks:    slogging.Hooks(j.logger(slog.LevelDebug)),
	}, behave(release))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	told := func(msg string, n int) {
		t.Helper()
		natstest.Eventually(t, 20*time.Second, func() error {
			if got := len(j.records(t, msg)); got < n {
				return fmt.Errorf("%q: %d records of %d:\n%s", msg, got, n, j.String())
			}
			return nil
		})
	}
	told("handler stuck", 1)
	close(release)
	told("message captured", 1)
	told("message disposed", 10) // one each, and one more of all that are delivered again
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	told("drain ended", 1)

	at := func(msg string, seq float64) record {
		t.Helper()
		for _, r := range j.records(t, msg) {
			if r["stream_seq"] == seq {
				for _, varies := range []string{"took", "after", "stack"} {
					delete(r, varies)
				}
				return r
			}
		}
		return nil
	}
	want := func(r record, level, msg string, seq float64) record {
		r["level"], r["msg"], r["stream"], r["consumer"], r["stream_seq"] = level, msg, "S", "d", seq
		if r["attempt"] == nil {
			r["attempt"] = 1.
		}
		return r
	}
	for _, w := range []record{
		want(record{"decision": "ack", "sent": true}, "DEBUG", "message disposed", 1),
		want(record{"decision": "retry", "sent": false, "error": "not now"}, "INFO", "message disposed", 2),
		want(record{"decision": "discard", "sent": true, "error": "nonsense"}, "WARN", "message disposed", 3),
		want(record{"error": "oh"}, "ERROR", "handler panicked", 4),
		want(record{"decision": "retry", "sent": false, "error": "panic: oh"}, "INFO", "message disposed", 4),
		want(record{}, "WARN", "lease lost", 5),
		want(record{}, "ERROR", "handler stuck", 5),
		want(record{"decision": "retry_after", "sent": true, "delay": 1e6, "error": "no luck"}, "INFO", "message disposed", 6),
		want(record{"capture": "dlq", "reason": "exhausted", "duplicate": false, "attempt": 3.}, "WARN", "message captured", 6),
	} {
		if d := cmp.Diff(w, at(w["msg"].(string), w["stream_seq"].(float64))); d != "" {
			t.Errorf("%v of %v (-want +got):\n%s", w["msg"], w["stream_seq"], d)
		}
	}
	if log := j.String(); strings.Contains(log, "unspoken") {
		t.Errorf("a payload, a header or a subject was written:\n%s", log)
	}
}

// TestCaptureFailing names the error, and the subject that has no stream.
func TestCaptureFailing(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	if _, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.JS.Publish(t.Context(), "s.x", nil); err != nil {
		t.Fatal(err)
	}
	var j journal
	r, err := jsconsumer.New(s.JS, jsconsumer.Config{
		Stream: "S", Consumer: jetstream.ConsumerConfig{Durable: "d", MaxDeliver: 3}, Expires: time.Second,
		Handling: timingcontract.Handler{Reserve: 1, Capture: "dlq"}, CaptureDiscarded: true,
		Hooks: slogging.Hooks(j.logger(slog.LevelInfo)),
	}, func(context.Context, jsconsumer.Delivery) jsconsumer.Disposition {
		return jsconsumer.Discard(errors.New("nonsense"))
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	natstest.Eventually(t, 20*time.Second, func() error {
		if len(j.records(t, "capture failing")) == 0 {
			return errors.New("nothing was told")
		}
		return nil
	})
	if _, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "DLQ", Subjects: []string{"dlq"}}); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, 20*time.Second, func() error {
		if got := j.records(t, "message captured"); len(got) != 1 || got[0]["reason"] != "discarded" {
			return fmt.Errorf("captured: %v", got)
		}
		return nil
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	r1 := j.records(t, "capture failing")[0]
	if text, _ := r1["error"].(string); !strings.HasPrefix(text, `capture to "dlq": `) || r1["tries"] != 1. || r1["level"] != "ERROR" {
		t.Errorf("%v", r1)
	}
	if got := j.records(t, "consumer bound"); len(got) != 1 || len(j.records(t, "consumer attempt failed")) != 0 {
		t.Errorf("%v", got)
	}
}
