package rehearse_test

import (
	"fmt"
	"testing"

	"github.com/natsmig/natsmig/audit"
	"github.com/natsmig/natsmig/audit/rehearse"
)

// BenchmarkRehearse rehearses the declarations of 200 durables on ten streams,
// the start of the broker included. Eight in ten change something, one in ten is
// refused, and one is as it is.
func BenchmarkRehearse(b *testing.B) {
	w := fleetOf(b, 10, 20)
	f := w.fleet(b)
	for b.Loop() {
		r, err := rehearse.Run(b.Context(), f, w.declared, rehearse.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if r.Summary.Agree != 200 {
			b.Fatalf("summary %+v", r.Summary)
		}
	}
}

func fleetOf(t testing.TB, streams, durables int) *world {
	t.Helper()
	w := &world{}
	for i := range streams {
		stream := fmt.Sprintf("ORDERS-%d", i)
		var live []string
		for k := range durables {
			live = append(live, fmt.Sprintf(`{"durable_name": "worker-%d", "ack_policy": "explicit", "ack_wait": 30000000000, "max_deliver": 5, "filter_subject": "orders.%d.%d.>"}`, k, i, k))
			declared := fmt.Sprintf(`{"durable_name": "worker-%d", "ack_policy": "explicit", "max_deliver": %d, "filter_subject": "orders.%d.%d.>"}`, k, 6+k, i, k)
			switch k % 10 {
			case 0:
				declared = live[k]
			case 1:
				declared = fmt.Sprintf(`{"durable_name": "worker-%d", "ack_policy": "all"}`, k)
			}
			w.declare(t, audit.Replace, stream, declared)
		}
		w.stream(fmt.Sprintf(`{"name": %q, "subjects": ["orders.%d.>"], "retention": "limits", "num_replicas": 1}`, stream, i), live...)
	}
	return w
}
