package natstest_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
)

// eventLog is a log handler that notes with each line whether a directory is
// still there.
type eventLog struct {
	mu     sync.Mutex
	dir    string
	events []string
}

func (l *eventLog) watch(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dir = dir
}

func (l *eventLog) add(event string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event)
}

func (l *eventLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (l *eventLog) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *eventLog) WithGroup(string) slog.Handler                    { return l }

func (l *eventLog) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	event := r.Message
	if l.dir != "" && exists(l.dir) {
		event += " (store exists)"
	}
	l.events = append(l.events, event)
	return nil
}

func (l *eventLog) wantInOrder(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := l.events
	for _, w := range want {
		i := slices.Index(rest, w)
		if i < 0 {
			t.Fatalf("no %q, or not in this order, in %q", w, l.events)
		}
		rest = rest[i+1:]
	}
}
