package embedded

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

const (
	levelDebug = slog.LevelDebug
	levelTrace = slog.LevelDebug - 4
	keptLines  = 20
)

// logs is where a broker's log goes: the caller's logger, if there is one, and
// the last lines for the error of a failed start. It is a server.Logger for the
// in-process server and an io.Writer for the external one.
type logs struct {
	to    *slog.Logger
	fatal chan struct{} // closed by the first fatal line

	mu      sync.Mutex
	lines   []string
	partial []byte
	died    bool
}

func newLogs(to *slog.Logger) *logs {
	return &logs{to: to, fatal: make(chan struct{})}
}

func (l *logs) add(level slog.Level, text string) {
	l.mu.Lock()
	l.lines = append(l.lines, text)
	if n := len(l.lines); n > keptLines {
		l.lines = l.lines[n-keptLines:]
	}
	l.mu.Unlock()
	if l.to != nil {
		l.to.Log(context.Background(), level, text)
	}
}

// String returns the last lines.
func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// Noticef is part of server.Logger, like the methods after it.
func (l *logs) Noticef(format string, v ...any) { l.add(slog.LevelInfo, fmt.Sprintf(format, v...)) }

// Warnf is part of server.Logger.
func (l *logs) Warnf(format string, v ...any) { l.add(slog.LevelWarn, fmt.Sprintf(format, v...)) }

// Errorf is part of server.Logger.
func (l *logs) Errorf(format string, v ...any) { l.add(slog.LevelError, fmt.Sprintf(format, v...)) }

// Debugf is part of server.Logger.
func (l *logs) Debugf(format string, v ...any) { l.add(levelDebug, fmt.Sprintf(format, v...)) }

// Tracef is part of server.Logger.
func (l *logs) Tracef(format string, v ...any) { l.add(levelTrace, fmt.Sprintf(format, v...)) }

// Fatalf is part of server.Logger. The server calls it when it cannot start;
// its own logger would end the process there.
func (l *logs) Fatalf(format string, v ...any) {
	l.add(slog.LevelError, fmt.Sprintf(format, v...))
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.died {
		l.died = true
		close(l.fatal)
	}
}

// Write takes the output of an external server. A line looks like
// `[4711] 2026/11/30 12:00:00.000000 [INF] Server is ready`.
func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.partial = append(l.partial, p...)
	end := bytes.LastIndexByte(l.partial, '\n') + 1
	whole := string(l.partial[:end])
	l.partial = l.partial[end:]
	l.mu.Unlock()
	for line := range strings.Lines(whole) {
		l.add(parseLine(strings.TrimSpace(line)))
	}
	return len(p), nil
}

func parseLine(line string) (slog.Level, string) {
	for tag, level := range map[string]slog.Level{
		"[INF] ": slog.LevelInfo, "[WRN] ": slog.LevelWarn, "[ERR] ": slog.LevelError,
		"[FTL] ": slog.LevelError, "[DBG] ": levelDebug, "[TRC] ": levelTrace,
	} {
		if _, text, found := strings.Cut(line, tag); found {
			return level, text
		}
	}
	return slog.LevelInfo, line
}
