package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/sim/internal/check"
	"github.com/failaware/failaware/timed"
)

// A clock that breaks ρ is noticed: its node disagrees with its peers and blames
// itself, and half of them name it, often before the others have evidence. Its incarnations wait longer and longer.
func TestBrokenClockIsNoticed(t *testing.T) {
	for _, times := range []int64{-20, 10, 50} {
		w := newWorld(1, Options{Calm: true, Duration: time.Minute}.withDefaults())
		require.True(t, w.runUntil(w.now+int64(w.bounds.View+w.bounds.Rejoin)))
		bad := w.nodes[2]
		blamed, named := false, timed.Set{}
		w.check.Faults = func(n *check.Process, e *stack.Event) {
			switch {
			case e.Kind == stack.EventRestart && n == &bad.proc:
				blamed = true
			case e.Kind == stack.EventClockFault && n != &bad.proc && e.Peer == bad.proc.ID:
				named.Add(n.ID)
			case e.Kind == stack.EventRestart:
				t.Errorf("node %d blames itself for the clock of node %d", n.ID, bad.proc.ID)
			}
		}
		bad.proc.Clock.Bend(w.now, times*int64(w.opt.Timing.MaxDrift))
		for range 3000 {
			if blamed && 2*named.Len() >= len(w.nodes)-1 {
				break
			}
			w.runUntil(w.now + int64(100*time.Millisecond))
		}
		require.True(t, blamed, "a clock at %d ρ", times)
		require.GreaterOrEqual(t, 2*named.Len(), len(w.nodes)-1)
	}
}
