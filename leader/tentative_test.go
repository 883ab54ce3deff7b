package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A tentative incarnation is not ready before it has settled, and then waits no longer than
// any other.
func tentativeWaits(t testing.TB) {
	const start timed.Instant = 1e12
	for _, settled := range []time.Duration{time.Millisecond, time.Hour} {
		timing := timed.LAN()
		e := New(Config{Self: timed.Incarnation{Node: 1, Boot: 1}, Timing: timing, Tentative: true}, start)
		require.False(t, e.Ready(start.Add(24*time.Hour)))
		require.Empty(t, e.HandleTimeout(start.Add(time.Minute), nil))
		require.Equal(t, timed.Never, e.Deadline(), "it has nothing to do")
		e.Settle(start.Add(settled))
		at := start.Add(max(settled, timing.ReadyTime()))
		require.Equal(t, at, e.ReadyAt())
		e.Settle(start.Add(2 * settled))
		require.Equal(t, at, e.ReadyAt(), "it settles once")
		require.Equal(t, at.Add(e.grace()), e.Deadline(), "and listens before it asks for votes")
	}
}

func TestTentativeIncarnationsWait(t *testing.T) { tentativeWaits(t) }
