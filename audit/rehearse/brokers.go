package rehearse

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
	"github.com/natsmig/natsmig/internal/embedded"
)

// room is more memory and disk than any stream reserves, in bytes. A broker does
// not look whether the machine has it.
const room = 1 << 50

// The sizes of a cluster: three servers hold any stream but one with more
// replicas, of which a broker takes five at most (stream.go StreamMaxReplicas of
// 2.15.3).
const smallCluster, largeCluster = 3, 5

// brokers are the servers of a rehearsal: one for the cells that are one, and a
// cluster for those that are a cluster. Each cell has an account of its own.
type brokers struct {
	password string
	single   *embedded.Server
	cluster  *embedded.Cluster
	conns    []*nats.Conn
}

func startBrokers(ctx context.Context, f *audit.Fleet, ds []*audit.Declaration, o Options) (_ *brokers, err error) {
	b := &brokers{password: rand.Text()}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	var single, clustered []embedded.Account
	for i, c := range f.Cells {
		if c.Broker.Clustered {
			clustered = append(clustered, b.account(i, c.Broker.Limits))
		} else {
			single = append(single, b.account(i, c.Broker.Limits))
		}
	}
	config := embedded.Config{Binary: o.Binary, Logger: o.Logger, MaxMemory: room, MaxStore: room}
	if len(single) > 0 {
		config.Accounts = single
		if b.single, err = embedded.Start(ctx, config); err != nil {
			return nil, fmt.Errorf("start a broker: %w", err)
		}
	}
	if len(clustered) > 0 {
		config.Accounts = clustered
		b.cluster, err = embedded.StartCluster(ctx, embedded.ClusterConfig{Server: config, Size: clusterSize(f, ds)})
		if err != nil {
			return nil, fmt.Errorf("start a cluster: %w", err)
		}
	}
	return b, nil
}

// account is where the i-th cell is rebuilt. The model does not know the totals
// of an account's storage, so that they are not among the limits.
func (b *brokers) account(i int, l broker.Limits) embedded.Account {
	name := accountName(i)
	return embedded.Account{
		Name: name, Users: []embedded.User{{Name: name, Password: b.password}},
		Limits: embedded.Limits{
			MaxStreams: max(l.AccountStreams, 0), MaxConsumers: max(l.AccountConsumers, 0), MaxAckPending: max(l.AccountAckPending, 0),
			MaxBytesRequired: l.MaxBytesRequired, MaxMemoryStream: max(l.MemoryMaxStreamSize, 0), MaxStream: max(l.FileMaxStreamSize, 0),
		},
	}
}

func accountName(i int) string { return fmt.Sprintf("CELL-%d", i+1) }

// clusterSize is how many servers it takes to hold what is live and what is
// declared.
func clusterSize(f *audit.Fleet, ds []*audit.Declaration) int {
	most := 0
	for _, c := range f.Cells {
		for _, s := range c.Streams {
			most = max(most, s.Config.Replicas)
		}
	}
	for _, d := range ds {
		if d.Consumer == "" {
			most = max(most, d.StreamRequest.Config.Replicas)
		}
	}
	if most > smallCluster {
		return largeCluster
	}
	return smallCluster
}

// connect opens a connection into the account of the i-th cell, and says on how
// many servers it is.
func (b *brokers) connect(i int, clustered bool) (*nats.Conn, int, error) {
	url, servers := b.place(clustered)
	quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}) // the default one prints
	nc, err := nats.Connect(url, nats.Name("natsmig rehearse"), nats.UserInfo(accountName(i), b.password), nats.MaxReconnects(-1), quiet)
	if err != nil {
		return nil, 0, fmt.Errorf("connect to the rehearsal's broker: %w", err)
	}
	b.conns = append(b.conns, nc)
	return nc, servers, nil
}

func (b *brokers) place(clustered bool) (url string, servers int) {
	if clustered {
		return b.cluster.URLs(), len(b.cluster.Servers)
	}
	return b.single.ClientURL(), 1
}

// close ends the connections and the servers. What it may fail to remove is a
// temporary folder.
func (b *brokers) close() {
	for _, nc := range b.conns {
		nc.Close()
	}
	if b.single != nil {
		_ = b.single.Close()
	}
	if b.cluster != nil {
		_ = b.cluster.Close()
	}
}
