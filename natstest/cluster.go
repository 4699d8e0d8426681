package natstest

import (
	"context"
	"strings"
	"testing"

	"github.com/natsmig/natsmig/internal/embedded"
)

// Cluster is brokers with routes between them, and a client that knows them
// all. In a super-cluster, WaitReady and the leaders are about all clusters.
type Cluster struct {
	*Client
	Name    string
	Brokers []*Broker

	tb  testing.TB
	all []*Broker
	grp *embedded.MetaGroup
}

// StartCluster starts a cluster of n brokers and waits until it has a meta
// leader and every broker is current.
func StartCluster(tb testing.TB, n int, opts ...Option) *Cluster {
	tb.Helper()
	c := collect(opts)
	ctx, cancel := c.context(tb)
	defer cancel()
	started, err := embedded.StartCluster(ctx, c.cluster(c.server.Name, n))
	if err != nil {
		tb.Fatalf("%v", err) // StartCluster has closed what it had started
	}
	closeLater(tb, started)
	return newCluster(tb, c, started, brokers(tb, started.All()))
}

// StartSuperCluster starts clusters of these sizes, joined by gateways, and
// waits until they have one meta leader and every broker is current.
func StartSuperCluster(tb testing.TB, sizes []int, opts ...Option) []*Cluster {
	tb.Helper()
	c := collect(opts)
	ctx, cancel := c.context(tb)
	defer cancel()
	var configs []embedded.ClusterConfig
	for _, n := range sizes {
		configs = append(configs, c.cluster("", n))
	}
	started, err := embedded.StartSuperCluster(ctx, configs...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	closeLater(tb, started)
	var clusters []*Cluster
	all := brokers(tb, started.All())
	for _, s := range started.Clusters {
		clusters = append(clusters, newCluster(tb, c, s, all))
	}
	return clusters
}

func (c config) cluster(name string, n int) embedded.ClusterConfig {
	return embedded.ClusterConfig{Name: name, Size: n, Server: c.server, Each: c.each}
}

func newCluster(tb testing.TB, c config, started *embedded.Cluster, all []*Broker) *Cluster {
	tb.Helper()
	cluster := &Cluster{Name: started.Name, tb: tb, all: all, grp: started.MetaGroup}
	var urls []string
	for _, s := range started.Servers {
		cluster.Brokers = append(cluster.Brokers, find(all, s))
		urls = append(urls, s.ClientURL())
	}
	cluster.Client = connect(tb, strings.Join(urls, ","), c)
	return cluster
}

func brokers(tb testing.TB, servers []*embedded.Server) []*Broker {
	var all []*Broker
	for _, s := range servers {
		all = append(all, &Broker{tb: tb, srv: s})
	}
	return all
}

func find(all []*Broker, s *embedded.Server) *Broker {
	for _, b := range all {
		if b.srv == s {
			return b
		}
	}
	return nil
}

// WaitReady waits until every running broker is healthy and current. It needs
// a running majority.
func (c *Cluster) WaitReady() {
	c.tb.Helper()
	if err := c.grp.WaitReady(lasting(c.tb)); err != nil {
		c.tb.Fatalf("%v", err)
	}
}

// MetaLeader waits for a leader of the meta group and returns it.
func (c *Cluster) MetaLeader() *Broker {
	c.tb.Helper()
	return c.leader(c.grp.MetaLeader)
}

// StreamLeader waits for a leader of the stream and returns it. An empty
// account is the global one.
func (c *Cluster) StreamLeader(account, stream string) *Broker {
	c.tb.Helper()
	return c.leader(func(ctx context.Context) (*embedded.Server, error) {
		return c.grp.StreamLeader(ctx, account, stream)
	})
}

// ConsumerLeader waits for a leader of the consumer and returns it. An empty
// account is the global one.
func (c *Cluster) ConsumerLeader(account, stream, consumer string) *Broker {
	c.tb.Helper()
	return c.leader(func(ctx context.Context) (*embedded.Server, error) {
		return c.grp.ConsumerLeader(ctx, account, stream, consumer)
	})
}

func (c *Cluster) leader(lookup func(context.Context) (*embedded.Server, error)) *Broker {
	c.tb.Helper()
	s, err := lookup(lasting(c.tb))
	if err != nil {
		c.tb.Fatalf("%v", err)
	}
	return find(c.all, s)
}
