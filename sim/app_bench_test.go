package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// listener is an application that hears everything and looks at its node at
// every event.
func listener(w *World) App {
	heard := 0
	return App{
		Start: func(n *Node) Handlers {
			var again func()
			again = func() { heard++; n.After(50*time.Millisecond, again) }
			again()
			return Handlers{View: func(*membership.View, bool) { heard++ }, Leader: func(bool, timed.NodeID) { heard++ },
				Peer: func(timed.NodeID, bool) { heard++ }}
		},
		Invariants: []Invariant{{"led", func() error { w.Leaders(); return nil }}},
	}
}

// In the steady state an application that listens costs no allocation.
func TestListeningAllocatesNothing(t *testing.T) {
	w, err := New(1, Options{Calm: true, App: listener})
	require.NoError(t, err)
	require.NoError(t, w.Run(time.Minute))
	events := w.events
	require.Zero(t, testing.AllocsPerRun(10, func() { w.runUntil(w.now + int64(2*time.Second)) }))
	require.Greater(t, w.events, events+10_000)
}

// BenchmarkRunWithApplication is BenchmarkRun with an application attached.
func BenchmarkRunWithApplication(b *testing.B) {
	for name, app := range map[string]func(*World) App{"listens": listener, "speaks": only(chatter("hello"))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var events uint64
			for i := range b.N {
				r, err := Run(uint64(i)+1, Options{App: app})
				if err != nil || r.Violation != nil {
					b.Fatal(err, r.Violation)
				}
				events += r.Events
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
