package natstest

import (
	"path/filepath"
	"testing"
)

// Binaries lists the programs nats-server-<version> in a folder, for
// [WithBinary]. A folder without any fails the test: nothing is skipped
// silently.
func Binaries(tb testing.TB, dir string) []string {
	tb.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "nats-server-*"))
	if err != nil || len(found) == 0 {
		tb.Fatalf("%s holds no nats-server-<version> (%v)", dir, err)
	}
	return found
}
