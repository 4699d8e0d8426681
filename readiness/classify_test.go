package readiness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
	"github.com/natsmig/natsmig/readiness"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want readiness.Class
	}{
		{nil, readiness.None},
		{context.Canceled, readiness.Canceled},
		{context.DeadlineExceeded, readiness.Transient},
		{nats.ErrNoResponders, readiness.Transient},
		{nats.ErrConsumerNotFound, readiness.MissingConsumer},
		{jetstream.ErrConsumerNotFound, readiness.MissingConsumer},
		{nats.ErrConsumerDeleted, readiness.MissingConsumer},
		{jetstream.ErrConsumerDeleted, readiness.MissingConsumer},
		{nats.ErrStreamNotFound, readiness.MissingStream},
		{jetstream.ErrStreamNotFound, readiness.MissingStream},
		{nats.ErrConnectionClosed, readiness.Closed},
		{jetstream.ErrConnectionClosed, readiness.Closed},
		{nats.ErrJetStreamNotEnabled, readiness.Transient},
		{jetstream.ErrJetStreamNotEnabled, readiness.Transient},
		{&jetstream.APIError{Code: 503, ErrorCode: 10008}, readiness.NoQuorum},
		{&nats.APIError{Code: 503, ErrorCode: 10008}, readiness.NoQuorum},
		{&jetstream.APIError{Code: 500, ErrorCode: 10012, Description: "ack policy can not be updated"}, readiness.Rejected},
		{&nats.APIError{Code: 500, ErrorCode: 10012, Description: "can not update push consumer to pull based"}, readiness.Rejected},
		{&jetstream.APIError{Code: 500, ErrorCode: 10012, Description: "open meta.inf.tmp: no such file or directory"}, readiness.Transient},
		{&jetstream.APIError{Code: 400, ErrorCode: 10149}, readiness.MissingConsumer},
		{&jetstream.APIError{Code: 412, ErrorCode: 10185}, readiness.Rejected},
		{&jetstream.APIError{Code: 400, ErrorCode: 10002}, readiness.Transient},
		{&jetstream.APIError{Code: 400, ErrorCode: 10105}, readiness.Transient},
		{&jetstream.APIError{Code: 500, ErrorCode: 10009}, readiness.NoQuorum},
		{&jetstream.APIError{Code: 400, ErrorCode: 10116}, readiness.Rejected},
		{&jetstream.APIError{Code: 400, ErrorCode: 10138}, readiness.Rejected},
		{errors.New("pull refused: 409 Exceeded MaxRequestBatch of 50"), readiness.Transient},
		{errors.New(`nats: Permissions Violation for Publish to "x"`), readiness.Denied},
		{fmt.Errorf("look: %w", jetstream.ErrConsumerNotFound), readiness.MissingConsumer},
		{errors.New("what nobody knows"), readiness.Transient},
	} {
		if got := readiness.Classify(c.err); got != c.want {
			t.Errorf("%v (%T): %q, want %q", c.err, c.err, got, c.want)
		}
	}
}

// TestClassifyBothClients holds the sentinels that both client APIs have under one
// name, and that are different values.
func TestClassifyBothClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		legacy, modern error
		want           readiness.Class
	}{
		{nats.ErrBadRequest, jetstream.ErrBadRequest, readiness.Rejected},
		{nats.ErrConnectionClosed, jetstream.ErrConnectionClosed, readiness.Closed},
		{nats.ErrConsumerCreationResponseEmpty, jetstream.ErrConsumerCreationResponseEmpty, readiness.Transient},
		{nats.ErrConsumerDeleted, jetstream.ErrConsumerDeleted, readiness.MissingConsumer},
		{nats.ErrConsumerLeadershipChanged, jetstream.ErrConsumerLeadershipChanged, readiness.Transient},
		{nats.ErrConsumerMultipleFilterSubjectsNotSupported, jetstream.ErrConsumerMultipleFilterSubjectsNotSupported, readiness.Rejected},
		{nats.ErrConsumerNameAlreadyInUse, jetstream.ErrConsumerNameAlreadyInUse, readiness.Rejected},
		{nats.ErrConsumerNotFound, jetstream.ErrConsumerNotFound, readiness.MissingConsumer},
		{nats.ErrDuplicateFilterSubjects, jetstream.ErrDuplicateFilterSubjects, readiness.Rejected},
		{nats.ErrEmptyFilter, jetstream.ErrEmptyFilter, readiness.Rejected},
		{nats.ErrInvalidConsumerName, jetstream.ErrInvalidConsumerName, readiness.Rejected},
		{nats.ErrInvalidStreamName, jetstream.ErrInvalidStreamName, readiness.Rejected},
		{nats.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabled, readiness.Transient},
		{nats.ErrJetStreamNotEnabledForAccount, jetstream.ErrJetStreamNotEnabledForAccount, readiness.Transient},
		{nats.ErrNoHeartbeat, jetstream.ErrNoHeartbeat, readiness.Transient},
		{nats.ErrOverlappingFilterSubjects, jetstream.ErrOverlappingFilterSubjects, readiness.Rejected},
		{nats.ErrStreamNameRequired, jetstream.ErrStreamNameRequired, readiness.Rejected},
		{nats.ErrStreamNotFound, jetstream.ErrStreamNotFound, readiness.MissingStream},
	} {
		if errors.Is(c.legacy, c.modern) || errors.Is(c.modern, c.legacy) {
			t.Errorf("%v is one error now", c.modern)
		}
		if l, m := readiness.Classify(c.legacy), readiness.Classify(c.modern); l != c.want || m != c.want {
			t.Errorf("%v: legacy %q, modern %q, want %q", c.modern, l, m, c.want)
		}
	}
}

// TestClassifyWhatBrokersSay asks a broker for what it refuses, through both APIs.
func TestClassifyWhatBrokersSay(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	ctx := t.Context()
	_, missing := s.JS.Consumer(ctx, "S", "d")
	_, legacyMissing := s.Legacy.ConsumerInfo("S", "d")
	if _, err := s.JS.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	_, gone := s.JS.Consumer(ctx, "S", "d")
	_, legacyGone := s.Legacy.ConsumerInfo("S", "d")
	c := jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy}
	if _, err := s.JS.CreateConsumer(ctx, "S", c); err != nil {
		t.Fatal(err)
	}
	c.AckPolicy = jetstream.AckAllPolicy
	_, immutable := s.JS.CreateOrUpdateConsumer(ctx, "S", c)
	_, legacyImmutable := s.Legacy.UpdateConsumer("S", &nats.ConsumerConfig{Durable: "d", AckPolicy: nats.AckAllPolicy})
	_, ladder := s.JS.CreateOrUpdateConsumer(ctx, "S", jetstream.ConsumerConfig{
		Durable: "e", AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: 1, BackOff: []time.Duration{time.Second, 2 * time.Second},
	})
	_, noUpdate := s.JS.UpdateConsumer(ctx, "S", jetstream.ConsumerConfig{Durable: "nobody", AckPolicy: jetstream.AckExplicitPolicy})
	for name, c := range map[string]struct {
		err  error
		want readiness.Class
	}{
		"stream":             {missing, readiness.MissingStream},
		"legacy stream":      {legacyMissing, readiness.MissingStream},
		"consumer":           {gone, readiness.MissingConsumer},
		"legacy consumer":    {legacyGone, readiness.MissingConsumer},
		"immutable":          {immutable, readiness.Rejected},
		"legacy immutable":   {legacyImmutable, readiness.Rejected},
		"ladder too long":    {ladder, readiness.Rejected},
		"update of nobody":   {noUpdate, readiness.MissingConsumer},
		"nothing went wrong": {nil, readiness.None},
	} {
		if got := readiness.Classify(c.err); got != c.want {
			t.Errorf("%s: %v: %q, want %q", name, c.err, got, c.want)
		}
	}
}

func TestProbes(t *testing.T) {
	t.Parallel()
	a, b := readiness.NewGate(readiness.GateConfig{Name: "a"}), readiness.NewGate(readiness.GateConfig{Name: "b"})
	var wedged error
	g := &readiness.Group{Members: []readiness.Health{a}, Optional: []readiness.Health{b}, Wedged: func() error { return wedged }}
	srv := httptest.NewServer(g.Handler())
	t.Cleanup(srv.Close)
	want := func(path string, status int) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var v readiness.Verdict
		if err := json.Unmarshal(body, &v); err != nil || resp.StatusCode != status || v.OK != (status == 200) {
			t.Errorf("%s: %d %s (%v), want %d", path, resp.StatusCode, body, err, status)
		}
	}
	want("/readyz", 503)
	want("/startupz", 503)
	want("/livez", 200)
	a.Bound(time.Now())
	want("/readyz", 200) // b is left out on purpose
	a.Lost(jetstream.ErrConsumerDeleted)
	want("/readyz", 503)
	want("/startupz", 200)
	want("/livez", 200) // a broker's trouble kills nobody
	wedged = errors.New("a handler does not end")
	want("/livez", 503)
}
