package sim

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// A clock that gets warmer runs straight to its extreme rate and back, and within ρ
// whatever else bends it.
func TestWarmClocks(t *testing.T) {
	rates := func(base int64, f fault.Fault) (rates []float64) {
		c, err := CaseOf(1, Options{Nodes: 1, Calm: true, Duration: 300 * time.Second, Faults: []fault.Fault{
			{Kind: fault.Wander, Node: 1, Rate: float64(base)}, f}})
		require.NoError(t, err)
		w, err := c.World()
		require.NoError(t, err)
		for range 12 {
			require.NoError(t, w.Run(20*time.Second))
			require.LessOrEqual(t, max(w.nodes[0].proc.Clock.Rate(), -w.nodes[0].proc.Clock.Rate()), hardware.Fastest(timed.LAN().MaxDrift))
			rates = append(rates, float64(w.nodes[0].proc.Clock.Rate()))
		}
		return rates
	}
	warm := fault.Fault{Kind: fault.Temperature, Node: 1, Rate: 50_000, For: 200 * time.Second}
	for i, r := range rates(-20_000, warm) {
		at := float64(20 * (i + 1))
		require.InDelta(t, -20_000+max(0, 50_000*(1-math.Abs(at/100-1))), r, 50_000/fault.TemperatureSteps*2, "after %v s", at)
	}
	warm.Rate = 150_000
	require.Contains(t, rates(0, warm), float64(hardware.Fastest(timed.LAN().MaxDrift)), "no further than ρ")
}

func TestTailsMakeLinksSlow(t *testing.T) {
	run := func(faults ...fault.Fault) Counters {
		c, err := CaseOf(1, Options{Calm: true, Duration: 5 * time.Second, Faults: faults})
		require.NoError(t, err)
		r, err := c.Run()
		require.NoError(t, err)
		require.Nil(t, r.Violation)
		return r.Counters
	}
	all := fault.Fault{Kind: fault.Tail, Extra: 100 * time.Millisecond, Rate: 0.5}
	require.Greater(t, run(all).Elections, 2*run().Elections, "nothing is fast any more")
}
