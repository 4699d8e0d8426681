package jsconsumer

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// floorMonitor tells a pinned ack floor from one that lags. Pinned means that the
// floor stands still, that something is pending, and that others were delivered
// since. With nothing pending the messages at the floor are exhausted, and the next
// acknowledgment moves it.
type floorMonitor struct {
	mu        sync.Mutex
	floor     Floor
	delivered uint64 // stream sequence, when the floor came to where it is
	pinned    bool
}

// look enters what the consumer says of itself, and tells what changed.
func (m *floorMonitor) look(about About, info *jetstream.ConsumerInfo, after time.Duration) (pinned, released *Floor) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if about.Time.IsZero() || m.floor.Since.IsZero() || info.AckFloor.Stream != m.floor.Sequence {
		m.floor.Since, m.delivered = about.Time, info.Delivered.Stream
	}
	m.floor.About, m.floor.Sequence = about, info.AckFloor.Stream
	m.floor.Delivered, m.floor.AckPending = info.Delivered.Stream, info.NumAckPending
	now := m.floor
	is := info.NumAckPending > 0 && info.Delivered.Stream > m.delivered && about.Time.Sub(now.Since) >= after
	was := m.pinned
	m.pinned = is
	switch {
	case is && !was:
		return &now, nil
	case was && !is:
		return nil, &now
	}
	return nil, nil
}

func (m *floorMonitor) state() (Floor, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.floor, m.pinned
}
