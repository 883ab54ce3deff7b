package datagram

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// contest lets peers answer every 10 ms until end, and returns when the node must stop,
// or 0.
func contest(s *Service, from, end time.Duration, answer func(now timed.Instant)) time.Duration {
	for ; from <= end; from += 10 * ms {
		answer(at(from))
		if len(s.HandleTimeout(at(from), nil)) > 0 {
			return from
		}
	}
	return 0
}

func TestADuplicateStopsWhenMorePeersRefuseItForTwiceExpires(t *testing.T) {
	s := newService(1, 2, 3, 4)
	expires := s.cfg.Timing.Expires
	stopped := contest(s, 0, time.Second, func(now timed.Instant) {
		s.NoteRefusal(now, 2, Refusal{55, now, Unknown})
		s.NoteRefusal(now, 3, Refusal{55, now, Unknown})
		s.NoteAcceptance(now, 4)
	})
	require.Greater(t, stopped, 2*expires)
	require.LessOrEqual(t, stopped, 3*expires)
	require.Equal(t, []Effect{{Kind: Duplicate, From: timed.Incarnation{Node: 1, Boot: 55}}}, s.HandleTimeout(at(stopped), nil))
}

func TestARefusalIsKnownUntilThePeerAcceptsOrExpires(t *testing.T) {
	s := newService(1, 2, 3)
	expires := s.cfg.Timing.Expires
	require.False(t, s.Refuses(at(ms), 2))
	require.False(t, s.Refuses(at(ms), 77), "no peer")
	s.NoteRefusal(at(ms), 2, Refusal{55, at(ms), 2 * expires}) // does not count against this node, and is known
	require.True(t, s.Refuses(at(ms), 2))
	require.False(t, s.Refuses(at(ms), 3))
	s.NoteAcceptance(at(2*ms), 2)
	require.False(t, s.Refuses(at(2*ms), 2))
	s.NoteRefusal(at(3*ms), 2, Refusal{55, at(3 * ms), 0})
	require.True(t, s.Refuses(at(3*ms+expires), 2))
	require.False(t, s.Refuses(at(4*ms+expires), 2))
}

func TestADuplicateThatMostAcceptStays(t *testing.T) {
	s := newService(1, 2, 3, 4)
	require.Zero(t, contest(s, 0, time.Second, func(now timed.Instant) {
		s.NoteRefusal(now, 2, Refusal{55, now, Unknown})
		s.NoteAcceptance(now, 3)
		s.NoteAcceptance(now, 4)
	}))
}

func TestOnATieTheLargerBootIdStops(t *testing.T) {
	for rival, stops := range map[timed.BootID]bool{99: true, 101: false} { // ours is 100
		s := newService(1, 2, 3)
		stopped := contest(s, 0, time.Second, func(now timed.Instant) {
			s.NoteRefusal(now, 2, Refusal{rival, now, Unknown})
			s.NoteAcceptance(now, 3)
		})
		require.Equal(t, stops, stopped != 0, "rival %d", rival)
	}
}

func TestOldOrRevokedRefusalsDoNotStopANode(t *testing.T) { refusalsWithoutRival(t) }

func refusalsWithoutRival(t testing.TB) {
	s := newService(1, 2)
	expires := s.cfg.Timing.Expires
	require.Zero(t, contest(s, 0, 5*expires, func(now timed.Instant) { s.NoteRefusal(now, 2, Refusal{55, now.Add(-expires), Unknown}) }), "late refusals")
	require.Zero(t, contest(s, 5*expires, 6*expires, func(now timed.Instant) { s.NoteRefusal(now, 2, Refusal{55, now, Unknown}) }))
	require.Zero(t, contest(s, 6*expires, 20*expires, func(now timed.Instant) {}), "the rival has stopped")
	require.Zero(t, contest(s, 20*expires, 30*expires, func(now timed.Instant) {
		s.NoteRefusal(now, 2, Refusal{55, now, Unknown})
		s.NoteAcceptance(now, 2) // it has changed its mind
	}))
	// Two earlier incarnations, one after the other, are not a rival.
	boots := []timed.BootID{55, 66}
	require.Zero(t, contest(s, 30*expires, 40*expires, func(now timed.Instant) {
		s.NoteRefusal(now, 2, Refusal{boots[now.Sub(zero)/(2*expires)%2], now, Unknown})
	}))
}

// A revoked refusal, and the time in which nobody refuses, end a suspicion: the next one
// begins anew.
func TestASuspicionEndsWithItsRefusals(t *testing.T) { suspicionEnds(t) }

func suspicionEnds(t testing.TB) {
	s := newService(1, 2)
	expires := s.cfg.Timing.Expires
	refuse := func(now timed.Instant) { s.NoteRefusal(now, 2, Refusal{55, now, Unknown}) }
	require.Zero(t, contest(s, 0, expires, refuse))
	s.NoteAcceptance(at(expires), 2)
	require.Empty(t, s.HandleTimeout(at(expires), nil))
	stopped := contest(s, 4*expires, 10*expires, refuse)
	require.Greater(t, stopped, 6*expires, "%v after the first refusal", stopped-4*expires)
}

// A peer that refuses now counts against the node only, even if it accepted it just
// before; and refusals in favour of different incarnations do not add up.
func TestEachPeerCountsOnce(t *testing.T) { eachCountsOnce(t) }

func eachCountsOnce(t testing.TB) {
	s := newService(1, 2, 3)
	s.NoteAcceptance(at(0), 2)
	s.NoteAcceptance(at(0), 3)
	s.NoteRefusal(at(1), 2, Refusal{101, at(1), Unknown})
	s.NoteRefusal(at(1), 3, Refusal{101, at(1), Unknown})
	s.HandleTimeout(at(1), nil)
	require.Equal(t, timed.BootID(101), s.duplicate.rival, "two against none")

	s = newService(1, 2, 3, 4, 5)
	s.NoteRefusal(at(0), 2, Refusal{55, at(0), Unknown})
	s.NoteRefusal(at(0), 3, Refusal{66, at(0), Unknown})
	rival, votes := s.prevailing(at(0), s.refusalAge())
	require.Equal(t, 1, votes)
	require.Equal(t, timed.BootID(55), rival, "on a tie the smaller")
	s.NoteRefusal(at(0), 4, Refusal{66, at(0), Unknown})
	rival, votes = s.prevailing(at(0), s.refusalAge())
	require.Equal(t, []any{timed.BootID(66), 2}, []any{rival, votes})
	s.NoteRefusal(at(0), 9, Refusal{66, at(0), Unknown}) // of no peer
	require.Equal(t, 3, s.duplicate.by.Len())
}

// Nothing of a peer that is removed is left, so it neither refuses nor is alive.
func removedRefuseNothing(t testing.TB) {
	s := newService(1, 2, 3)
	s.NoteRefusal(at(0), 2, Refusal{55, at(0), Unknown})
	s.RemovePeer(2)
	require.Empty(t, s.Audit())
	require.Empty(t, s.HandleTimeout(at(0), nil))
}

func TestRemovedPeersRefuseNothing(t *testing.T) { removedRefuseNothing(t) }

// An acceptance counts for as long as a refusal: a peer that accepted the node long ago, and
// is silent since, speaks neither for it nor against it. Nor do old refusals.
func oldAnswersCountNothing(t testing.TB) {
	s := newService(1, 2, 3, 4)
	s.NoteAcceptance(at(0), 3)
	s.NoteAcceptance(at(0), 4)
	require.NotZero(t, contest(s, 0, time.Second, func(now timed.Instant) { s.NoteRefusal(now, 2, Refusal{55, now, Unknown}) }))

	s = newService(1, 2, 3, 4, 5)
	s.NoteRefusal(at(0), 2, Refusal{55, at(0), Unknown})
	s.NoteRefusal(at(0), 3, Refusal{55, at(0), Unknown})
	later := at(s.refusalAge() + 1)
	for id, rival := range map[timed.NodeID]timed.BootID{2: 55, 4: 66, 5: 66} {
		s.NoteRefusal(later, id, Refusal{rival, later, Unknown})
	}
	rival, votes := s.prevailing(later, s.refusalAge())
	require.Equal(t, []any{timed.BootID(66), 2}, []any{rival, votes}, "that of node 3 is old")
}

func TestOldAnswersCountNothing(t *testing.T) { oldAnswersCountNothing(t) }

// A peer with a longer Expires goes on refusing in favour of an incarnation that has ended. Its
// refusals count while this node would hear that incarnation too.
func formerIsNoRival(t testing.TB) {
	s := newService(1, 2, 3)
	expires := s.cfg.Timing.Expires
	refuse := func(age time.Duration) func(now timed.Instant) {
		return func(now timed.Instant) {
			for _, id := range []timed.NodeID{2, 3} {
				s.NoteRefusal(now, id, Refusal{Rival: 55, Echoed: now, Age: age})
			}
		}
	}
	require.Zero(t, contest(s, 0, 10*expires, refuse(expires+1)))
	require.NotZero(t, contest(s, 10*expires, 20*expires, refuse(expires)))
}

func TestTheFormerIncarnationIsNoRival(t *testing.T) { formerIsNoRival(t) }
