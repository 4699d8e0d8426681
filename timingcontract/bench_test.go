package timingcontract

import "testing"

// BenchmarkEnvelope works out the figures of a contract, and every delivery of
// all three cases with them.
func BenchmarkEnvelope(b *testing.B) {
	c := Contract{Ladder: orphan(), MaxDeliver: 8, Handler: flat(30 * s)}
	c.Handler.Budget = 5 * s
	b.Run("figures", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = c.Envelope()
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "envelopes/s")
	})
	b.Run("deliveries", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = c.Envelope()
			for _, of := range Cases() {
				_ = c.Course(of)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "envelopes/s")
	})
	b.Run("breaches", func(b *testing.B) {
		b.ReportAllocs()
		around := Surroundings{MaxAge: 100 * h, Retention: "limits", Consumers: 6}
		for b.Loop() {
			_ = c.Envelope()
			_ = c.Breaches(around)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "envelopes/s")
	})
}
