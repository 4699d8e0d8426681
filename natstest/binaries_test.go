package natstest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/natsmig/natsmig/natstest"
)

func TestBinaries(t *testing.T) {
	dir := t.TempDir()
	fake := &fakeTB{TB: t}
	if failures := fake.run(func() { natstest.Binaries(fake, dir) }); len(failures) != 1 {
		t.Errorf("an empty folder: failures %v, want one", failures)
	}
	want := []string{filepath.Join(dir, "nats-server-2.11.17"), filepath.Join(dir, "nats-server-2.9.25")}
	for _, path := range append(want, filepath.Join(dir, "README")) {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := natstest.Binaries(t, dir); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
