package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// StartLeaf starts a broker that is a leaf node of the hubs, which are servers
// of one cluster or a single one, started with Config.Leaf.Listen. It waits
// until the broker is ready and connected to a hub by each of its remotes. With
// no remotes in the Config, it joins the two global accounts.
//
// Give the leaf node and the hub a Domain each: without one, both would answer
// for JetStream in the joined account.
func StartLeaf(ctx context.Context, c Config, hubs ...*Server) (*Server, error) {
	ctx, cancel := bounded(ctx, startTimeout)
	defer cancel()
	remotes, err := remotesTo(c.Leaf.Remotes, hubs)
	if err != nil {
		return nil, err
	}
	c.Leaf.Remotes = remotes
	s, err := Start(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.WaitLeaf(ctx), s.waitDomain(ctx, hubs)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// waitDomain waits until a hub knows that the leaf node answers for its
// JetStream domain. That comes a moment after the connection.
func (s *Server) waitDomain(ctx context.Context, hubs []*Server) error {
	if s.cfg.NoJetStream || s.cfg.Domain == "" || len(hubs) == 0 {
		return nil
	}
	prefix := "$JS." + s.cfg.Domain + ".API."
	return poll(ctx, fmt.Sprintf("no hub knows the domain of leaf node %q", s.cfg.Name), func() error {
		for _, h := range hubs {
			if h.hearsFrom(ctx, prefix) {
				return nil
			}
		}
		return fmt.Errorf("no leaf node subscribes to %s>", prefix)
	})
}

// hearsFrom tells whether a leaf node subscribes to a subject with the prefix.
func (s *Server) hearsFrom(ctx context.Context, prefix string) bool {
	var leafs server.Leafz
	if err := s.ask(ctx, "LEAFZ", server.LeafzOptions{Subscriptions: true}, &leafs); err != nil {
		return false
	}
	return slices.ContainsFunc(leafs.Leafs, func(l *server.LeafInfo) bool {
		return slices.ContainsFunc(l.Subs, func(subject string) bool { return strings.HasPrefix(subject, prefix) })
	})
}

// remotesTo fills in the hubs' URLs where a remote has none.
func remotesTo(remotes []LeafRemote, hubs []*Server) ([]LeafRemote, error) {
	var urls []string
	for _, h := range hubs {
		if h.LeafURL() == "" {
			return nil, fmt.Errorf("hub %q does not listen for leaf nodes", h.Name())
		}
		urls = append(urls, h.LeafURL())
	}
	if len(remotes) == 0 {
		remotes = []LeafRemote{{}}
	}
	filled := make([]LeafRemote, len(remotes))
	for i, r := range remotes {
		if len(r.URLs) == 0 {
			r.URLs = urls
		}
		filled[i] = r
	}
	return filled, nil
}

// WaitLeaf waits until each remote of a leaf node is connected, as after a
// restart on either side.
func (s *Server) WaitLeaf(ctx context.Context) error {
	ctx, cancel := bounded(ctx, startTimeout)
	defer cancel()
	return poll(ctx, fmt.Sprintf("leaf node %q is not connected", s.cfg.Name), func() error {
		var leafs server.Leafz
		if err := s.ask(ctx, "LEAFZ", server.LeafzOptions{}, &leafs); err != nil {
			return err
		}
		if want := len(s.cfg.Leaf.Remotes); leafs.NumLeafs < want {
			return fmt.Errorf("%d of %d remotes are connected", leafs.NumLeafs, want)
		}
		return nil
	})
}
