// Package readiness is a stub until the real one is merged.
package readiness

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

type Class string

const (
	None            Class = ""
	Transient       Class = "transient"
	NoQuorum        Class = "no-quorum"
	MissingConsumer Class = "missing-consumer"
	MissingStream   Class = "missing-stream"
	Rejected        Class = "rejected"
	Denied          Class = "denied"
	Closed          Class = "closed"
	Canceled        Class = "canceled"
)

func (c Class) Permanent() bool { return c == Rejected }
func (c Class) Missing() bool   { return c == MissingConsumer || c == MissingStream }

func Classify(err error) Class {
	var a *jetstream.APIError
	switch {
	case err == nil:
		return None
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, nats.ErrConnectionClosed):
		return Closed
	case errors.Is(err, jetstream.ErrConsumerDeleted):
		return MissingConsumer
	case errors.As(err, &a):
	default:
		var j jetstream.JetStreamError
		if errors.As(err, &j) {
			a = j.APIError()
		}
	}
	if a == nil {
		return Transient
	}
	switch a.ErrorCode {
	case 10014:
		return MissingConsumer
	case 10059:
		return MissingStream
	case 10008:
		return NoQuorum
	case 10012, 10116, 10138, 10074, 10184, 10025, 10013, 10148:
		return Rejected
	}
	return Transient
}
