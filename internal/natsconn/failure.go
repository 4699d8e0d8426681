package natsconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
)

// Why a cell cannot be connected to; errors.Is tells them apart.
var (
	// ErrUnreachable: no server answered as a NATS server.
	ErrUnreachable = errors.New("no servers available")
	// ErrRefused: a server did not accept the credentials.
	ErrRefused = errors.New("authorization refused")
	// ErrTLS: client and server did not agree on TLS, or do not trust each other.
	ErrTLS = errors.New("tls failed")
	// ErrTimeout: the timeout, or the context's deadline, was over.
	ErrTimeout = errors.New("timed out")
)

// ConnectError says why a cell cannot be connected to. It unwraps to one of
// [ErrUnreachable], [ErrRefused], [ErrTLS], [ErrTimeout] and context.Canceled: the
// most telling where servers differ.
type ConnectError struct {
	// Cell is the cell's name.
	Cell string
	// Kind is what the error unwraps to.
	Kind error
	// Servers are the attempts, in order.
	Servers []ServerError
}

// ServerError is what one server made of the attempt.
type ServerError struct {
	// URL is the server's, without user information.
	URL string
	// Kind is one of the kinds of ConnectError.
	Kind error
	// Cause is the text of what happened, without secrets.
	Cause string
}

// Error names the cell, the kind, and each server with its cause.
func (e *ConnectError) Error() string {
	var attempts []string
	for _, s := range e.Servers {
		attempts = append(attempts, s.URL+": "+s.Cause)
	}
	return fmt.Sprintf("connect to cell %q: %v at %s", e.Cell, e.Kind, strings.Join(attempts, "; "))
}

// Unwrap gives Kind.
func (e *ConnectError) Unwrap() error { return e.Kind }

// mostTelling gives the kind that says most: a server that refuses tells more than
// one that is away.
func mostTelling(attempts []ServerError) error {
	for _, kind := range []error{context.Canceled, ErrRefused, ErrTLS, ErrTimeout} {
		for _, a := range attempts {
			if errors.Is(a.Kind, kind) {
				return kind
			}
		}
	}
	return ErrUnreachable
}

// classify gives the kind of a failed attempt. A handshake that was cut off by the
// time is a timeout, so that is asked first.
func classify(ctx context.Context, err error) error {
	var network net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	case ctx.Err() != nil, errors.Is(err, nats.ErrTimeout), errors.Is(err, os.ErrDeadlineExceeded):
		return ErrTimeout
	case errors.As(err, &network) && network.Timeout():
		return ErrTimeout
	case isRefusal(err):
		return ErrRefused
	case isTLS(err):
		return ErrTLS
	}
	return ErrUnreachable
}

// isRefusal compares texts where nats.go 1.55 gives an error of no exported type.
func isRefusal(err error) bool {
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrNkeysNotSupported) {
		return true
	}
	text := strings.ToLower(err.Error())
	return strings.Contains(text, nats.AUTHENTICATION_EXPIRED_ERR) ||
		strings.Contains(text, nats.AUTHENTICATION_REVOKED_ERR) ||
		strings.Contains(text, nats.ACCOUNT_AUTHENTICATION_EXPIRED_ERR)
}

// isTLS includes the alert with which a server ends a TLS 1.3 connection whose
// client has no certificate: it comes with the first read, not the handshake.
func isTLS(err error) bool {
	var alert *net.OpError
	var header tls.RecordHeaderError
	return errors.Is(err, nats.ErrTLS) || errors.Is(err, nats.ErrSecureConnRequired) ||
		errors.Is(err, nats.ErrSecureConnWanted) || errors.As(err, &header) ||
		errors.As(err, &alert) && alert.Op == "remote error"
}

// cause gives the text of an attempt's error, without the secrets, should a server
// have echoed one.
func cause(err error, secrets []string) string {
	// Not errors.As: what a proxy says about its own dialing is to be kept.
	//nolint:errorlint // a wrapped one, as of a proxy, keeps the words around it
	if dial, ok := err.(*net.OpError); ok && dial.Op == "dial" && dial.Err != nil {
		err = dial.Err
	}
	text := strings.TrimPrefix(err.Error(), "nats: ")
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, redacted)
		}
	}
	return text
}
