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
	var dots [12]int
	n := 0
	for i := len(prefix); i < len(reply) && n < len(dots); i++ {
		if reply[i] == '.' {
			dots[n] = i
			n++
		}
	}
	tokens := n + 1
	first := 2 // of the figures, behind the stream and the consumer
	switch {
	case tokens == 7:
	case tokens >= 9:
		first = 4
	default:
		return errReply
	}
	var figures [5]uint64
	for i := range figures {
		from, to := dots[first+i-1]+1, len(reply)
		if first+i < n {
			to = dots[first+i]
		}
		v, ok := number(reply[from:to])
		if !ok {
			return errReply
		}
		figures[i] = v
	}
	d.Count, d.StreamSeq, d.ConsumerSeq = figures[0], figures[1], figures[2]
	d.Stored, d.Pending = time.Unix(0, int64(figures[3])), figures[4]
	return nil
}

func number(s string) (v uint64, ok bool) {
	if s == "" || len(s) > 19 {
		return 0, false
	}
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	return v, true
}
