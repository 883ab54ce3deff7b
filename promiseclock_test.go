package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/timed"
)

// promise returns a hold and a verification until 200, made at 100 by a clock that now
// shows 150, and the trust in that clock.
func promise() (h Hold, v Verification, clock *int64, trust *loop.Trust) {
	clock, trust = new(int64), loop.NewTrust(100)
	*clock = 150
	c := hwclock.Of(func() int64 { return *clock })
	b := loop.Basis{Made: 100, Trust: trust}
	h = Hold{until: 200, clock: newPromiseClock(c, b)}
	v = Verification{local: 200, global: 180, clock: newPromiseClock(c, b)}
	return h, v, clock, trust
}

// A promise ends with the trust in the clock that it rests on, and a clock that runs
// backwards does not make it longer.
func promisesEndWithTheClock(t testing.TB) {
	h, v, _, trust := promise()
	require.EqualValues(t, 50, h.ValidFor())
	require.EqualValues(t, 50, v.ValidFor())
	require.EqualValues(t, 30, v.GlobalValidFor())
	trust.Lose()
	require.Zero(t, h.ValidFor())
	require.Zero(t, v.ValidFor()+v.GlobalValidFor())

	h, v, clock, _ := promise()
	*clock = 99
	require.Zero(t, h.ValidFor(), "before it was made")
	require.Zero(t, v.GlobalValidFor())

	h, v, clock, _ = promise()
	require.EqualValues(t, 50, h.ValidFor())
	require.EqualValues(t, 50, v.ValidFor())
	*clock = 140
	require.Zero(t, h.ValidFor())
	require.Zero(t, v.GlobalValidFor())
	*clock = 160
	require.Zero(t, h.ValidFor(), "it is unknown how much time has passed")
	require.Zero(t, v.ValidFor())
	require.Zero(t, Hold{until: 200}.ValidFor())

	h, _, _, _ = promise()
	h.clock.basis.Trust = loop.NewTrust(180) // of a turn before which nobody had asked
	require.Zero(t, h.ValidFor(), "the clock ran backwards")

	h, _, _, _ = promise()
	h.clock.basis.Era-- // the machine has slept since
	require.Zero(t, h.ValidFor())
	h.clock.basis.Era++
	require.Zero(t, h.ValidFor(), "ever again")
}

func TestPromisesEndWithTheTrustInTheClock(t *testing.T) { promisesEndWithTheClock(t) }

// Answers do not rest on a clock that shows less than in the loop's latest turn, nor on
// one that is not trusted any more.
func answersNeedATrustedClock(t testing.TB) {
	s := leading(200, 0)
	s.Trust = loop.NewTrust(100)
	load := func() *loop.Snapshot { return s }
	at := func(now timed.Instant) func() hwclock.Reading {
		return func() hwclock.Reading { return hwclock.Reading{Now: now} }
	}
	require.True(t, leaderFrom(load, at(100)).Leads)
	require.False(t, leaderFrom(load, at(99)).UpToDate)
	require.False(t, viewFrom(load, at(99)).UpToDate)
	lose := func() hwclock.Reading { s.Trust.Lose(); return hwclock.Reading{Now: 150} }
	require.False(t, viewFrom(load, lose).UpToDate)
	require.False(t, leaderFrom(load, at(150)).Leads)
}

func TestAnswersNeedATrustedClock(t *testing.T) { answersNeedATrustedClock(t) }

// promisesAreShared has two goroutines ask one promise at the same time: one of them reads the clock
// first, and is the last to look. The promise goes on.
func promisesAreShared(t testing.TB) {
	now, other := int64(150), func() {}
	clock := hwclock.Of(func() int64 {
		read, ask := now, other
		other = func() {}
		ask()
		return read
	})
	h := Hold{until: 200, clock: newPromiseClock(clock, loop.Basis{Made: 100, Trust: loop.NewTrust(100)})}
	other = func() {
		now = 160
		require.EqualValues(t, 40, h.ValidFor())
	}
	require.EqualValues(t, 50, h.ValidFor())
	require.EqualValues(t, 40, h.ValidFor())
}

func TestOnePromiseIsAskedBySeveral(t *testing.T) { promisesAreShared(t) }
