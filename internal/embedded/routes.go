package embedded

import (
	"context"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// routesReady asks every running server whether it has all its routes to the
// other running servers of its cluster. A meta group forms over the system
// account's route, which may be there a second before those of the other
// accounts: until then a client's server can not see the stream next door, and
// a publish finds nobody.
func (g *MetaGroup) routesReady(ctx context.Context) error {
	for _, s := range g.members {
		if !s.Running() {
			continue
		}
		var z server.Routez
		if err := s.ask(ctx, "ROUTEZ", server.RoutezOptions{}, &z); err != nil {
			return err
		}
		routes := map[string]int{}
		for _, r := range z.Routes {
			routes[r.RemoteName]++
		}
		for _, peer := range g.members {
			if want := s.routesTo(peer); routes[peer.Name()] < want {
				return fmt.Errorf("server %q has %d of %d routes to %q", s.Name(), routes[peer.Name()], want, peer.Name())
			}
		}
	}
	return nil
}

// routesTo is how many routes two servers keep between them: from 2.10 a pool
// for all accounts and one more for the system account (opts.go of 2.10.27,
// DEFAULT_ROUTE_POOL_SIZE), one before.
func (s *Server) routesTo(peer *Server) int {
	switch {
	case peer == s || !peer.Running() || peer.cfg.Cluster.Name != s.cfg.Cluster.Name:
		return 0
	case strings.HasPrefix(s.Version(), "2.9."):
		return 1
	default:
		return server.DEFAULT_ROUTE_POOL_SIZE + 1
	}
}
