package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// Hostile packets get no answer and change nothing. Packets with wrong stamps once made
// nodes blame their clocks and start anew.
func TestAttacksChangeNothing(t *testing.T) {
	s := setup(t)
	s.Timing = timed.WAN() // a busy machine must not change leaders by itself
	r, err := Attack(t.Context(), AttackOptions{Setup: s, Nodes: 3, Count: 2000, Rate: 5000})
	require.NoError(t, err)
	require.Zero(t, r.Total.Replies)
	require.Zero(t, r.Total.Changes)
	require.Len(t, r.Kinds, len(hostile))
	for _, k := range r.Kinds {
		require.Equal(t, uint64(2000), k.Sent, k.Name)
		require.NotZero(t, k.Dropped, k.Name)
	}
	readable(t, r)
}
