package engine

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// A Delivery is one message, delivered once.
type Delivery struct {
	Msg *nats.Msg
	// StreamSeq is the message's sequence in its stream, ConsumerSeq counts the
	// deliveries of the consumer, Count those of this message, from 1.
	StreamSeq, ConsumerSeq, Count uint64
	// Received is when it came out of the channel.
	Received time.Time

	rest     string // of the reply subject: the time and the pending, which few ask for
	identity uint32
}

// Fetched is a message that was read from its stream, as if it had been delivered
// for the count-th time. It can not be settled.
func Fetched(m *nats.Msg, seq, count uint64, stored time.Time) *Delivery {
	return &Delivery{Msg: m, StreamSeq: seq, Count: count, Received: time.Now(), rest: strconv.FormatInt(stored.UnixNano(), 10) + ".0"}
}

var errReply = errors.New("not the reply of a JetStream delivery")

// parseReply reads the reply subject of a delivery: $JS.ACK.<stream>.<consumer>.
// <count>.<stream seq>.<consumer seq>.<time>.<pending>, with <domain>.<account> before
// the stream and perhaps a random token behind (nats-server's ADR-15).
func parseReply(d *Delivery, reply string) error {
	const prefix = "$JS.ACK."
	if len(reply) <= len(prefix) || reply[:len(prefix)] != prefix {
		return errReply
	}
	skip := 2 // the stream and the consumer
	switch tokens := strings.Count(reply, ".") - 1; {
	case tokens == 7:
	case tokens >= 9:
		skip = 4
	default:
		return errReply
	}
	at := len(prefix)
	for range skip {
		at += strings.IndexByte(reply[at:], '.') + 1
	}
	var ok bool
	for _, figure := range []*uint64{&d.Count, &d.StreamSeq, &d.ConsumerSeq} {
		if *figure, at, ok = number(reply, at); !ok {
			return errReply
		}
	}
	d.rest = reply[at:]
	return nil
}

// number reads a token and where the next one begins.
func number(s string, at int) (v uint64, next int, ok bool) {
	for i := at; i < len(s); i++ {
		c := s[i]
		if c == '.' {
			return v, i + 1, i > at && i-at < 20
		}
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	return v, len(s), len(s) > at && len(s)-at < 20
}

// Stored is when the message was stored.
func (d *Delivery) Stored() time.Time {
	ns, _, _ := number(d.rest, 0)
	return time.Unix(0, int64(ns)) //nolint:gosec // the server writes an int64
}

// Pending is how many messages the consumer still had to deliver.
func (d *Delivery) Pending() uint64 {
	_, at, _ := number(d.rest, 0)
	n, _, _ := number(d.rest, at)
	return n
}
