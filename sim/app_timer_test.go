package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// A timer runs on the node's hardware clock: never early, and late only as
// processes are.
func TestTimerIsNeverEarly(t *testing.T) {
	fired := 0
	start := func(n *Node) Handlers {
		var again func()
		again = func() {
			d := time.Duration(n.Random(int64(100 * time.Millisecond)))
			due := n.Instant().Add(d)
			n.After(d, func() {
				fired++
				require.GreaterOrEqual(t, n.Instant(), due)
				again()
			})
		}
		again()
		return Handlers{}
	}
	for seed := uint64(1); seed <= 10; seed++ {
		w, err := New(seed, Options{Roughness: 3, BrokenClocks: seed%2 == 0, App: only(start)})
		require.NoError(t, err)
		require.NoError(t, w.Run(8*time.Second))
		require.LessOrEqual(t, len(w.app.timers), len(w.nodes), "timers are used again")
	}
	require.Greater(t, fired, 1_000)
}

func TestTimerIsPunctual(t *testing.T) {
	w := calm(t, 1, nil)
	n := w.Node(1)
	fired := false
	due := n.Instant().Add(time.Second)
	n.After(time.Second, func() {
		fired = true
		require.Less(t, n.Instant().Sub(due), w.opt.Timing.SchedulingDelay)
	})
	require.NoError(t, w.Run(2*time.Second))
	require.True(t, fired)
	n.After(-time.Second, func() { fired = false })
	require.True(t, fired, "not from inside of the call")
	require.NoError(t, w.Run(2*w.opt.Timing.SchedulingDelay))
	require.False(t, fired)
	n.After(1<<63-1, func() { t.Error("it overflows") })
	require.NoError(t, w.Run(time.Minute))
}

// A process whose timer starts itself anew does not stop the world.
func TestTimersLetTimePass(t *testing.T) {
	w := calm(t, 1, nil)
	n := w.Node(1)
	count := 0
	var again func()
	again = func() { count++; n.After(0, again) }
	again()
	before := w.Time()
	require.NoError(t, w.Run(10*time.Millisecond))
	require.Equal(t, 10*time.Millisecond, w.Time()-before)
	require.LessOrEqual(t, count, 10_001)
}

func TestTimerStop(t *testing.T) {
	w := calm(t, 1, nil)
	n := w.Node(1)
	first := n.After(time.Millisecond, func() { t.Error("it was stopped") })
	require.True(t, first.Stop())
	require.False(t, first.Stop())
	fired := false
	second := n.After(5*time.Millisecond, func() { fired = true })
	require.False(t, first.Stop(), "the other has its place")
	require.NoError(t, w.Run(50*time.Millisecond))
	require.True(t, fired)
	require.False(t, second.Stop())
	require.False(t, Timer{}.Stop())
	third := n.After(time.Millisecond, func() {})
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Crash, Node: 1}))
	require.False(t, third.Stop())
}

func TestTimerWaitsForStall(t *testing.T) {
	w := calm(t, 2, nil)
	n := w.Node(1)
	var at time.Duration
	n.After(time.Second, func() { at = w.Time() })
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Stall, Node: 1, For: 3 * time.Second}))
	began := w.Time()
	require.NoError(t, w.Run(2*time.Second))
	require.Zero(t, at)
	w.Mend() // ends the stall
	require.NoError(t, w.Run(time.Second))
	require.InDelta(t, float64(began+2*time.Second), float64(at), float64(w.opt.Timing.SchedulingDelay))

	at = 0
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Stall, Node: 1, For: 3 * time.Second}))
	n.After(time.Second, func() { at = w.Time() })
	began = w.Time()
	require.NoError(t, w.Run(5*time.Second))
	require.InDelta(t, float64(began+3*time.Second), float64(at), float64(w.opt.Timing.SchedulingDelay))
}

func TestTimerFollowsBrokenClock(t *testing.T) {
	fires := func(f fault.Fault) time.Duration {
		w, err := New(1, Options{Calm: true, Nodes: 1, BrokenClocks: true})
		require.NoError(t, err)
		at := time.Duration(Never)
		n := w.Node(1)
		due := n.Instant().Add(10 * time.Second)
		n.After(10*time.Second, func() {
			at = w.Time()
			require.GreaterOrEqual(t, n.Instant(), due)
		})
		require.NoError(t, w.Run(time.Second))
		f.Node = 1
		require.NoError(t, w.Inject(f))
		require.NoError(t, w.Run(30*time.Second))
		return at.Round(100 * time.Millisecond)
	}
	require.Equal(t, 10*time.Second, fires(fault.Fault{Kind: fault.Wander, Rate: 0}))
	require.Equal(t, 7*time.Second, fires(fault.Fault{Kind: fault.ClockRate, Rate: 5e8, For: time.Hour}))
	require.Equal(t, 15*time.Second, fires(fault.Fault{Kind: fault.ClockStop, For: 5 * time.Second}))
	require.Equal(t, Never.Round(100*time.Millisecond), fires(fault.Fault{Kind: fault.ClockStop}))
	require.Equal(t, 3*time.Second, fires(fault.Fault{Kind: fault.ClockJump, Extra: 7 * time.Second}))
	require.Equal(t, 12*time.Second, fires(fault.Fault{Kind: fault.ClockJump, Extra: -2 * time.Second}))
}

// Processes that crash leave no timers behind.
func TestTimersOfTheDeadAreFree(t *testing.T) {
	w := calm(t, 2, func(n *Node) Handlers {
		for range 10 {
			n.After(fault.MaxDuration, func() {})
		}
		return Handlers{}
	})
	for range 50 {
		require.NoError(t, w.Inject(fault.Fault{Kind: fault.Crash, Node: 2, For: time.Millisecond}))
		require.NoError(t, w.Run(10*time.Millisecond))
	}
	require.Len(t, w.app.timers, 20)
	require.Equal(t, timed.NodeID(2), w.Node(2).ID())
}
