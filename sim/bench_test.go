package sim

import (
	"testing"
	"time"
)

// BenchmarkRun reports simulated events per second with five nodes and moderate
// faults.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	var events uint64
	for i := 0; i < b.N; i++ {
		r, err := Run(uint64(i)+1, Options{Duration: 20 * time.Second})
		if err != nil || r.Violation != nil {
			b.Fatal(err, r.Violation)
		}
		events += r.Events
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
