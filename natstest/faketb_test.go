package natstest_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// fakeTB records what the harness tells a test, so that a test of the harness
// can look at a failure without failing.
type fakeTB struct {
	testing.TB // of the real test, for Context

	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (f *fakeTB) Helper() {}

func (f *fakeTB) Cleanup(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cleanups = append(f.cleanups, do)
}

func (f *fakeTB) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}

// Fatalf ends the goroutine, as the real one does.
func (f *fakeTB) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// run runs what may call Fatalf and returns the failures so far.
func (f *fakeTB) run(test func()) []string {
	done := make(chan struct{})
	go func() {
		defer close(done)
		test()
	}()
	<-done
	return f.failures
}

// finish runs the clean-ups as the end of a test does: last in, first out.
func (f *fakeTB) finish() {
	for _, do := range slices.Backward(f.cleanups) {
		do()
	}
	f.cleanups = nil
}
