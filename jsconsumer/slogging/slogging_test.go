package slogging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/jsconsumer/slogging"
	"github.com/natsmig/natsmig/readiness"
)

// journal keeps what is logged.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

func (j *journal) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: level}))
}

type record map[string]any

// records are those with a message.
func (j *journal) records(t *testing.T, msg string) []record {
	t.Helper()
	var found []record
	for line := range strings.Lines(j.String()) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if r["msg"] == msg {
			delete(r, "time")
			found = append(found, r)
		}
	}
	return found
}

// TestEveryHookIsWritten finds a hook that was added and is not written.
func TestEveryHookIsWritten(t *testing.T) {
	t.Parallel()
	hooks := reflect.ValueOf(slogging.Hooks(slog.New(slog.DiscardHandler)))
	for i := range hooks.NumField() {
		if hooks.Field(i).IsNil() {
			t.Errorf("%s is not set", hooks.Type().Field(i).Name)
		}
	}
}

func TestOneRecordEach(t *testing.T) {
	t.Parallel()
	about := jsconsumer.About{Stream: "S", Consumer: "d"}
	when := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	info := &jetstream.ConsumerInfo{Created: when, AckFloor: jetstream.SequenceInfo{Stream: 7}, NumPending: 3, NumAckPending: 2}
	trouble := jsconsumer.Trouble{About: about, Err: jetstream.ErrConsumerNotFound}
	missing := record{"error": jetstream.ErrConsumerNotFound.Error(), "err_class": "missing-consumer"}
	recreated := jsconsumer.Recreated{About: about, Info: info, Floor: 9}
	floor := jsconsumer.Floor{About: about, Sequence: 7, Delivered: 12, AckPending: 2, Since: when}
	atFloor := record{"ack_floor": 7., "delivered": 12., "num_ack_pending": 2., "since": "2026-11-30T12:00:00Z"}
	report := func(k readiness.Kind) jsconsumer.Report {
		return jsconsumer.Report{Name: "S/d", Kind: k, Class: readiness.Transient, Err: errors.New("no"), Since: when, Attempts: 4}
	}
	reported := func(k readiness.Kind) record {
		return record{"kind": string(k), "error": "no", "err_class": "transient", "attempts": 4., "failing_since": "2026-11-30T12:00:00Z"}
	}
	for _, tt := range []struct {
		msg, level string
		tell       func(jsconsumer.Hooks)
		want       record
	}{
		{
			"consumer bound", "INFO", func(h jsconsumer.Hooks) { h.Bound(jsconsumer.Bound{About: about, Info: info}) },
			record{"created": "2026-11-30T12:00:00Z", "ack_floor": 7., "num_pending": 3., "num_ack_pending": 2.},
		},
		{"consumer attempt failed", "DEBUG", func(h jsconsumer.Hooks) { h.Report(report(readiness.Quiet)) }, reported(readiness.Quiet)},
		{"consumer failing", "ERROR", func(h jsconsumer.Hooks) { h.Report(report(readiness.Loud)) }, reported(readiness.Loud)},
		{"consumer still failing", "ERROR", func(h jsconsumer.Hooks) { h.Report(report(readiness.Escalated)) }, reported(readiness.Escalated)},
		{"consumer recovered", "INFO", func(h jsconsumer.Hooks) { h.Report(report(readiness.Recovered)) }, reported(readiness.Recovered)},
		{"consumer is another one", "WARN", func(h jsconsumer.Hooks) { h.Report(report(readiness.Recreate)) }, reported(readiness.Recreate)},
		{"consumer lost", "WARN", func(h jsconsumer.Hooks) { h.Lost(trouble) }, missing},
		{"delivery disturbed", "DEBUG", func(h jsconsumer.Hooks) { h.Disturbed(trouble) }, missing},
		{
			"consumer recreated", "WARN", func(h jsconsumer.Hooks) { h.Recreated(recreated) },
			record{"created": "2026-11-30T12:00:00Z", "ack_floor": 7., "ack_floor_before": 9.},
		},
		{
			"ack floor rolled back", "WARN", func(h jsconsumer.Hooks) { h.RolledBack(recreated) },
			record{"created": "2026-11-30T12:00:00Z", "ack_floor": 7., "ack_floor_before": 9.},
		},
		{"consumer rejected", "ERROR", func(h jsconsumer.Hooks) { h.Rejected(trouble) }, missing},
		{"permission denied", "ERROR", func(h jsconsumer.Hooks) { h.Denied(trouble) }, missing},
		{"sweep failing", "ERROR", func(h jsconsumer.Hooks) { h.SweepFailing(trouble) }, missing},
		{"delivery throttled", "WARN", func(h jsconsumer.Hooks) { h.Throttled(trouble) }, missing},
		{"timing contract breached", "ERROR", func(h jsconsumer.Hooks) { h.Breached(trouble) }, missing},
		{"ack floor pinned", "WARN", func(h jsconsumer.Hooks) { h.FloorPinned(floor) }, atFloor},
		{"ack floor released", "INFO", func(h jsconsumer.Hooks) { h.FloorReleased(floor) }, atFloor},
		{"message exhausted", "ERROR", func(h jsconsumer.Hooks) {
			h.Exhausted(jsconsumer.Exhausted{About: about, Sequence: 5, Deliveries: 8, Err: errors.New("no")})
		}, record{"stream_seq": 5., "deliveries": 8., "captured": false, "error": "no"}},
		{"message exhausted", "WARN", func(h jsconsumer.Hooks) {
			h.Exhausted(jsconsumer.Exhausted{About: about, Sequence: 5, Deliveries: 8, Captured: true})
		}, record{"stream_seq": 5., "deliveries": 8., "captured": true}},
		{"drain started", "INFO", func(h jsconsumer.Hooks) { h.DrainStarted(about) }, record{}},
		{
			"drain ended", "INFO", func(h jsconsumer.Hooks) { h.DrainEnded(jsconsumer.DrainReport{About: about, Took: time.Second}) },
			record{"took": 1e9, "held": 0., "asked": 0.},
		},
		{
			"drain ended", "ERROR", func(h jsconsumer.Hooks) { h.DrainEnded(jsconsumer.DrainReport{About: about, Held: 2, Asked: 1}) },
			record{"took": 0., "held": 2., "asked": 1.},
		},
	} {
		var j journal
		tt.tell(slogging.Hooks(j.logger(slog.LevelDebug)))
		tt.want["msg"], tt.want["level"], tt.want["stream"], tt.want["consumer"] = tt.msg, tt.level, "S", "d"
		if d := cmp.Diff([]record{tt.want}, j.records(t, tt.msg)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.msg, d)
		}
		if n := strings.Count(j.String(), "\n"); n != 1 {
			t.Errorf("%s: %d records", tt.msg, n)
		}
	}
}
