package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

var (
	errPeerUnknown = errors.New("peer is unknown")
	errSeenOnce    = errors.New("ready, and asked again")
)

// leaderPatience is how long a meta leader may take to learn of its peers.
const leaderPatience = time.Second

// MetaGroup is the servers that share one JetStream meta group: those of a
// cluster, or of all clusters of a super-cluster.
type MetaGroup struct {
	members []*Server
}

// All returns the servers, running or not, in the order they were started.
func (g *MetaGroup) All() []*Server { return g.members }

// Find returns the server of that name, or nil.
func (g *MetaGroup) Find(name string) *Server {
	for _, s := range g.members {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// URLs returns the client URLs of all servers, separated by commas, as
// nats.Connect takes them.
func (g *MetaGroup) URLs() string {
	var urls []string
	for _, s := range g.members {
		urls = append(urls, s.ClientURL())
	}
	return strings.Join(urls, ",")
}

// WaitReady waits until every running server is healthy and has its routes, one
// of them leads the meta group with all servers in it, and every running peer is
// current. It
// needs a running majority. It says nothing about the leaders of streams: after
// a server went down, StreamLeader waits for the next one.
//
// A leader that stays unaware of a peer is asked to step down, once a second.
func (g *MetaGroup) WaitReady(ctx context.Context) error {
	ctx, cancel := bounded(ctx, startTimeout)
	defer cancel()
	patience, twice := time.Now().Add(leaderPatience), false
	return poll(ctx, "cluster is not ready", func() error {
		err := g.ready(ctx)
		if err == nil && !twice {
			twice = true // what its clients have heard, a server may have before it in a queue
			return errSeenOnce
		}
		if errors.Is(err, errPeerUnknown) && time.Now().After(patience) {
			patience = time.Now().Add(leaderPatience)
			err = errors.Join(err, g.stepDown(ctx))
		}
		return err
	})
}

func (g *MetaGroup) ready(ctx context.Context) error {
	for _, s := range g.members {
		if !s.Running() {
			continue
		}
		if err := s.healthy(ctx); err != nil {
			return err
		}
	}
	if err := g.routesReady(ctx); err != nil {
		return err
	}
	return g.peersCurrent(ctx)
}

// stepDown makes the members of the meta group elect a leader again. A 2.10
// leader that was elected by two of three servers learns of the third only from
// its answers, and the heartbeats of an idle group are not answered: without
// an election, or a stream, it would count two servers for ever.
func (g *MetaGroup) stepDown(ctx context.Context) error {
	leader, _, err := g.metaLeader(ctx)
	if err != nil {
		return err
	}
	nc, err := leader.connectAdmin()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if _, err := nc.RequestWithContext(ctx, server.JSApiLeaderStepDown, nil); err != nil {
		return fmt.Errorf("ask meta leader %q to step down: %w", leader.Name(), err)
	}
	return nil
}

// peersCurrent asks the meta leader about the others.
func (g *MetaGroup) peersCurrent(ctx context.Context) error {
	leader, meta, err := g.metaLeader(ctx)
	if err != nil {
		return err
	}
	if meta.Size != len(g.members) {
		return fmt.Errorf("%w: leader %q knows %d of %d servers", errPeerUnknown, leader.Name(), meta.Size, len(g.members))
	}
	current := map[string]bool{leader.Name(): true}
	for _, r := range meta.Replicas {
		current[r.Name] = r.Current && !r.Offline
	}
	for _, s := range g.members {
		if s.Running() && !current[s.Name()] {
			return fmt.Errorf("leader %q does not call %q current", leader.Name(), s.Name())
		}
	}
	return g.placeable(leader)
}

// placeable tells whether the leader can place streams on every running server.
func (g *MetaGroup) placeable(leader *Server) error {
	for _, s := range g.members {
		if s.Running() && !leader.hasHeard(s) {
			return fmt.Errorf("leader %q has not heard from %q what it can hold", leader.Name(), s.Name())
		}
	}
	if got, ok := leader.places(); ok && got < g.running() {
		return fmt.Errorf("leader %q can place streams on %d of %d servers", leader.Name(), got, g.running())
	}
	return nil
}

func (g *MetaGroup) running() int {
	n := 0
	for _, s := range g.members {
		if s.Running() {
			n++
		}
	}
	return n
}

// places is on how many servers the leader can place streams. An external server
// does not tell.
func (s *Server) places() (n int, ok bool) {
	s.mu.Lock()
	b, ok := s.broker.(*inProcess)
	s.mu.Unlock()
	if !ok {
		return 0, false
	}
	return len(b.srv.JetStreamClusterPeers()), true
}

// MetaLeader waits until a running server says of itself that it leads the
// meta group, and returns it.
func (g *MetaGroup) MetaLeader(ctx context.Context) (*Server, error) {
	ctx, cancel := bounded(ctx, startTimeout)
	defer cancel()
	var leader *Server
	err := poll(ctx, "find the meta leader", func() (err error) {
		leader, _, err = g.metaLeader(ctx)
		return err
	})
	return leader, err
}

// metaLeader believes only the leader itself: the others keep naming a leader
// for a while after it is gone.
func (g *MetaGroup) metaLeader(ctx context.Context) (*Server, *server.MetaClusterInfo, error) {
	err := errors.New("no server says that it leads")
	for _, s := range g.members {
		if !s.Running() {
			continue
		}
		var info server.JSInfo
		if askErr := s.ask(ctx, "JSZ", server.JSzOptions{}, &info); askErr != nil {
			err = askErr
			continue
		}
		if info.Meta != nil && info.Meta.Leader == s.Name() {
			return s, info.Meta, nil
		}
	}
	return nil, nil, err
}

// Close closes all servers, running or not.
func (g *MetaGroup) Close() error {
	return together(g.members, (*Server).Close)
}
