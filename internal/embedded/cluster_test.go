package embedded_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/embedded"
)

func TestClusterOfThree(t *testing.T) {
	onEachKind(t, func(t *testing.T, binary string) {
		c := startCluster(t, embedded.ClusterConfig{Server: embedded.Config{Binary: binary}})
		js := connect(t, c.URLs())
		makeStream(t, js, jetstream.StreamConfig{Name: "S", Replicas: 3}) // at once: all three must be known
		_, err := js.CreateConsumer(t.Context(), "S", jetstream.ConsumerConfig{Durable: "D"})
		must(t, err)
		publish(t, js, "S")
		checkLeaders(t, c, js)

		leader := metaLeader(t, c.MetaGroup)
		must(t, leader.Kill(t.Context()))
		if next := metaLeader(t, c.MetaGroup); next == leader {
			t.Errorf("%s leads after it was killed", leader.Name())
		}
		must(t, c.WaitReady(t.Context())) // two of three
		_, err = c.StreamLeader(t.Context(), "", "S")
		must(t, err)
		publish(t, js, "S")
		must(t, leader.Restart(t.Context()))
		must(t, c.WaitReady(t.Context()))
		checkLeaders(t, c, js)
		if got := messages(t, connect(t, leader.ClientURL())); got != 2 {
			t.Errorf("messages: %d, want 2", got)
		}
	})
}

func startCluster(t *testing.T, config embedded.ClusterConfig) *embedded.Cluster {
	t.Helper()
	c, err := embedded.StartCluster(t.Context(), config)
	must(t, err)
	closeLater(t, c)
	return c
}

func metaLeader(t *testing.T, g *embedded.MetaGroup) *embedded.Server {
	t.Helper()
	s, err := g.MetaLeader(t.Context())
	must(t, err)
	return s
}

// checkLeaders compares the leaders with what JetStream's API says.
func checkLeaders(t *testing.T, c *embedded.Cluster, js jetstream.JetStream) {
	t.Helper()
	ofStream, err := c.StreamLeader(t.Context(), "", "S")
	must(t, err)
	ofConsumer, err := c.ConsumerLeader(t.Context(), embedded.GlobalAccount, "S", "D")
	must(t, err)
	s, err := js.Stream(t.Context(), "S")
	must(t, err)
	d, err := s.Consumer(t.Context(), "D")
	must(t, err)
	got := ofStream.Name() + " " + ofConsumer.Name()
	want := s.CachedInfo().Cluster.Leader + " " + d.CachedInfo().Cluster.Leader
	if got != want {
		t.Errorf("leaders of stream and consumer %q, the API says %q", got, want)
	}
}

func TestClusterOfFive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startCluster(t, embedded.ClusterConfig{Name: "FIVE", Size: 5, Server: embedded.Config{StoreDir: dir}})
	js := connect(t, c.URLs())
	makeStream(t, js, jetstream.StreamConfig{Name: "S", Replicas: 5})
	for i, s := range c.Servers {
		if want := fmt.Sprintf("%s/FIVE-%d", dir, i+1); s.StoreDir() != want || !exists(want) {
			t.Errorf("store of %s is %s, want %s", s.Name(), s.StoreDir(), want)
		}
	}
	must(t, c.Servers[0].Stop(t.Context()))
	must(t, c.Servers[1].Stop(t.Context()))
	must(t, c.WaitReady(t.Context()))
	_, err := c.StreamLeader(t.Context(), "", "S")
	must(t, err)
	publish(t, js, "S") // three of five are a majority
}

func TestClusterOfOneIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := embedded.StartCluster(t.Context(), embedded.ClusterConfig{Size: 1}); err == nil {
		t.Error("no error")
	}
}

func TestClusterThatCannotStart(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	_, err := embedded.StartCluster(t.Context(), embedded.ClusterConfig{Each: func(i int, c *embedded.Config) {
		if i == 2 {
			c.Extra = "no_such_option: 1"
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "no_such_option") {
		t.Errorf("start with an unknown option: %v", err)
	}
	if left := files(t, tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSuperCluster(t *testing.T) {
	t.Parallel()
	two := embedded.ClusterConfig{Size: 2}
	sc, err := embedded.StartSuperCluster(t.Context(), two, embedded.ClusterConfig{Name: "WEST"})
	must(t, err)
	closeLater(t, sc)
	east := connect(t, sc.Clusters[0].Servers[0].ClientURL())
	if got := east.Conn().ConnectedClusterName(); got != "C1" {
		t.Errorf("cluster %q, want C1", got)
	}
	makeStream(t, east, jetstream.StreamConfig{Name: "S", Replicas: 3, Placement: &jetstream.Placement{Cluster: "WEST"}})
	publish(t, east, "S") // through the gateway
	leader, err := sc.StreamLeader(t.Context(), "", "S")
	must(t, err)
	if !strings.HasPrefix(leader.Name(), "WEST-") || sc.Find(leader.Name()) != leader {
		t.Errorf("the stream's leader is %s, outside its cluster", leader.Name())
	}
	if metaLeader(t, sc.MetaGroup) != metaLeader(t, sc.Clusters[1].MetaGroup) {
		t.Error("the clusters have a meta leader each")
	}
}
