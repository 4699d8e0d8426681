// Package readiness is a stub until the real one is merged.
package readiness

import (
	"context"
	"errors"
	"time"

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

type Report struct{}
type Status struct {
	Ready  bool
	Reason string
}
type GateConfig struct {
	Name   string
	Report func(Report)
}
type Gate struct{}

func NewGate(GateConfig) *Gate                         { return &Gate{} }
func (g *Gate) Bound(time.Time)                        {}
func (g *Gate) Failed(error) time.Duration             { return 250 * time.Millisecond }
func (g *Gate) Disturbed(error)                        {}
func (g *Gate) Lost(error)                             {}
func (g *Gate) Alive()                                 {}
func (g *Gate) Denied(error)                           {}
func (g *Gate) Recreated(time.Time)                    {}
func (g *Gate) Paused(bool)                            {}
func (g *Gate) Draining()                              {}
func (g *Gate) Stopped(err error, ctx context.Context) {}
func (g *Gate) Status() Status                         { return Status{} }
