package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A status is what the server says about a pull instead of a message.
type status struct {
	code, text string
	pull       string // the last token of the inbox that it came to
	left       int    // messages that the pull did not get, -1: it does not say
}

// readStatus reads a message as a status. It is none if it carries no status
// header, or has a payload.
func readStatus(m *nats.Msg) (status, bool) {
	if len(m.Data) > 0 || len(m.Header) == 0 {
		return status{}, false
	}
	code := m.Header.Get("Status")
	if code == "" || strings.HasPrefix(m.Reply, "$JS.ACK.") {
		return status{}, false
	}
	s := status{code: code, text: m.Header.Get("Description"), left: -1}
	s.pull = m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	if left, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages")); err == nil {
		s.left = left
	}
	return s, true
}

// A verdict is what a status means for delivery.
type verdict int

const (
	goOn     verdict = iota // a heartbeat
	pullOver                // this pull has ended, as pulls do
	look                    // something happened to the consumer
	refused                 // a limit of the consumer forbids such pulls
)

// judge tells what a status means, by code and then by text: the server has one
// code for everything (consumer.go:4806 to 4920, nats-server 2.15.3).
func (s status) judge() (verdict, error) {
	text := strings.ToLower(s.text)
	switch s.code {
	case "100":
		return goOn, nil
	case "404", "408":
		return pullOver, nil
	case "503":
		return look, nats.ErrNoResponders
	case "409":
		switch {
		case strings.Contains(text, "consumer deleted"):
			return look, jetstream.ErrConsumerDeleted
		case strings.Contains(text, "leadership change"):
			return look, jetstream.ErrConsumerLeadershipChanged
		case strings.Contains(text, "server shutdown"):
			return look, jetstream.ErrServerShutdown
		case strings.Contains(text, "exceeds maxbytes"):
			return pullOver, nil
		case strings.HasPrefix(text, "exceeded max"):
			return refused, s.error()
		}
	}
	return look, s.error()
}

func (s status) error() error {
	return fmt.Errorf("pull refused: %s %s", s.code, s.text)
}
