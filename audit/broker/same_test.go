package broker_test

import (
	"testing"

	"github.com/natsmig/natsmig/audit/broker"
)

func TestSameAnswer(t *testing.T) {
	t.Parallel()
	e := func(code, errCode int, description string) *broker.APIError {
		return &broker.APIError{Code: code, ErrCode: errCode, Description: description}
	}
	const over = "change to limits violates consumers: "
	for _, tt := range []struct {
		reason string
		a, b   *broker.APIError
		same   bool
	}{
		{"both are nothing", nil, nil, true},
		{"one is nothing", nil, e(500, 10012, "no"), false},
		{"the same", e(500, 10012, "no"), e(500, 10012, "no"), true},
		{"another text", e(500, 10012, "no"), e(500, 10012, "never"), false},
		{"another code", e(500, 10012, "no"), e(400, 10012, "no"), false},
		{"Go's own reasons", e(400, 10025, "invalid JSON: broker.X"), e(400, 10025, "invalid JSON: server.X"), true},
		{"a reason and none", e(400, 10025, "invalid JSON: x"), e(400, 10025, "invalid JSON"), false},
		{"names in another order", e(500, 10069, over+"a, b"), e(500, 10069, over+"b, a"), true},
		{"other names", e(500, 10069, over+"a, b"), e(500, 10069, over+"a"), false},
	} {
		if got := tt.a.Same(tt.b); got != tt.same {
			t.Errorf("%s: %v and %v: same is %t", tt.reason, tt.a, tt.b, got)
		}
		if got := tt.b.Same(tt.a); got != tt.same {
			t.Errorf("%s, the other way around: same is %t", tt.reason, got)
		}
	}
}

// TestRequestsAsSent has what goes over the wire, and what can not.
func TestRequestsAsSent(t *testing.T) {
	t.Parallel()
	c := func(durable, name string) *broker.ConsumerRequest {
		return &broker.ConsumerRequest{Config: broker.ConsumerConfig{Durable: durable, Name: name}}
	}
	for _, tt := range []struct {
		req  *broker.ConsumerRequest
		want string // empty: unsendable
	}{
		{c("d", ""), "CONSUMER.CREATE.S.d"},
		{c("d", "d"), "CONSUMER.CREATE.S.d"},
		{c("", "n"), "CONSUMER.CREATE.S.n"},
		{c("d", "n"), "CONSUMER.DURABLE.CREATE.S.d"},
		{c("a.b", ""), "CONSUMER.CREATE.S.a.b"},
		{c("a.b", "n"), ""},
		{c("a b", ""), ""},
		{c("a.", ""), ""},
		{c("", ""), ""},
	} {
		if got, err := tt.req.Subject("S"); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%+v goes to %q (%v), want %q", tt.req.Config, got, err, tt.want)
		}
	}
	req := c("d", "")
	req.Config.FilterSubject, req.Action = "a.>", broker.CreateOnly
	body, err := req.Body("S")
	if want := `{"stream_name":"S","config":{"durable_name":"d","filter_subject":"a.>","num_replicas":0},"action":"create"}`; string(body) != want || err != nil {
		t.Errorf("body %s (%v), want %s", body, err, want)
	}
	req.Raw = []byte(`{"durable_name": "d", "knob": 1}`)
	if body, err = req.Body("S"); err != nil || string(body) != `{"stream_name":"S","config":{"durable_name": "d", "knob": 1},"action":"create"}` {
		t.Errorf("body %s (%v) is not the raw text", body, err)
	}
}
