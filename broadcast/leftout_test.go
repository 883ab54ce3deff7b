package broadcast

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// keepsStampsOfTheLeftOut has so many members broadcast at once that no packet holds a range
// for each of them, so that decisions leave messages out that everybody has. Timed messages
// are in the order of their stamps all the same. Groups of campaigns are too small for that.
func keepsStampsOfTheLeftOut(t testing.TB) {
	const n, messages = 24, 480
	g := newTrio(n, Config{PacketBytes: MinPacketBytes})
	g.keep = true
	leftOut := false
	for k := range messages { // the next decider comes last
		i := k * (n - 1) % n
		g.now = g.now.Add(50 * time.Microsecond)
		_, err := g.cast(i, []byte("x"), Options{TimedOrder, WeakAtomicity})
		require.NoError(t, err)
		skip := g.nodes[i].skipped(g.nodes[i].countRanges(math.MaxInt))
		require.False(t, skip.Has(incarnation(i).Node), "a decider leaves itself out, and the last members always")
		leftOut = leftOut || !skip.Empty()
		g.act(i)
	}
	require.True(t, leftOut, "a decision had room for all")
	g.run(aFewPeriods)
	for i := range n {
		require.Len(t, g.delivered[i], messages)
		for k, d := range g.delivered[i] {
			require.Equal(t, g.delivered[0][k].ID, d.ID)
			if k > 0 {
				require.GreaterOrEqual(t, d.Stamp, g.delivered[i][k-1].Stamp, "member %d, message %d", i, k)
			}
		}
	}
}

func TestTimedMessagesThatDecisionsLeaveOutStayInOrder(t *testing.T) { keepsStampsOfTheLeftOut(t) }
