package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

func TestValue(t *testing.T) {
	for _, tt := range []struct {
		kind   broker.Kind
		value  any
		want   string
		reason string
	}{
		{broker.KindValue, nil, "-", "absent"},
		{broker.KindDuration, int64(30 * time.Second), "30s", "a duration on the wire"},
		{broker.KindDuration, 2 * time.Minute, "2m", "a duration of Go"},
		{broker.KindDuration, []any{3e10, 1.2e11, 6e11}, "[30s 2m 10m]", "a ladder as encoding/json decodes it"},
		{broker.KindDuration, []time.Duration{time.Second, 36 * time.Hour}, "[1s 36h]", "a ladder of Go"},
		{broker.KindDuration, -1, "-1ns", "negative, as brokers before 2.12 store it"},
		{broker.KindDuration, "30s", "30s", "a duration that is text already"},
		{broker.KindValue, 65536.0, "65536", "a number as encoding/json decodes it"},
		{broker.KindValue, json.Number("18446744073709551615"), "18446744073709551615", "a number beyond int64"},
		{broker.KindBytes, 1 << 30, "1GiB", "whole"},
		{broker.KindBytes, 3 << 9, "1536", "a rounded size would hide a difference"},
		{broker.KindBytes, -1, "-1", "unlimited"},
		{broker.KindBytes, 0, "0", "nothing"},
		{broker.KindValue, "", `""`, "empty is not absent"},
		{broker.KindValue, "-", `"-"`, "a dash is not absent"},
		{broker.KindValue, "?", `"?"`, "a question mark is not unknown"},
		{broker.KindValue, "two words", "two words", "prose needs no quotes"},
		{broker.KindValue, []string{"a.>", "b c"}, `[a.> "b c"]`, "in a list it does"},
		{broker.KindValue, []any{}, "[]", "empty list"},
		{broker.KindValue, []any{nil, true}, "[null true]", "null in a list"},
		{broker.KindObject, map[string]any{"tier": "gold", "owner": "a"}, "{owner: a, tier: gold}", "sorted keys"},
		{broker.KindObject, map[string]any{"inactive_threshold": 36e11, "max_ack_pending": 10}, "{inactive_threshold: 1h, max_ack_pending: 10}", "durations inside"},
		{broker.KindObject, json.RawMessage(`{"a":{"b":[1,2]}}`), "{a: {b: [1 2]}}", "raw JSON"},
		{broker.KindValue, "a\x1b[2J", `"a\x1b[2J"`, "controls are escaped"},
		{"", 5, "5", "no kind"},
	} {
		if got := Value(tt.kind, tt.value); got != tt.want {
			t.Errorf("%s: Value(%s, %v): got %s, want %s", tt.reason, tt.kind, tt.value, got, tt.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 30 * time.Second: "30s", 2 * time.Minute: "2m", time.Hour: "1h", time.Hour + 5*time.Second: "1h0m5s",
		41*time.Hour + 12*time.Minute + 30*time.Second: "41h12m30s", 100 * time.Minute: "1h40m", 10 * time.Second: "10s",
		200 * time.Millisecond: "200ms", -time.Hour: "-1h",
	} {
		if got := audit.Duration(d); got != want {
			t.Errorf("Duration(%d): got %s, want %s", d, got, want)
		}
	}
}

func TestShortenBoth(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, tt := range [][2]string{
		{long + "1" + long, long + "2" + long},
		{long, long + "y"},
		{"1" + long, "2" + long},
		{long + "y" + strings.Repeat("z", 90), long + strings.Repeat("z", 90)},
	} {
		a, b := shortenBoth(tt[0], tt[1], "…", 40)
		if a == b || columns(a) > 40 || columns(b) > 40 {
			t.Errorf("got %q and %q", a, b)
		}
	}
	if a, b := shortenBoth("short", "shorter", "…", 40); a != "short" || b != "shorter" {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestUnknownFormat(t *testing.T) {
	err := Write(&bytes.Buffer{}, &audit.Report{}, Options{Format: "svg"})
	if want := `unknown format "svg": want table, ascii, markdown or json`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestJSON wants encoding/json's own form, with lists instead of null, and no
// escapes for HTML.
func TestJSON(t *testing.T) {
	r := &audit.Report{Consumers: []audit.Entry{{Stream: "a<b", After: json.RawMessage(`{"a":1}`)}}}
	var got bytes.Buffer
	if err := Write(&got, r, Options{Format: JSON}); err != nil {
		t.Fatal(err)
	}
	if s := got.String(); strings.Contains(s, "null") || !strings.Contains(s, `"a<b"`) || !strings.Contains(s, `"streams": []`) {
		t.Errorf("got %s", s)
	}
	var back audit.Report
	if err := json.Unmarshal(got.Bytes(), &back); err != nil || back.Consumers[0].Fields == nil || back.Unknown == nil {
		t.Errorf("read back %+v: %v", back, err)
	}
	if r.Consumers[0].Fields != nil {
		t.Error("the caller's report was changed")
	}
}
