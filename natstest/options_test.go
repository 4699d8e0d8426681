package natstest_test

import (
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/natsmig/natsmig/natstest"
)

// The store is where the test says, and is left there.
func TestStoreDirIsTheCallers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := natstest.Start(t, natstest.WithStoreDir(dir))
	if _, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S"}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Errorf("the store directory holds %v, %v", entries, err)
	}
}

// A stream that may grow larger than the store is refused.
func TestMaxStore(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithMaxStore(0, 1<<20))
	for size, fits := range map[int64]bool{1 << 19: true, 1 << 21: false} {
		_, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", MaxBytes: size})
		if (err == nil) != fits {
			t.Errorf("a stream of %d bytes in a store of %d: %v", size, 1<<20, err)
		}
		_ = s.JS.DeleteStream(t.Context(), "S") // it may not be there
	}
}

// A placement finds the server by its tags, and by no other.
func TestTags(t *testing.T) {
	t.Parallel()
	c := natstest.StartCluster(t, 3, natstest.WithTags("az:one"))
	js := c.Brokers[0].Connect().JS
	for tag, found := range map[string]bool{"az:one": true, "az:two": false} {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Placement: &jetstream.Placement{Tags: []string{tag}}})
		if (err == nil) != found {
			t.Errorf("placement by %s: %v", tag, err)
		}
		_ = js.DeleteStream(t.Context(), "S") // it may not be there
	}
}

// A client without credentials becomes the user that is named for it.
func TestNoAuthUser(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.WithUser("u", "p"), natstest.WithNoAuthUser("guest"), natstest.WithAccounts(
		natstest.Account{Name: "A", Users: []natstest.User{{Name: "u", Password: "p"}}},
		natstest.Account{Name: "B", Users: []natstest.User{{Name: "guest", Password: "g"}}},
	))
	if _, err := s.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S"}); err != nil {
		t.Fatal(err)
	}
	guest := s.Connect()
	guest.WaitConnected(5 * time.Second)
	if _, err := guest.JS.Stream(t.Context(), "S"); err == nil {
		t.Error("the guest sees the stream of account A")
	}
}
