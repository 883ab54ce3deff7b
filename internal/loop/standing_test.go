package loop

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/timed"
)

// waiting counts the commands that wait for a loop, and leaves them there.
func (l *Loop) waiting() int {
	all := l.commands.Take()
	for _, c := range all {
		l.commands.Put(c)
	}
	return len(all)
}

// A caller that gives up while the loop stands, as with a full disk, leaves nothing behind: there
// may be as many as there are requests to the API in hours.
func TestCallersThatGaveUpLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newTestLoop(t)
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			require.ErrorIs(t, l.Resign(ctx, timed.NoNode), context.DeadlineExceeded)
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			for range 2 {
				_, err := l.Verify(ctx, 2, time.Millisecond)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			cancel()
			require.Nil(t, l.Status())
			require.Zero(t, l.References())
		}
		require.Zero(t, l.waiting())
	})
}

// A question is asked again and again, and waits once for a loop that stands. Its caller is
// forgotten, also if the loop had come to an earlier one.
func TestAQuestionWaitsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, c := newTestLoop(t)
		l.driver.routes.known.Add(2)
		l.driver.stack.AddPeer(l.driver.clock.now, 2)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		gaveUp := make(chan error, 1)
		go func() {
			_, err := l.Verify(ctx, 2, time.Millisecond)
			gaveUp <- err
		}()
		synctest.Wait()
		step(l, c)
		require.Len(t, l.driver.asked, 1)
		time.Sleep(time.Minute)
		require.Equal(t, 1, l.waiting())
		cancel()
		require.ErrorIs(t, <-gaveUp, context.Canceled)
		require.Equal(t, 1, l.waiting())
		step(l, c)
		require.Empty(t, l.driver.asked)
	})
}

// Of the samples of a reference the last counts, with the era in which it was measured, and there
// are no more than references count.
func TestTheLastSamplesWait(t *testing.T) {
	l, c := newTestLoop(t)
	d := l.driver
	for n := range clocksync.Time(1000) {
		l.HandleSample(clocksync.Sample{Low: 1e18 + n, High: 1e18 + n, At: c.instant(), Source: 1}, d.clock.era)
		l.HandleSample(clocksync.Sample{Low: 1e18, High: 1e18 + 5000, At: c.instant(), Source: 2}, d.clock.era+1)
	}
	require.Equal(t, 1, l.waiting())
	d.turn(nil, l.cfg.Clock.Read())
	list := d.stack.Clock().References(d.clock.now)
	require.Len(t, list, 1)
	require.EqualValues(t, 1e18+999, list[0].Low)

	for n := range clocksync.SourceID(1000) {
		l.HandleSample(clocksync.Sample{Low: 1e18, High: 1e18 + 5000, At: c.instant(), Source: n + 1}, d.clock.era)
	}
	d.turn(nil, l.cfg.Clock.Read())
	require.Len(t, d.stack.Clock().References(d.clock.now), clocksync.MaxReferences)
}

// However often the verdict on the clock's rate changes while the loop stands, an incarnation that
// had a faulty clock ends, and the last verdict counts.
func TestTheLastVerdictAndAFaultyOneWait(t *testing.T) {
	for last, fine := range map[hwclock.Verdict]bool{hwclock.RateFine: true, hwclock.RateSuspect: true, hwclock.RateFaulty: false, hwclock.RateUnknown: false} {
		l, c := newTestLoop(t)
		boot := l.Snapshot().Self.Boot
		l.JudgeRate(hwclock.RateFine)
		step(l, c)
		require.Equal(t, boot, l.Snapshot().Self.Boot)
		for range 100 {
			l.JudgeRate(hwclock.RateFine)
			l.JudgeRate(hwclock.RateFaulty)
		}
		l.JudgeRate(last)
		require.Equal(t, 1, l.waiting())
		require.LessOrEqual(t, len(l.verdicts.all), 3)
		step(l, c)
		require.NotEqual(t, boot, l.Snapshot().Self.Boot)
		require.Equal(t, fine, l.driver.life.BeginAt(false) < timed.Never, last)
	}
}

// A node leaves once, however often it is told to.
func TestANodeIsToldOnceToLeave(t *testing.T) {
	l, c := newTestLoop(t)
	for range 100 {
		l.Leave(false)
	}
	require.Equal(t, 1, l.waiting())
	step(l, c)
	require.True(t, l.driver.life.Leaving())
	l.Leave(true)
	require.Zero(t, l.waiting())
}
