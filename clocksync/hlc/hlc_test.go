package hlc

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/clocksync"
)

// Stamps grow along every chain of events and messages, even if clocks run backwards.
func TestStampsGrowAlongEveryChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var now [2]clocksync.Time
		var clocks [2]*Clock
		for i := range clocks {
			clocks[i] = New(func() clocksync.Time { return now[i] }, time.Hour)
		}
		var last [2]Stamp
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			i := rapid.IntRange(0, 1).Draw(t, "node")
			now[i] += clocksync.Time(rapid.Int64Range(-5, 20).Draw(t, "passes"))
			s := last[i]
			if rapid.Bool().Draw(t, "message") {
				sent := last[1-i]
				got, err := clocks[i].Hear(sent)
				require.NoError(t, err)
				require.True(t, sent.Before(got))
				last[i] = got
			} else {
				last[i] = clocks[i].Now()
			}
			require.True(t, s.Before(last[i]))
		}
	})
}

func TestStampsFollowTheClock(t *testing.T) {
	now := clocksync.Time(1000)
	c := New(func() clocksync.Time { return now }, 0)
	require.Equal(t, Stamp{1000, 0}, c.Now())
	require.Equal(t, Stamp{1000, 1}, c.Now())
	now = 2000
	require.Equal(t, Stamp{2000, 0}, c.Now())
}

func TestHearRefusesTheEndOfTime(t *testing.T) {
	for _, now := range []clocksync.Time{-1, math.MinInt64, 0, 1} {
		c := New(func() clocksync.Time { return now }, 0)
		_, err := c.Hear(Stamp{Time: math.MaxInt64})
		require.ErrorIs(t, err, ErrAhead)
		require.LessOrEqual(t, c.Now().Time, clocksync.Time(1))
	}
}

func TestHearRefusesFutureStamps(t *testing.T) {
	c := New(func() clocksync.Time { return 0 }, time.Second)
	_, err := c.Hear(Stamp{Time: clocksync.Time(time.Second) + 1})
	require.ErrorIs(t, err, ErrAhead)
	require.Equal(t, Stamp{0, 1}, c.Now(), "an error changes nothing")
	s, err := c.Hear(Stamp{clocksync.Time(time.Second), math.MaxUint32})
	require.NoError(t, err)
	require.Equal(t, Stamp{clocksync.Time(time.Second) + 1, 0}, s, "the counter overflows into the time")
}

// Stamps that were heard before allow no others farther ahead: nodes whose clocks are wrong could
// otherwise lead the others to any time, one step after the other.
func TestHeardStampsAllowNoLaterOnes(t *testing.T) {
	c := New(func() clocksync.Time { return 0 }, time.Second)
	_, err := c.Hear(Stamp{Time: clocksync.Time(time.Second)})
	require.NoError(t, err)
	_, err = c.Hear(Stamp{Time: clocksync.Time(time.Second) + 1})
	require.ErrorIs(t, err, ErrAhead)
}

func TestConcurrentStampsAreDistinct(t *testing.T) {
	c := New(func() clocksync.Time { return 7 }, 0)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[Stamp]bool{}
	for range 8 {
		wg.Go(func() {
			for range 200 {
				s := c.Now()
				mu.Lock()
				seen[s] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, seen, 1600)
}
