package bench

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Filters and the usage of processes exist on Linux only.

func TestSplit(t *testing.T) {
	r, err := Split(t.Context(), SplitOptions{Setup: setup(t), Nodes: 4, Count: 1})
	require.NoError(t, err)
	require.Zero(t, r.Failed)
	require.Equal(t, 1, r.Merged.Count)
	require.GreaterOrEqual(t, r.HalvesFresh.Min, r.Notice.Min/2)
	require.Positive(t, r.Merged.Min)
	readable(t, r)
}

func TestIdle(t *testing.T) {
	opt := IdleOptions{Setup: setup(t), Nodes: 3}
	var r *IdleResult
	patiently(&opt.For, func() bool {
		var err error
		r, err = Idle(t.Context(), opt)
		require.NoError(t, err)
		return r.Rounds > 0 && !slices.ContainsFunc(r.Nodes, func(n IdleNode) bool { return n.Sent == 0 })
	})
	require.Len(t, r.Nodes, 3)
	for _, n := range r.Nodes {
		require.Positive(t, n.Sent)
		require.Positive(t, n.Resident)
	}
	require.Positive(t, r.Rounds)
	require.Positive(t, r.Floor)
	readable(t, r)
}
