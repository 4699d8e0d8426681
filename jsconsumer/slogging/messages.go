package slogging

import (
	"log/slog"

	"github.com/natsmig/natsmig/jsconsumer"
)

// which names a delivery.
func which(d jsconsumer.Delivery) []slog.Attr {
	return []slog.Attr{slog.Uint64("stream_seq", d.Sequence()), slog.Uint64("attempt", d.Attempt())}
}

func (w writer) message(level slog.Level, msg string) func(jsconsumer.Message) {
	return func(m jsconsumer.Message) {
		w.log(level, msg, m.About, append(which(m.Delivery), slog.Duration("after", m.After))...)
	}
}

func (w writer) disposed(d jsconsumer.Disposed) {
	decision := d.Disposition.Decision()
	attrs := append(which(d.Delivery),
		slog.String("decision", string(decision)), slog.Duration("took", d.Took), slog.Bool("sent", d.Sent))
	if delay := d.Disposition.Delay(); delay != 0 {
		attrs = append(attrs, slog.Duration("delay", delay))
	}
	if err := d.Disposition.Err(); err != nil {
		attrs = append(attrs, failure(err))
	}
	w.log(disposedLevel(decision), "message disposed", d.About, attrs...)
}

func disposedLevel(d jsconsumer.Decision) slog.Level {
	switch d {
	case jsconsumer.Acked, jsconsumer.Held:
		return slog.LevelDebug
	case jsconsumer.Discarded, jsconsumer.GivenUp:
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}

func (w writer) captured(c jsconsumer.Captured) {
	w.log(slog.LevelWarn, "message captured", c.About, append(which(c.Delivery),
		slog.String("capture", c.Subject), slog.String("reason", c.Reason), slog.Bool("duplicate", c.Duplicate))...)
}

func (w writer) captureFailing(c jsconsumer.CaptureFailing) {
	w.log(slog.LevelError, "capture failing", c.About, append(which(c.Delivery),
		slog.String("capture", c.Subject), slog.Int("tries", c.Tries), failure(c.Err))...)
}
