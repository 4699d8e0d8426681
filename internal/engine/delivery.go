package engine

import (
	"errors"
	"time"

	"github.com/nats-io/nats.go"
)

// A Delivery is one message, delivered once.
type Delivery struct {
	Msg *nats.Msg
	// StreamSeq is the message's sequence in its stream, ConsumerSeq counts the
	// deliveries of the consumer, Count those of this message, from 1.
	StreamSeq, ConsumerSeq, Count uint64
	// Pending is how many messages the consumer still had to deliver.
	Pending uint64
	// Stored is when the message was stored, Received when it came out of the
	// channel.
	Stored, Received time.Time

	identity uint32
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
	t := tokenize(reply[len(prefix):])
	first := 2 // of the figures, behind the stream and the consumer
	switch {
	case t.n == 7:
	case t.n >= 9:
		first = 4
	default:
		return errReply
	}
	for i := first; i < first+5; i++ {
		if t.bad&(1<<i) != 0 {
			return errReply
		}
	}
	v := t.values[first:]
	d.Count, d.StreamSeq, d.ConsumerSeq = v[0], v[1], v[2]
	d.Stored, d.Pending = time.Unix(0, int64(v[3])), v[4]
	return nil
}

// tokens are those of a subject, read as numbers. A bit in bad is one that is none.
type tokens struct {
	n      int
	values [12]uint64
	bad    uint16
}

// tokenize goes over a subject once: every message has one. What is behind the
// twelfth token is left out.
func tokenize(s string) (t tokens) {
	start := 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s) || s[i] == '.':
			if i == start || i-start > 19 {
				t.bad |= 1 << t.n
			}
			start = i + 1
			if t.n++; t.n == len(t.values) {
				return t
			}
		case s[i] >= '0' && s[i] <= '9':
			t.values[t.n] = t.values[t.n]*10 + uint64(s[i]-'0')
		default:
			t.bad |= 1 << t.n
		}
	}
	return t
}
