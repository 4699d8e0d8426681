package embedded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/internal/embedded"
)

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, filepath.Join(dir, e.Name()))
	}
	return names
}

func TestLeaf(t *testing.T) {
	onEachKind(t, func(t *testing.T, binary string) {
		hub := start(t, embedded.Config{Binary: binary, Domain: "hub", Leaf: embedded.LeafOptions{Listen: true}})
		leaf := startLeaf(t, embedded.Config{Binary: binary, Domain: "edge"}, hub)
		onHub := connect(t, hub.ClientURL())
		edge, err := jetstream.NewWithDomain(onHub.Conn(), "edge")
		must(t, err)
		makeStream(t, edge, jetstream.StreamConfig{Name: "S"}) // at once: the hub must know the domain
		if got := messages(t, connect(t, leaf.ClientURL())); got != 0 {
			t.Errorf("messages: %d, want 0", got)
		}
		if _, err := onHub.Stream(t.Context(), "S"); err == nil {
			t.Error("the stream is in the hub's domain too")
		}
		must(t, hub.Restart(t.Context()))
		must(t, leaf.WaitLeaf(t.Context()))
	})
}

func TestLeafJoinsAccounts(t *testing.T) {
	t.Parallel()
	account := func(name, user string) []embedded.Account {
		return []embedded.Account{{Name: name, Users: []embedded.User{{Name: user, Password: "pw"}}}}
	}
	hub := start(t, embedded.Config{Domain: "hub", Accounts: account("CENTRAL", "central"), Leaf: embedded.LeafOptions{Listen: true}})
	c := embedded.Config{Domain: "edge", Accounts: account("LOCAL", "local")}
	c.Leaf.Remotes = []embedded.LeafRemote{{User: "central", Password: "pw", Account: "LOCAL"}}
	leaf := startLeaf(t, c, hub)
	makeStream(t, connect(t, leaf.ClientURL(), nats.UserInfo("local", "pw")), jetstream.StreamConfig{Name: "S"})
	edge, err := jetstream.NewWithDomain(connect(t, hub.ClientURL(), nats.UserInfo("central", "pw")).Conn(), "edge")
	must(t, err)
	if got := messages(t, edge); got != 0 {
		t.Errorf("messages: %d, want 0", got)
	}
}

func startLeaf(t *testing.T, c embedded.Config, hub *embedded.Server) *embedded.Server {
	t.Helper()
	leaf, err := embedded.StartLeaf(t.Context(), c, hub)
	must(t, err)
	closeLater(t, leaf)
	return leaf
}

func TestLeafNeedsHub(t *testing.T) {
	t.Parallel()
	hub := start(t, embedded.Config{})
	_, err := embedded.StartLeaf(t.Context(), embedded.Config{}, hub)
	if err == nil || !strings.Contains(err.Error(), "does not listen") {
		t.Errorf("leaf of a hub that does not listen: %v", err)
	}
}
