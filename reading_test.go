package failaware

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
)

// A reading that would run back is held, and its bounds grow by the difference.
func TestReadingsNeverRunBack(t *testing.T) {
	var shown atomic.Int64
	first := shownAfter(&shown, Reading{Time: 1000, Deviation: 10})
	require.Equal(t, clocksync.Time(1000), first.Time)
	held := shownAfter(&shown, Reading{Time: 900, Deviation: 10})
	require.Equal(t, clocksync.Time(1000), held.Time)
	require.Equal(t, 110*time.Nanosecond, held.Deviation)
	require.Equal(t, 150*time.Nanosecond, shownAfter(&shown, Reading{Time: 900, UTCBound: 50}).UTCBound)
	none := shownAfter(&shown, Reading{Time: 900, Deviation: clocksync.UnknownBound})
	require.Equal(t, clocksync.UnknownBound, none.Deviation)
	require.Equal(t, clocksync.Time(1001), shownAfter(&shown, Reading{Time: 1001}).Time)
}

// A node whose clock follows no timeline yet may follow that of the reading later, so it waits.
func unsynchronizedWaits(t testing.TB) {
	n := startNode(t, Config{ID: 1, Timing: WAN()}) // not even ready
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	err := n.CommitWait(ctx, Reading{Timeline: TimelineID{Leader: 2, Boot: 1, Sequence: 1}, Status: clocksync.Internal})
	if n.Clock().Timeline.None() {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

func TestCommitWaitOfAClockThatIsNotSynchronized(t *testing.T) { unsynchronizedWaits(t) }

func TestReadingsNeverRunBackBetweenReaders(t *testing.T) {
	var shown atomic.Int64
	var wg sync.WaitGroup
	for r := range 4 {
		wg.Go(func() {
			last := clocksync.Time(0)
			for i := range 20000 {
				got := shownAfter(&shown, Reading{Time: clocksync.Time(i + r*100 - (i%7)*300)}).Time
				if got < last {
					t.Errorf("%d after %d", got, last)
					return
				}
				last = got
			}
		})
	}
	wg.Wait()
}

// The bound around the middle of a reference's interval covers the interval.
func TestReferencesAreWithinTheirBound(t *testing.T) {
	for _, width := range []clocksync.Time{0, 1, 2, 3, 10, 11} {
		for _, shown := range []GroupTime{90, 100, 107} {
			x := clocksync.ReferenceInfo{Low: 100, High: 100 + width}
			var r ReferenceStatus
			r.take(&x, shown)
			require.LessOrEqual(t, r.Offset-r.Bound, x.Low.Sub(shown))
			require.GreaterOrEqual(t, r.Offset+r.Bound, x.High.Sub(shown))
		}
	}
}
