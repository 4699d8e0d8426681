package broker_test

import (
	"testing"

	"github.com/natsmig/natsmig/audit/broker"
)

func TestAPIErrorText(t *testing.T) {
	for want, e := range map[string]broker.APIError{
		"stream not found (10059)":              {Code: 404, ErrCode: 10059, Description: "stream not found"},
		"JetStream not enabled for the account": {Code: 503, Description: "JetStream not enabled for the account"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
