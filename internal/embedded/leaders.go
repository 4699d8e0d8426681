package embedded

import (
	"context"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
)

// GlobalAccount is the account of clients on a server without Config.Accounts.
const GlobalAccount = "$G"

// StreamLeader waits until a running server says of itself that it leads the
// stream, and returns it. An empty account is the global one.
func (g *MetaGroup) StreamLeader(ctx context.Context, account, stream string) (*Server, error) {
	return g.leader(ctx, fmt.Sprintf("find the leader of stream %q", stream), account,
		func(s *Server, d server.StreamDetail) bool { return d.Name == stream && leads(s, d.Cluster) })
}

// ConsumerLeader is StreamLeader for a consumer.
func (g *MetaGroup) ConsumerLeader(ctx context.Context, account, stream, consumer string) (*Server, error) {
	return g.leader(ctx, fmt.Sprintf("find the leader of consumer %q of stream %q", consumer, stream), account,
		func(s *Server, d server.StreamDetail) bool { return d.Name == stream && leadsConsumer(s, d, consumer) })
}

func leads(s *Server, c *server.ClusterInfo) bool {
	return c != nil && c.Leader == s.Name()
}

func leadsConsumer(s *Server, d server.StreamDetail, consumer string) bool {
	for _, c := range d.Consumer {
		if c.Name == consumer && leads(s, c.Cluster) {
			return true
		}
	}
	return false
}

func (g *MetaGroup) leader(ctx context.Context, what, account string, is func(*Server, server.StreamDetail) bool) (*Server, error) {
	ctx, cancel := bounded(ctx, startTimeout)
	defer cancel()
	if account == "" {
		account = GlobalAccount
	}
	var leader *Server
	err := poll(ctx, what, func() error {
		for _, s := range g.members {
			if s.holds(ctx, account, is) {
				leader = s
				return nil
			}
		}
		return fmt.Errorf("no server of account %q says that it leads", account)
	})
	return leader, err
}

// holds tells whether the server has a stream that is as asked. A server that
// is down, or cannot answer now, has none.
func (s *Server) holds(ctx context.Context, account string, is func(*Server, server.StreamDetail) bool) bool {
	var info server.JSInfo
	question := server.JSzOptions{Account: account, Accounts: true, Streams: true, Consumer: true}
	if err := s.ask(ctx, "JSZ", question, &info); err != nil {
		return false
	}
	for _, a := range info.AccountDetails {
		for _, d := range a.Streams {
			if is(s, d) {
				return true
			}
		}
	}
	return false
}
