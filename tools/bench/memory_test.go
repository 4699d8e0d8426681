package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// measuring makes this program run another one and print its peak memory. Linux
// counts the memory of the process that starts a program as the program's own,
// so the one with the broker in it must not be it.
const measuring = "NATSMIG_BENCH_MEASURE"

func TestMain(m *testing.M) {
	if os.Getenv(measuring) == "" {
		os.Exit(m.Run())
	}
	cmd := exec.CommandContext(context.Background(), os.Args[1], os.Args[2:]...)
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n%s", cmd, err, out)
		os.Exit(1)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		fmt.Fprintln(os.Stderr, "the system does not tell the memory of a process")
		os.Exit(1)
	}
	fmt.Println(usage.Maxrss) // Linux counts in KiB
}

// BenchmarkSnapshotMemory runs the program beside the broker, and tells the most
// memory that its process had.
func BenchmarkSnapshotMemory(b *testing.B) {
	srv := startFleet(b)
	natsmig := filepath.Join(b.TempDir(), "natsmig")
	build := exec.CommandContext(b.Context(), "go", "build", "-o", natsmig, "./cmd/natsmig")
	build.Dir = filepath.Join("..", "..")
	build.Stderr = os.Stderr
	must(b, build.Run())
	out := filepath.Join(b.TempDir(), "snapshot.json")
	self, err := os.Executable()
	must(b, err)
	var peaks []float64
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), self, natsmig, "snapshot", "--no-context", "--server", srv.URL(), "-o", out)
		cmd.Env = append(os.Environ(), measuring+"=1")
		text, err := cmd.Output()
		must(b, err)
		kib, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		must(b, err)
		peaks = append(peaks, kib/1024)
	}
	info, err := os.Stat(out)
	must(b, err)
	const limit = 200 // MiB, for 10,000 consumers
	if peak := slices.Max(peaks); peak > limit {
		b.Errorf("peak memory is %.0f MiB, want at most %d", peak, limit)
	}
	b.ReportMetric(slices.Max(peaks), "peak-MiB")
	b.ReportMetric(float64(info.Size())/(1<<20), "file-MiB")
}
