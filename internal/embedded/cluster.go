package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// ClusterConfig says how a cluster is started.
type ClusterConfig struct {
	// Name is the name of the cluster. Zero: "C1".
	Name string
	// Size is the number of servers. Zero: three. A cluster of one is an error.
	Size int
	// Server is what the servers have in common. Their names are the cluster's
	// with "-1", "-2" and so on, and a StoreDir gets a directory for each.
	Server Config
	// Each changes the configuration of the i-th server, counted from zero
	// over all clusters of a super-cluster. Zero: no change.
	Each func(i int, c *Config)
}

func (c ClusterConfig) withDefaults() ClusterConfig {
	c.Name = cmp.Or(c.Name, "C1")
	c.Size = cmp.Or(c.Size, 3)
	return c
}

// Cluster is servers with routes between them. In a super-cluster, the methods
// of its MetaGroup are about all clusters.
type Cluster struct {
	Name    string
	Servers []*Server
	*MetaGroup
}

// StartCluster starts a cluster and waits until it has a meta leader and every
// server is current.
func StartCluster(ctx context.Context, c ClusterConfig) (*Cluster, error) {
	clusters, group, err := startClusters(ctx, []ClusterConfig{c.withDefaults()}, false)
	if err != nil {
		return nil, err
	}
	return &Cluster{Name: clusters[0].Name, Servers: clusters[0].Servers, MetaGroup: group}, nil
}

// SuperCluster is clusters joined by gateways.
type SuperCluster struct {
	Clusters []*Cluster
	*MetaGroup
}

// StartSuperCluster starts clusters that are joined by gateways, each to each,
// and waits until they have one meta leader and every server is current.
func StartSuperCluster(ctx context.Context, configs ...ClusterConfig) (*SuperCluster, error) {
	for i, c := range configs {
		c.Name = cmp.Or(c.Name, fmt.Sprintf("C%d", i+1))
		configs[i] = c.withDefaults()
	}
	clusters, group, err := startClusters(ctx, configs, true)
	if err != nil {
		return nil, err
	}
	return &SuperCluster{Clusters: clusters, MetaGroup: group}, nil
}

// formTimeout is how long servers may take to form a meta group before they are
// started afresh. A meta group needs about half a second, and six where votes
// split; a 2.10 one that lost its first messages may stay incomplete for ever.
const formTimeout = 10 * time.Second

var errNotFormed = errors.New("servers do not form a meta group")

// startClusters starts all servers, and starts others in their place when a
// port is taken or, unless the caller named the stores, no meta group is formed.
func startClusters(ctx context.Context, configs []ClusterConfig, gateways bool) ([]*Cluster, *MetaGroup, error) {
	ctx, cancel := bounded(ctx, 2*startTimeout)
	defer cancel()
	var last error
	for range portAttempts {
		plan, err := planClusters(configs, gateways)
		if err != nil {
			return nil, nil, err
		}
		servers := slices.Concat(plan...)
		group, err := startAll(ctx, servers)
		if err == nil {
			return split(configs, group), group, nil
		}
		if last = err; ctx.Err() != nil || !mayStartAfresh(servers, err) {
			break
		}
	}
	return nil, nil, last
}

func mayStartAfresh(servers []Config, err error) bool {
	return errors.Is(err, errPortTaken) || errors.Is(err, errNotFormed) && !named(servers)
}

// named says whether the caller named a store, which is not begun anew.
func named(servers []Config) bool {
	return slices.ContainsFunc(servers, func(c Config) bool { return c.StoreDir != "" })
}

// startAll starts the servers side by side, because none is ready alone.
func startAll(ctx context.Context, configs []Config) (*MetaGroup, error) {
	group := &MetaGroup{}
	for _, c := range configs {
		s, err := New(c)
		if err != nil {
			return nil, errors.Join(err, group.Close())
		}
		group.members = append(group.members, s)
	}
	err := together(group.members, func(s *Server) error { return s.up(ctx) })
	if err == nil {
		err = group.form(ctx, named(configs))
	}
	if err != nil {
		return nil, errors.Join(err, group.Close())
	}
	return group, nil
}

// form waits for the group: longer where it has no second chance.
func (g *MetaGroup) form(ctx context.Context, once bool) error {
	patience := formTimeout
	if once {
		patience = 2 * startTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := g.WaitReady(ctx); err != nil {
		return fmt.Errorf("%w: %w", errNotFormed, err)
	}
	return nil
}

// split hands the servers of a group to their clusters.
func split(configs []ClusterConfig, g *MetaGroup) []*Cluster {
	var clusters []*Cluster
	rest := g.members
	for _, c := range configs {
		clusters = append(clusters, &Cluster{Name: c.Name, Servers: rest[:c.Size:c.Size], MetaGroup: g})
		rest = rest[c.Size:]
	}
	return clusters
}

// together calls do for all items at once and joins the errors.
func together[T any](items []T, do func(T) error) error {
	errs := make([]error, len(items))
	var wg sync.WaitGroup
	for i, item := range items {
		wg.Go(func() { errs[i] = do(item) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// member returns the configuration of one server of a cluster.
func (c ClusterConfig) member(n int) Config {
	s := c.Server
	s.Name = fmt.Sprintf("%s-%d", c.Name, n+1)
	if s.StoreDir != "" {
		s.StoreDir = filepath.Join(s.StoreDir, s.Name)
	}
	return s
}
