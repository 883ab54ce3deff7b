package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/timed"
)

// readyEarly reports whether a process that finds a longer vote in its state directory
// may vote before that is over, when its machine is suspended meanwhile. It demands that
// the process takes part in the end.
func readyEarly(t *testing.T) (early bool) {
	const vote = 2 * time.Second
	w, err := New(1, Options{Nodes: 3, Calm: true, Duration: time.Minute})
	require.NoError(t, err)
	n := w.nodes[0]
	require.NoError(t, w.Run(time.Second))
	w.crash(n)
	n.longestVote = vote
	w.restart(n)
	require.NoError(t, w.Run(time.Millisecond))
	w.distrust(n, life.Suspended)
	for range vote / (10 * time.Millisecond) {
		early = early || n.proc.Up && n.proc.Stack.Election().Ready(n.proc.Clock.Show(w.now))
		require.NoError(t, w.Run(10*time.Millisecond))
	}
	require.NoError(t, w.Run(time.Second))
	require.Equal(t, timed.SetOf(1, 2, 3), n.proc.Stack.Membership().View().Set)
	return early
}

func TestLongerVotesAreWaitedForOverASuspend(t *testing.T) { require.False(t, readyEarly(t)) }
