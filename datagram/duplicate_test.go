package datagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// claim lets peers answer every 10 ms for d, and returns when the node has to
// stop, or 0.
func claim(s *Service, from, d time.Duration, answer func(now timed.Instant)) time.Duration {
	for ; from <= d; from += 10 * ms {
		answer(at(from))
		if _, stop := s.Duplicate(at(from)); stop {
			return from
		}
	}
	return 0
}

func TestADuplicateStopsWhenMorePeersRefuseItForTwiceExpires(t *testing.T) {
	s := newService(1, 2, 3, 4)
	expires := s.cfg.Timing.Expires
	stopped := claim(s, 0, time.Second, func(now timed.Instant) {
		s.Refused(2, 55, now, now)
		s.Refused(3, 55, now, now)
		s.Taken(4, now)
	})
	require.Greater(t, stopped, 2*expires)
	require.LessOrEqual(t, stopped, 3*expires)
	rival, _ := s.Duplicate(at(stopped))
	require.Equal(t, timed.BootID(55), rival)
}

func TestADuplicateThatMostAcceptStays(t *testing.T) {
	s := newService(1, 2, 3, 4)
	require.Zero(t, claim(s, 0, time.Second, func(now timed.Instant) {
		s.Refused(2, 55, now, now)
		s.Taken(3, now)
		s.Taken(4, now)
	}))
}

func TestOnATieTheLargerBootIdStops(t *testing.T) {
	for rival, stops := range map[timed.BootID]bool{99: true, 101: false} { // ours is 100
		s := newService(1, 2, 3)
		stopped := claim(s, 0, time.Second, func(now timed.Instant) {
			s.Refused(2, rival, now, now)
			s.Taken(3, now)
		})
		require.Equal(t, stops, stopped != 0, "rival %d", rival)
	}
}

func TestAWordThatEndsOrIsOldDoesNotStopANode(t *testing.T) { wordsOfNoRival(t) }

func wordsOfNoRival(t testing.TB) {
	s := newService(1, 2)
	expires := s.cfg.Timing.Expires
	require.Zero(t, claim(s, 0, 5*expires, func(now timed.Instant) { s.Refused(2, 55, now.Add(-expires), now) }), "late words")
	require.Zero(t, claim(s, 5*expires, 6*expires, func(now timed.Instant) { s.Refused(2, 55, now, now) }))
	require.Zero(t, claim(s, 6*expires, 20*expires, func(now timed.Instant) {}), "the rival is gone")
	require.Zero(t, claim(s, 20*expires, 30*expires, func(now timed.Instant) {
		s.Refused(2, 55, now, now)
		s.Taken(2, now) // it has changed its mind
	}))
	// Two incarnations of before, one after the other, are no rival.
	boots := []timed.BootID{55, 66}
	require.Zero(t, claim(s, 30*expires, 40*expires, func(now timed.Instant) {
		s.Refused(2, boots[now.Sub(zero)/(2*expires)%2], now, now)
	}))
}
