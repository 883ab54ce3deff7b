package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func TestLatenessEndsWhenTheNodeIsTimely(t *testing.T) { lateEnds(t) }

func lateEnds(t testing.TB) {
	e, _, now := readyVoter()
	expires := timed.LAN().Expires
	require.False(t, e.Late(now))
	e.NoteLate(now)
	require.True(t, e.Late(now.Add(expires-1)))
	require.True(t, e.DoubtsSilence(now.Add(expires-1)))
	require.False(t, e.Late(now.Add(expires)))
	for range 3 {
		now = now.Add(expires - 1)
		e.NoteLate(now)
	}
	require.True(t, e.Late(now))
	require.False(t, e.DoubtsSilence(now), "it is late for long")
	now = now.Add(expires)
	e.NoteLate(now)
	require.True(t, e.DoubtsSilence(now), "it was timely between")
}

func TestALateNodeBlocksNoRoundInStrict(t *testing.T) { lateBlocksNothing(t) }

// lateBlocksNothing has node 1 ask nodes 2 and 3, of which 3 says nothing.
func lateBlocksNothing(t testing.TB) {
	for _, late := range []bool{false, true} {
		e := New(Config{Self: incarnation(1), Timing: timed.LAN(), Mode: Strict}, start)
		now, alive := e.ReadyAt().Add(time.Second), timed.SetOf(2, 3)
		for id := range alive.All() {
			e.NoteState(start, incarnation(id), &State{MaxLock: timed.LAN().MaxLockTime, Late: late && id == 3})
		}
		timeout(e, now, alive)
		require.NotZero(t, e.LastRequest())
		e.HandleReply(now+1, incarnation(2), Reply{Number: e.LastRequest(), Support: true}, true, nil)
		require.False(t, e.Leads(now+1), "node 3 may still answer")
		alarm := deadline(e, alive)
		timeout(e, alarm, alive)
		require.Equal(t, late, e.Leads(alarm))
	}
}
