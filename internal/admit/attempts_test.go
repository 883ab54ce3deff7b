package admit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func attemptsHaveLimits(t testing.TB) {
	var a Attempts
	now := timed.Instant(time.Hour)
	count := func(id timed.NodeID, at bool) (n int) {
		for range 10_000 {
			if a.Allow(now, id, at) {
				n++
			}
		}
		return n
	}
	for range 10_000 {
		a.AllowForeign(now)
	}
	require.False(t, a.AllowForeign(now))
	require.True(t, a.Allow(now, 2, false), "packets of other groups do not count")
	require.Equal(t, otherBurst-1, count(2, false))
	require.Equal(t, 0, count(3, false), "all others share one limit")
	require.Equal(t, knownBurst, count(2, true))
	require.Equal(t, knownBurst, count(3, true), "each peer has its own")
	now = now.Add(10 * knownEvery)
	require.Equal(t, 10, count(2, true))
	require.Equal(t, int(10*knownEvery/otherEvery), count(9, false))
	now = now.Add(time.Hour)
	require.Equal(t, otherBurst, count(2, false))
}

// A clock that ran backwards shuts nobody out.
func attemptsOfABackwardClock(t testing.TB) {
	var a Attempts
	require.True(t, a.Allow(timed.Instant(time.Hour), 2, true))
	a.Allow(1, 2, true)
	require.True(t, a.Allow(2, 2, true))
}
