package natstest_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

func buildServer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nats-server")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/nats-io/nats-server/v2")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build nats-server: %v\n%s", err, out)
	}
	return path
}

// One server of the three is external: clusters may be mixed.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := natstest.StartCluster(t, 3, natstest.WithName("MIXED"), natstest.WithBinaries(buildServer(t), "", ""))
	_, err := c.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Replicas: 3})
	must(t, err)
	_, err = c.JS.CreateConsumer(t.Context(), "S", jetstream.ConsumerConfig{Durable: "D"})
	must(t, err)
	for what, leader := range map[string]*natstest.Broker{
		"meta": c.MetaLeader(), "stream": c.StreamLeader("", "S"), "consumer": c.ConsumerLeader("", "S", "D"),
	} {
		if !strings.HasPrefix(leader.Name(), "MIXED-") || !leader.Running() {
			t.Errorf("%s leader is %q, running %t", what, leader.Name(), leader.Running())
		}
	}
	inProcess := c.Brokers[1]
	inProcess.Stop()
	if c.MetaLeader() == inProcess || c.StreamLeader("", "S") == inProcess {
		t.Errorf("%s leads and is stopped", inProcess.Name())
	}
	inProcess.Restart()
	c.WaitReady()
}

func TestSuperCluster(t *testing.T) {
	t.Parallel()
	clusters := natstest.StartSuperCluster(t, []int{2, 2})
	for i, want := range []string{"C1", "C2"} {
		c := clusters[i]
		if got := c.NC.ConnectedClusterName(); got != want || c.Name != want || len(c.Brokers) != 2 {
			t.Errorf("cluster %d is %q with %d brokers, its client is in %q, want %s", i, c.Name, len(c.Brokers), got, want)
		}
	}
	_, err := clusters[0].JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Placement: &jetstream.Placement{Cluster: "C2"}})
	must(t, err)
	if got := clusters[0].StreamLeader("", "S").Name(); !strings.HasPrefix(got, "C2-") {
		t.Errorf("the stream's leader is %s, not in C2", got)
	}
}

func TestLeaf(t *testing.T) {
	t.Parallel()
	central := natstest.User{Name: "central", Password: "pw"}
	hub := natstest.Start(t, natstest.WithDomain("hub"), natstest.WithLeafListener(), natstest.WithUser("central", "pw"),
		natstest.WithAccounts(natstest.Account{Name: "CENTRAL", Users: []natstest.User{central}}))
	leaf := natstest.StartLeaf(t, hub.Broker, natstest.WithDomain("edge"), natstest.WithLeafAccounts("LOCAL", central),
		natstest.WithAccounts(natstest.Account{Name: "LOCAL", Users: []natstest.User{{Name: "local", Password: "pw"}}}),
		natstest.WithUser("local", "pw"))
	_, err := leaf.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S"})
	must(t, err)
	edge, err := jetstream.NewWithDomain(hub.NC, "edge")
	must(t, err)
	_, err = edge.Stream(t.Context(), "S")
	must(t, err)
}

func TestBinary(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithBinary(buildServer(t)))
	_, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S"})
	must(t, err)
	s.Kill()
	s.Restart()
	_, err = s.JS.Stream(t.Context(), "S")
	must(t, err)
	nc := s.ConnectSystem()
	if got := nc.ConnectedServerVersion(); got != s.Version() || got == "" {
		t.Errorf("version %q, the connection says %q", s.Version(), got)
	}
}
