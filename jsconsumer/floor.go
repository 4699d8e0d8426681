package jsconsumer

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// floorMonitor tells a pinned ack floor from one that lags. Pinned means that the
// floor stands still, that something is pending, and that others behind it were
// delivered meanwhile, or done. With nothing pending the messages at the floor are
// exhausted, and the next acknowledgment moves it.
type floorMonitor struct {
	done atomic.Uint64 // the highest stream sequence that this process acknowledged

	mu        sync.Mutex
	floor     Floor
	delivered uint64 // stream sequence, when something was first seen to be pending at this floor
	pinned    bool
}

// acked enters an acknowledgment.
func (m *floorMonitor) acked(seq uint64) {
	for old := m.done.Load(); seq > old && !m.done.CompareAndSwap(old, seq); old = m.done.Load() {
	}
}

// restart forgets what was acknowledged: the consumer starts again, from wherever.
func (m *floorMonitor) restart() { m.done.Store(0) }

// look enters what the consumer says of itself, and tells what changed.
func (m *floorMonitor) look(about About, info *jetstream.ConsumerInfo, after time.Duration) (pinned, released *Floor) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// Nothing holds a floor behind which nothing is pending.
	if m.floor.AckPending == 0 || info.AckFloor.Stream != m.floor.Sequence {
		m.floor.Since, m.delivered = about.Time, info.Delivered.Stream
	}
	m.floor.About, m.floor.Sequence = about, info.AckFloor.Stream
	m.floor.Delivered, m.floor.AckPending = info.Delivered.Stream, info.NumAckPending
	now := m.floor
	passed := info.Delivered.Stream > m.delivered || m.done.Load() > now.Sequence
	is := info.NumAckPending > 0 && passed && about.Time.Sub(now.Since) >= after
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
