package delivery

import (
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// stall is the pause that tells a run which waited for a timer from one that
// was slow.
const stall = time.Second

// meter counts handled messages, and closes done with the last.
type meter struct {
	want    int64
	done    chan struct{}
	begun   time.Time
	mallocs uint64
	cpu     time.Duration
	count   atomic.Int64
	last    atomic.Int64 // since begun
	longest atomic.Int64
}

func newMeter(want int) *meter {
	m := &meter{want: int64(want), done: make(chan struct{})}
	runtime.GC()
	m.mallocs, m.cpu = mallocs(), cpu()
	m.begun = time.Now()
	return m
}

func (m *meter) handled() {
	now := int64(time.Since(m.begun))
	pause := now - m.last.Swap(now)
	for old := m.longest.Load(); pause > old && !m.longest.CompareAndSwap(old, pause); old = m.longest.Load() {
	}
	if m.count.Add(1) == m.want {
		close(m.done)
	}
}

// A result is what one run of a path came to.
type result struct {
	perSecond float64
	allocs    float64 // per message, in the client
	cpu       float64 // µs per message, of the client
	pause     time.Duration
}

func (m *meter) result() result {
	took := time.Since(m.begun)
	return result{
		perSecond: float64(m.want) / took.Seconds(),
		allocs:    float64(mallocs()-m.mallocs) / float64(m.want),
		cpu:       float64((cpu() - m.cpu).Nanoseconds()) / 1000 / float64(m.want),
		pause:     time.Duration(m.longest.Load()),
	}
}

func (r result) stalled() bool { return r.pause > stall }

func mallocs() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.Mallocs
}

// cpu is what this process has used, of all cores.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // there is no other way to fail than a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(of []float64) float64 {
	s := slices.Sorted(slices.Values(of))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
