package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
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

// settled returns a world at rest, in which all nodes share a view.
func settled(t testing.TB) *World {
	return settledWith(t, Options{})
}

// settledWith is settled for other options.
func settledWith(t testing.TB, opt Options) *World {
	opt.Calm, opt.Duration = true, time.Hour
	w := newWorld(1, opt.withDefaults())
	require.True(t, w.runUntil(w.now+int64(w.bounds.View+w.bounds.Rejoin)))
	return w
}

// event performs one event of a node: events that nobody is there for, or that
// come to nothing, do not count.
func (w *World) event() bool {
	for before := w.events; w.events == before; {
		if !w.step() {
			return false
		}
	}
	return true
}

// BenchmarkEvent reports what one event costs in a world at rest: packets,
// timers, and all checks.
func BenchmarkEvent(b *testing.B) {
	w := settled(b)
	b.ReportAllocs()
	for b.Loop() {
		if !w.event() {
			b.Fatal(w.failed)
		}
	}
}

func TestEventsOfAWorldAtRestAllocateNothing(t *testing.T) {
	for _, opt := range []Options{{}, {Broadcast: &Broadcast{Quiet: true}}, {Nodes: 9, Collation: leader.Collation{Above: 3, Fanout: 2}}} {
		w := settledWith(t, opt)
		least := 1.0
		for i := 0; i < 5 && least > 0; i++ { // more packets may be on their way at once than ever before
			least = min(least, testing.AllocsPerRun(1, func() { // of one run, because the average is rounded down
				for range 20_000 {
					require.True(t, w.event())
				}
			}))
		}
		require.Zero(t, least)
	}
}
