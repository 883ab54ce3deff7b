package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// paced sends pieces of a millisecond each for a minute, while operations come at some
// rate, and at a share of it while a piece is under way. It returns the share of
// operations that did not come, and the share of the time in which pieces were under way.
func paced(rate, during float64) (lost, used float64) {
	const minute, window, piece = 60_000, 100, 10
	var p pace
	var seen float64
	var sent, end timed.Instant
	for ms := range timed.Instant(minute) {
		now := (ms + 1) * timed.Instant(time.Millisecond)
		if now <= end {
			seen += rate * during / 1000
		} else {
			seen += rate / 1000
		}
		for end.Sub(now) < 10*time.Millisecond && p.turn(now, uint64(seen), window, now >= end) {
			p.left -= piece
			sent, end = sent+1, timed.Later(now, end).Add(time.Millisecond)
		}
	}
	return 1 - seen/(rate*minute/1000), float64(sent) / minute
}

func leavesRoom(t testing.TB) {
	for _, during := range []float64{0, 0.3, 0.6, 0.9, 1} {
		lost, used := paced(20_000, during)
		require.LessOrEqual(t, lost, 0.11, "%v", during)
		require.GreaterOrEqual(t, used, 0.09, "%v", during)
	}
	_, used := paced(20_000, 1)
	require.Greater(t, used, 0.8, "operations that lose nothing need no rests")
	_, used = paced(1e-9, 0)
	require.Greater(t, used, 0.94, "no operations come")
}

func TestATransferLeavesRoomForOperations(t *testing.T) { leavesRoom(t) }
