// Package slogging writes what a runner's hooks are told to a *slog.Logger: one
// record for each call, with a message that stays the same and attributes that have
// the names of the wire.
//
//	jsconsumer.Config{Hooks: slogging.Hooks(logger)}
//
// Every record has stream and consumer. Those about a message have stream_seq, its
// sequence in the stream, and attempt; those about trouble have error and err_class,
// one of readiness's classes. Durations are slog durations.
//
// What is expected to pass is at level debug, and so is every ack; a retry is at
// info; what loses a message's place in the normal course, or a consumer's, is at
// warn; what a person has to mend is at error.
//
// It never writes a payload, a header or a subject that a message was published to.
// The text of a handler's error and the value of its panic are written as they are.
package slogging

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/natsmig/natsmig/jsconsumer"
	"github.com/natsmig/natsmig/readiness"
)

// Hooks writes to l, which must not be nil. [jsconsumer.Join] puts them beside
// others.
func Hooks(l *slog.Logger) jsconsumer.Hooks {
	w := writer{l}
	return jsconsumer.Hooks{
		Bound:          w.bound,
		Report:         w.report,
		Lost:           w.trouble(slog.LevelWarn, "consumer lost"),
		Disturbed:      w.trouble(slog.LevelDebug, "delivery disturbed"),
		Recreated:      w.recreated("consumer recreated"),
		RolledBack:     w.recreated("ack floor rolled back"),
		Rejected:       w.trouble(slog.LevelError, "consumer rejected"),
		Denied:         w.trouble(slog.LevelError, "permission denied"),
		Throttled:      w.trouble(slog.LevelWarn, "delivery throttled"),
		Breached:       w.trouble(slog.LevelError, "timing contract breached"),
		FloorPinned:    w.floor(slog.LevelWarn, "ack floor pinned"),
		FloorReleased:  w.floor(slog.LevelInfo, "ack floor released"),
		Disposed:       w.disposed,
		Panicked:       w.panicked,
		LeaseLost:      w.message(slog.LevelWarn, "lease lost"),
		Stuck:          w.message(slog.LevelError, "handler stuck"),
		Captured:       w.captured,
		CaptureFailing: w.captureFailing,
		Exhausted:      w.exhausted,
		SweepFailing:   w.trouble(slog.LevelError, "sweep failing"),
		DrainStarted:   func(a jsconsumer.About) { w.log(slog.LevelInfo, "drain started", a) },
		DrainEnded:     w.drainEnded,
	}
}

type writer struct{ l *slog.Logger }

func (w writer) log(level slog.Level, msg string, about jsconsumer.About, attrs ...slog.Attr) {
	ctx := context.Background() // a hook has none
	if !w.l.Enabled(ctx, level) {
		return
	}
	all := append([]slog.Attr{slog.String("stream", about.Stream), slog.String("consumer", about.Consumer)}, attrs...)
	w.l.LogAttrs(ctx, level, msg, all...)
}

func (w writer) bound(b jsconsumer.Bound) {
	w.log(slog.LevelInfo, "consumer bound", b.About,
		slog.Time("created", b.Info.Created), slog.Uint64("ack_floor", b.Info.AckFloor.Stream),
		slog.Uint64("num_pending", b.Info.NumPending), slog.Int("num_ack_pending", b.Info.NumAckPending))
}

func (w writer) report(r jsconsumer.Report) {
	var about jsconsumer.About
	about.Stream, about.Consumer, _ = strings.Cut(r.Name, "/") // a stream's name has no slash
	level, msg := reportLevel(r.Kind)
	attrs := append(trouble(r.Err, r.Class), slog.String("kind", string(r.Kind)), slog.Int("attempts", r.Attempts))
	if !r.Since.IsZero() {
		attrs = append(attrs, slog.Time("failing_since", r.Since))
	}
	w.log(level, msg, about, attrs...)
}

func reportLevel(k readiness.Kind) (slog.Level, string) {
	switch k {
	case readiness.Loud:
		return slog.LevelError, "consumer failing"
	case readiness.Escalated:
		return slog.LevelError, "consumer still failing"
	case readiness.Recovered:
		return slog.LevelInfo, "consumer recovered"
	case readiness.Recreate:
		return slog.LevelWarn, "consumer is another one"
	default:
		return slog.LevelDebug, "consumer attempt failed"
	}
}

func (w writer) trouble(level slog.Level, msg string) func(jsconsumer.Trouble) {
	return func(t jsconsumer.Trouble) {
		w.log(level, msg, t.About, trouble(t.Err, readiness.Classify(t.Err))...)
	}
}

func trouble(err error, class readiness.Class) []slog.Attr {
	if err == nil {
		return nil
	}
	return []slog.Attr{failure(err), slog.String("err_class", string(class))}
}

// failure is the attribute of an error. As text: a JSON handler writes an error
// that can marshal itself as something else.
func failure(err error) slog.Attr { return slog.String("error", err.Error()) }

func (w writer) recreated(msg string) func(jsconsumer.Recreated) {
	return func(r jsconsumer.Recreated) {
		w.log(slog.LevelWarn, msg, r.About,
			slog.Uint64("ack_floor", r.Info.AckFloor.Stream), slog.Uint64("ack_floor_before", r.Floor),
			slog.Time("created", r.Info.Created))
	}
}

func (w writer) floor(level slog.Level, msg string) func(jsconsumer.Floor) {
	return func(f jsconsumer.Floor) {
		w.log(level, msg, f.About,
			slog.Uint64("ack_floor", f.Sequence), slog.Uint64("delivered", f.Delivered),
			slog.Int("num_ack_pending", f.AckPending), slog.Time("since", f.Since))
	}
}

func (w writer) drainEnded(r jsconsumer.DrainReport) {
	level := slog.LevelInfo
	if !r.Clean() {
		level = slog.LevelError
	}
	w.log(level, "drain ended", r.About,
		slog.Duration("took", r.Took), slog.Int("held", r.Held), slog.Int("asked", r.Asked))
}

func (w writer) exhausted(e jsconsumer.Exhausted) {
	level := slog.LevelWarn
	if !e.Captured {
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.Uint64("stream_seq", e.Sequence), slog.Uint64("deliveries", e.Deliveries), slog.Bool("captured", e.Captured),
	}
	if e.Err != nil {
		attrs = append(attrs, failure(e.Err))
	}
	w.log(level, "message exhausted", e.About, attrs...)
}

func (w writer) panicked(p jsconsumer.Panicked) {
	w.log(slog.LevelError, "handler panicked", p.About,
		append(which(p.Delivery), slog.String("error", fmt.Sprint(p.Value)), slog.String("stack", string(p.Stack)))...)
}
