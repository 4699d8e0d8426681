package embedded

import (
	"encoding/json"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// statsSubject is where every server tells the others of its load: 250 ms after
// its start, and then at intervals that double up to ten seconds.
const statsSubject = "$SYS.SERVER.*.STATSZ"

// heard is which servers one server has heard of. A meta leader places streams
// on those alone whose JetStream statistics have reached it (jetstream_cluster.go
// JetStreamClusterPeers of 2.15.3), and no monitoring question tells which.
type heard struct {
	mu  sync.Mutex
	ids map[string]bool
}

// listen counts what reaches the server behind nc. The count ends with nc.
func listen(nc *nats.Conn) (*heard, error) {
	h := &heard{ids: map[string]bool{}}
	_, err := nc.Subscribe(statsSubject, func(m *nats.Msg) {
		var stats server.ServerStatsMsg
		if json.Unmarshal(m.Data, &stats) == nil && stats.Stats.JetStream != nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.ids[stats.Server.ID] = true
		}
	})
	return h, err
}

func (h *heard) of(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ids[id]
}

// hasHeard tells whether the server knows the load of the other, as it runs now.
func (s *Server) hasHeard(other *Server) bool {
	other.mu.Lock()
	nc := other.admin
	other.mu.Unlock()
	s.mu.Lock()
	h := s.heard
	s.mu.Unlock()
	return s == other || h != nil && nc != nil && h.of(nc.ConnectedServerId())
}
