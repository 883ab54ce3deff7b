package random

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The mean is 1 for any index, and the tail is heavier for a larger index.
func TestTails(t *testing.T) {
	last := 0.0
	for _, index := range []float64{0, 0.2, 0.45} {
		const n = 1 << 17
		s, sum, all := New(1, Tails), 0.0, make([]float64, n)
		for i := range all {
			all[i] = s.Tailed(index)
			require.GreaterOrEqual(t, all[i], 0.0)
			sum += all[i]
		}
		require.InDelta(t, 1, sum/n, 0.05, index)
		slices.Sort(all)
		most := all[n-n/10_000]
		require.Greater(t, most, 1.3*last, index)
		last = most
	}
	require.LessOrEqual(t, New(1, 1).Tail(1e300, MaxIndex), int64(maxTail))
}
