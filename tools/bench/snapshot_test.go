package bench

import (
	"bytes"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/jsm.go"
	"github.com/nats-io/nats.go"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/broker"
)

func indexAfter(data []byte, key string) int {
	at := bytes.Index(data, []byte(key))
	if at < 0 {
		return -1
	}
	return at + len(key)
}

// jsmSnapshot lists as users of jsm.go do.
func jsmSnapshot(nc *nats.Conn) (int, error) {
	m, err := jsm.New(nc)
	if err != nil {
		return 0, err
	}
	n := 0
	var failed error
	_, _, err = m.EachStream(nil, func(s *jsm.Stream) {
		if _, _, err := s.EachConsumer(func(*jsm.Consumer) { n++ }); err != nil {
			failed = err
		}
	})
	if err != nil {
		return n, err
	}
	return n, failed
}

func natsmigSnapshot(b *testing.B, nc *nats.Conn) *audit.Snapshot {
	b.Helper()
	s, err := audit.Take(b.Context(), []audit.Source{{Name: "cell", Conn: nc}}, audit.TakeOptions{})
	must(b, err)
	n := 0
	for _, st := range s.Cells[0].Streams {
		n += len(st.Consumers)
	}
	if n != consumers || !s.Cells[0].Complete {
		b.Fatalf("%d consumers, missing %v", n, s.Cells[0].Missing)
	}
	return s
}

// BenchmarkSnapshot reads 10,000 consumers in three ways. Each round does all
// three, one after another and beginning with another one each time, so that
// they have the same machine; the ratios are medians over the rounds.
func BenchmarkSnapshot(b *testing.B) {
	srv := startFleet(b)
	nc := connect(b, srv)
	ways := []way{
		{"natsmig", func(b *testing.B) { natsmigSnapshot(b, nc) }},
		{"raw", func(b *testing.B) {
			n, err := rawSnapshot(nc)
			must(b, err)
			if n < consumers*100 {
				b.Fatalf("only %d bytes came", n)
			}
		}},
		{"jsm", func(b *testing.B) {
			n, err := jsmSnapshot(nc)
			must(b, err)
			if n != consumers {
				b.Fatalf("%d consumers", n)
			}
		}},
	}
	b.ResetTimer()
	took := make([][]time.Duration, len(ways))
	for round := 0; b.Loop(); round++ {
		for k := range ways {
			w := (round + k) % len(ways)
			runtime.GC() // nobody pays for another's garbage
			start := time.Now()
			ways[w].run(b)
			took[w] = append(took[w], time.Since(start))
		}
	}
	for i, w := range ways {
		b.ReportMetric(milliseconds(median(took[i])), w.name+"-ms")
	}
	b.ReportMetric(medianRatio(took[0], took[1]), "natsmig/raw")
	b.ReportMetric(medianRatio(took[2], took[0]), "jsm/natsmig")
	b.ReportMetric(0, "ns/op")
}

type way struct {
	name string
	run  func(*testing.B)
}

func median[T time.Duration | float64](all []T) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// medianRatio is the median of the ratios of pairs.
func medianRatio(a, b []time.Duration) float64 {
	var ratios []float64
	for i := range a {
		ratios = append(ratios, float64(a[i])/float64(b[i]))
	}
	return median(ratios)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// written is a snapshot of the fleet as a file.
func written(b *testing.B) []byte {
	b.Helper()
	srv := startFleet(b)
	var file bytes.Buffer
	must(b, natsmigSnapshot(b, connect(b, srv)).Write(&file))
	return file.Bytes()
}

func BenchmarkSnapshotFile(b *testing.B) {
	file := written(b)
	snap, err := audit.ReadSnapshot("snapshot.json", file)
	must(b, err)
	for _, w := range []way{
		{"Write", func(b *testing.B) { must(b, snap.Write(io.Discard)) }},
		{"Read", func(b *testing.B) {
			_, err := audit.ReadSnapshot("snapshot.json", file)
			must(b, err)
		}},
		{"Index", func(b *testing.B) {
			_, err := audit.Index(snap, broker.Version{})
			must(b, err)
		}},
	} {
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				w.run(b)
			}
			b.ReportMetric(float64(b.N*consumers)/b.Elapsed().Seconds(), "consumers/s")
		})
	}
}
