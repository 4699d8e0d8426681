package engine

import (
	"errors"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// watchErrors listens to the connection's asynchronous errors, which alone tell of
// a denied publish: an acknowledgment that the server drops returns nil. The
// handler that was there is called as before. The function stops listening.
func (e *Engine) watchErrors() func() {
	before := e.nc.ErrorHandler()
	// Others may chain theirs behind this one, so it can not be taken back. It must not
	// hold an engine that has ended for as long as the connection lives.
	var ear atomic.Pointer[Engine]
	ear.Store(e)
	e.nc.SetErrorHandler(func(nc *nats.Conn, sub *nats.Subscription, err error) {
		if e := ear.Load(); e != nil && e.concerns(err) {
			e.deny()
			e.emit(Event{Kind: Denied, Err: err})
		}
		if before != nil {
			before(nc, sub, err)
		}
	})
	return func() { ear.Store(nil) }
}

// deny asks for nothing more on this connection: what can not be acknowledged is
// delivered for nothing, until it is given up.
func (e *Engine) deny() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.denied = true
}

var quoted = regexp.MustCompile(`to "([^"]+)"`)

// concerns says whether an error is a refusal of something that delivery needs.
func (e *Engine) concerns(err error) bool {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return false
	}
	m := quoted.FindStringSubmatch(err.Error())
	if m == nil {
		return false
	}
	subject := m[1]
	name := "." + e.c.Stream + "." + e.c.durable()
	switch {
	case strings.HasPrefix(subject, "$JS.ACK."):
		return strings.Contains(subject, name+".")
	case strings.Contains(subject, ".API."):
		return strings.HasSuffix(subject, name) || strings.Contains(subject, name+".")
	}
	ep := e.current()
	return ep != nil && subject == ep.sub.Subject
}
