package datagram

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// The limit of stamps keeps the arithmetic of the bounds from wrapping.
func TestBoundsOfExtremeStampsDoNotWrap(t *testing.T) {
	for _, rho := range []timed.Drift{0, 100_000, timed.MaxDrift} {
		far := bound(Pair{Sent: 1, Received: MaxStamp}, 1, MaxStamp, rho, 0)
		require.Greater(t, far, 2*MaxStamp.Sub(2)/2, "the longest delay between two stamps")
		require.Positive(t, far)
		near := bound(Pair{Sent: MaxStamp, Received: 1}, MaxStamp, 1, rho, timed.MaxDuration)
		require.Negative(t, near)
		require.True(t, Pair{MaxStamp, 1}.better(Pair{1, MaxStamp}, rho))
		require.False(t, Pair{1, MaxStamp}.better(Pair{MaxStamp, 1}, rho))
	}
}
