package readiness

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Class says what an error means for a consumer.
type Class string

// The classes.
const (
	None            Class = ""
	Transient       Class = "transient"        // will pass: repeat
	NoQuorum        Class = "no-quorum"        // no leader: repeat, and tell
	MissingConsumer Class = "missing-consumer" // err_code 10014
	MissingStream   Class = "missing-stream"   // err_code 10059
	Rejected        Class = "rejected"         // the broker will never take it
	Denied          Class = "denied"           // a permission is missing
	Closed          Class = "closed"           // the connection is
	Canceled        Class = "canceled"         // somebody gave up
)

// Permanent says that repeating will not help.
func (c Class) Permanent() bool { return c == Rejected }

// Missing says that the consumer is not there.
func (c Class) Missing() bool { return c == MissingConsumer || c == MissingStream }

// Classify says what an error of either client API means: by err_code, then by
// sentinel, then by text, for the statuses of a pull have no code of their own.
// A deadline is transient: the client reports one when the server does not answer,
// though the caller set none. An error that is not known is transient.
func Classify(err error) Class {
	if err == nil {
		return None
	}
	for _, by := range []func(error) Class{byCode, bySentinel, byText} {
		if c := by(err); c != None {
			return c
		}
	}
	return Transient
}

func byCode(err error) Class {
	var modern *jetstream.APIError
	if errors.As(err, &modern) && modern.ErrorCode != 0 {
		return ofCode(int(modern.ErrorCode), modern.Code, modern.Description)
	}
	if sentinel, ok := errors.AsType[jetstream.JetStreamError](err); ok {
		if a := sentinel.APIError(); a != nil && a.ErrorCode != 0 {
			return ofCode(int(a.ErrorCode), a.Code, a.Description)
		}
	}
	var legacy *nats.APIError
	if errors.As(err, &legacy) && legacy.ErrorCode != 0 {
		return ofCode(int(legacy.ErrorCode), legacy.Code, legacy.Description)
	}
	if legacySentinel, ok := errors.AsType[nats.JetStreamError](err); ok {
		if a := legacySentinel.APIError(); a != nil && a.ErrorCode != 0 {
			return ofCode(int(a.ErrorCode), a.Code, a.Description)
		}
	}
	return None
}

// ofCode follows errors.json of nats-server 2.15.3. Codes that are not listed go by
// their HTTP-like code: 400 is the request's fault, and stays so.
func ofCode(errCode, code int, description string) Class {
	switch errCode {
	case 10014, 10149: // consumer not found; an update of one that does not exist
		return MissingConsumer
	case 10059:
		return MissingStream
	case 10007, 10008, 10009: // no meta leader, or no peers to place on
		return NoQuorum
	case 10002, 10026, 10120: // limits of the account, which somebody may raise
		return Transient
	case 10105, 10202, 10226: // still active, a change of members or a reconfiguration under way
		return Transient
	case 10012:
		return created(description)
	case 10074, 10185: // replicas without a cluster, a newer server is required
		return Rejected
	case 10136, 10138, 10139: // filters; the client's sentinels have code 500 for them
		return Rejected
	}
	switch code {
	case 400:
		return Rejected
	case 403:
		return Denied
	}
	return Transient
}

// created reads err_code 10012, a create that failed for any reason. What the
// server will never change about a consumer is "can not be updated"; the rest are
// its own troubles, such as a file that is not there (consumer.go:1149, 2575).
func created(description string) Class {
	for _, never := range []string{"can not be updated", "can not update"} {
		if strings.Contains(description, never) {
			return Rejected
		}
	}
	return Transient
}

func bySentinel(err error) Class {
	for _, s := range []struct {
		class Class
		errs  []error
	}{
		{Canceled, []error{context.Canceled}},
		{Denied, []error{nats.ErrPermissionViolation, nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired}},
		{Closed, []error{nats.ErrConnectionClosed, jetstream.ErrConnectionClosed, nats.ErrConnectionDraining}},
		{MissingConsumer, []error{nats.ErrConsumerDeleted, jetstream.ErrConsumerDeleted, nats.ErrConsumerNotFound, jetstream.ErrConsumerNotFound, jetstream.ErrConsumerDoesNotExist}},
		{MissingStream, []error{nats.ErrStreamNotFound, jetstream.ErrStreamNotFound, nats.ErrNoMatchingStream}},
		{Rejected, []error{
			jetstream.ErrNotPullConsumer, jetstream.ErrNotPushConsumer, nats.ErrPullSubscribeToPushConsumer,
			jetstream.ErrInvalidConsumerName, nats.ErrInvalidConsumerName, jetstream.ErrInvalidStreamName, nats.ErrInvalidStreamName,
			jetstream.ErrStreamNameRequired, nats.ErrStreamNameRequired,
			jetstream.ErrConsumerNameAlreadyInUse, nats.ErrConsumerNameAlreadyInUse,
			jetstream.ErrConsumerMultipleFilterSubjectsNotSupported, nats.ErrConsumerMultipleFilterSubjectsNotSupported,
		}},
		{Transient, []error{
			context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected,
			jetstream.ErrNoHeartbeat, jetstream.ErrConsumerLeadershipChanged, jetstream.ErrServerShutdown,
			nats.ErrConsumerLeadershipChanged,
			jetstream.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabledForAccount, nats.ErrJetStreamNotEnabled, nats.ErrJetStreamNotEnabledForAccount,
		}},
	} {
		for _, e := range s.errs {
			if errors.Is(err, e) {
				return s.class
			}
		}
	}
	return None
}

func byText(err error) Class {
	text := strings.ToLower(err.Error())
	for _, s := range []struct {
		text  string
		class Class
	}{
		{"permissions violation", Denied},
		{"authorization violation", Denied},
		{"consumer not found", MissingConsumer},
		{"consumer deleted", MissingConsumer},
		{"stream not found", MissingStream},
		{"consumer is push based", Rejected},
		{"connection closed", Closed},
	} {
		if strings.Contains(text, s.text) {
			return s.class
		}
	}
	return None
}
