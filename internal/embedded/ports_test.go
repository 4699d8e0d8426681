package embedded

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

func occupied(t *testing.T) int {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func TestPortIsPickedAgain(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Leaf: LeafOptions{Listen: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	taken := occupied(t)
	s.ports.leaf = taken
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.ports.leaf == taken {
		t.Errorf("the server kept port %d, which is taken", taken)
	}
}

func TestPortStaysTaken(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Start(ctx, Config{Leaf: LeafOptions{Listen: true, Port: occupied(t)}})
	if !errors.Is(err, errPortTaken) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("start on a port that stays taken: %v", err)
	}
	if !strings.Contains(err.Error(), "Error listening on leafnode port") {
		t.Errorf("the server's own words are missing in: %v", err)
	}
}

func TestClusterPicksOtherPorts(t *testing.T) {
	t.Parallel()
	taken := occupied(t)
	starts := 0
	c, err := StartCluster(t.Context(), ClusterConfig{Size: 2, Each: func(i int, c *Config) {
		if starts++; starts == 1 { // only in the first plan
			c.Leaf = LeafOptions{Listen: true, Port: taken}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if starts != 4 {
		t.Errorf("%d configurations were made, want two plans of two servers", starts)
	}
}
