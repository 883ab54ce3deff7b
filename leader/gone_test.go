package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// left returns node 5 and the living followers of a leader, node 9, that is gone, and the
// end of their votes.
func left(mode Mode, living ...timed.NodeID) (e *Election, alive timed.Set, end timed.Instant) {
	e = New(Config{Self: timed.Incarnation{Node: 5, Boot: 50}, Timing: timed.LAN(), Mode: mode, RankBy: ByID}, start)
	now := e.ReadyAt()
	e.quietUntil = 0
	e.NoteState(start, incarnation(9), &State{Leading: true, Contender: true, Weight: 7})
	for _, id := range living {
		alive.Add(id)
		e.NoteState(start, incarnation(id), &State{Contender: true, LockedTo: incarnation(9)})
	}
	ask(e, now, incarnation(9), alive.With(9))
	_, end = e.Locked(now)
	e.SetAlive(now, alive)
	return e, alive, end
}

// oneTurn is the time that a node leaves to a better candidate: its vote began up to Δ
// later, it is late by up to σ, and its request takes up to δ.
func oneTurn() time.Duration { return timed.LAN().MaxDrift.Upper(19900 * time.Microsecond) }

// Of the followers of a leader that is gone the best asks at once, the next one when the
// best has had time to ask, and the others when that one has had it too.
func TestFollowersOfALostLeaderAskInTurns(t *testing.T) { inTurns(t) }

func inTurns(t testing.TB) {
	for _, c := range []struct {
		living []timed.NodeID
		turns  time.Duration
	}{{nil, 0}, {[]timed.NodeID{6, 7, 8}, 0}, {[]timed.NodeID{1, 6}, 1}, {[]timed.NodeID{1, 2, 6}, 2}, {[]timed.NodeID{1, 2, 3, 4}, 2}} {
		e, alive, end := left(Available, c.living...)
		at := end.Add(c.turns * oneTurn())
		require.Equal(t, at, e.Deadline(), "beside %v", c.living)
		require.False(t, e.Defers(end-1), "its vote is bound")
		require.Equal(t, c.turns > 0, e.Defers(end))
		require.Empty(t, timeout(e, at-1, alive))
		require.False(t, e.Defers(at))
		require.Equal(t, SendRequest, timeout(e, at, alive)[0].Kind)
	}
}

// lapsed is left with the leader alive until its vote ends, and at that moment.
func lapsed(living ...timed.NodeID) (e *Election, alive timed.Set, end timed.Instant) {
	e, alive, end = left(Available, living...)
	e.SetAlive(end-1, alive.With(9))
	e.SetAlive(end, alive.With(9))
	return e, alive, end
}

// A leader that lets the vote end counts no more, as long as it may be alive. So turns begin at
// the end of the vote.
func TestALeaderLapsesWithTheVote(t *testing.T) { lapses(t) }

func lapses(t testing.TB) {
	e, alive, end := left(Available, 1, 2)
	e.SetAlive(end-1, alive.With(9))
	require.Equal(t, end, e.Deadline(), "it is alive until then")
	e.NoteState(start, incarnation(2), &State{})
	e.NoteState(start, incarnation(1), &State{})
	require.Empty(t, timeout(e, end-1, alive.With(9)))
	out := timeout(e, end, alive.With(9))
	require.NotEmpty(t, out)
	require.Equal(t, SendRequest, out[0].Kind, "it is the best")
	request := e.LastRequest()
	e.HandleReply(end, incarnation(1), Reply{Number: request, Support: true}, true, nil)
	require.False(t, e.Leads(end))
	e.HandleReply(end, incarnation(2), Reply{Number: request, Support: true}, true, nil)
	require.True(t, e.Leads(end), "nobody waits for the one that is gone")
	require.Equal(t, timed.SetOf(1, 2, 5), e.Support())

	e, alive, end = lapsed(1, 6)
	require.Equal(t, end.Add(oneTurn()), e.Deadline(), "node 1 is the best")
	e.SetAlive(end+70, alive)
	require.Equal(t, end.Add(oneTurn()), e.Deadline(), "missed, long since")
	require.True(t, ask(e, end+80, incarnation(1), alive.With(9)).Support, "beside the one that is gone")

	e, alive, end = left(Strict, 6, 7)
	e.SetAlive(end-1, alive.With(9))
	timeout(e, end, alive.With(9))
	require.Equal(t, timed.Never, e.Deadline(), "in mode strict it has the votes of all that are alive")
}

// Who refuses its vote for a leader that has lapsed here has heard that leader: the candidate is
// the one that has not.
func TestARefusalForALapsedLeaderCounts(t *testing.T) { refusalsForTheLapsed(t) }

func refusalsForTheLapsed(t testing.TB) {
	for _, refusal := range []Reply{{LockedTo: incarnation(9)}, {Prefers: 9}} {
		e, alive, end := lapsed(1)
		e.NoteState(start, incarnation(1), &State{})
		timeout(e, end, alive.With(9))
		refusal.Number = e.LastRequest()
		e.HandleReply(end, incarnation(1), refusal, true, nil)
		require.False(t, e.Leads(end))
		timeout(e, end.Add(timed.LAN().RoundTime()), alive.With(9))
		require.False(t, e.leading || e.Open(), "at the end of the round")
	}
}

// A leader that is heard again is a contender as before, in whatever incarnation. So nobody asks
// until it is missed, and turns begin then.
func TestTurnsBeginWhenTheLeaderIsMissed(t *testing.T) { turnsFromTheMiss(t) }

func turnsFromTheMiss(t testing.TB) {
	e, alive, end := left(Available, 1, 6)
	e.SetAlive(end-1, alive)
	require.Equal(t, end.Add(oneTurn()), e.Deadline(), "the vote is bound")
	for _, missed := range []timed.Instant{end + 5, end + 70} {
		e, alive, end := lapsed(1, 6)
		e.NoteState(start, incarnation(9), &State{Contender: true, Weight: 7})
		require.Equal(t, timed.Never, e.Deadline(), "the leader is heard again")
		require.False(t, e.Defers(missed))
		e.SetAlive(missed, alive)
		require.Equal(t, missed.Add(oneTurn()), e.Deadline())
		require.True(t, e.Defers(missed))
		e.SetAlive(missed+1, alive.Without(6))
		require.Equal(t, missed.Add(oneTurn()), e.Deadline(), "another one is missed too")
		e.SetAlive(end+80, alive.Without(1))
		require.LessOrEqual(t, e.Deadline(), end+80, "it is the best now")

		ask(e, end+90, incarnation(9), alive.With(9))
		_, end = e.Locked(end + 90)
		require.Equal(t, end.Add(oneTurn()), deadline(e, alive), "after another vote")
	}

	e, _, _ = lapsed(1, 2)
	e.Forget(9)
	e.NoteState(start, timed.Incarnation{Node: 9, Boot: 91}, &State{Contender: true, Weight: 7})
	require.Equal(t, timed.NodeID(9), e.best(), "it has restarted")

	e, alive, end = left(Available, 1, 6)
	timeout(e, end, alive)
	e.NoteState(start, incarnation(9), &State{Contender: true, Weight: 7})
	e.SetAlive(end+10, alive.With(9))
	timeout(e, end+10, alive.With(9))
	require.Equal(t, timed.Never, e.Deadline(), "it was missed before the vote ended, and has come back")
}

// A leader whose packet is what a node wakes for has not lapsed, however late that is.
func TestALeaderThatIsHeardHasNotLapsed(t *testing.T) { heardAtTheEnd(t) }

func heardAtTheEnd(t testing.TB) {
	e, alive, end := left(Available, 1, 2)
	alive.Add(9)
	e.SetAlive(end-1, alive)
	late := end.Add(50 * time.Millisecond)
	e.NoteState(late, incarnation(9), &State{Contender: true, Weight: 7})
	e.SetAlive(late, alive)
	require.Equal(t, timed.NodeID(9), e.best(), "it says something")

	last := Request{Number: end, LockTime: timed.LAN().LockTime}
	late = late.Add(50 * time.Millisecond)
	r, _ := request(e, late, incarnation(9), last, true, end+1, alive)
	require.True(t, r.Support, "its request has waited")
	_, until := e.Locked(end + 2)
	require.Less(t, until, late)
	e.SetAlive(late, alive)
	require.Equal(t, timed.NodeID(9), e.best())

	e, alive, end = left(Available, 1, 2)
	e.SetAlive(end-1, alive.With(9))
	require.True(t, ask(e, end, incarnation(9), alive.With(9)).Support, "an older packet than the newest")
	require.Equal(t, timed.NodeID(9), e.best())
}

// A node waits once. If the better ones do not ask, it asks, and then as often as ever.
func TestACandidateWaitsForBetterOnesOnce(t *testing.T) { waitsOnce(t) }

func waitsOnce(t testing.TB) {
	e, alive, end := left(Available, 1, 2)
	e.NoteState(start, incarnation(1), &State{Contender: true, LockedTo: incarnation(9), MaxLock: timed.LAN().MaxLockTime})
	require.Equal(t, end.Add(2*oneTurn()), e.Deadline(), "whatever they send meanwhile")
	for range 3 {
		now := e.Deadline()
		timeout(e, now, alive)
		require.True(t, e.Open())
		require.Equal(t, now, e.LastRequest())
		for id := range alive.All() {
			e.HandleReply(now, incarnation(id), Reply{Number: now, Prefers: id}, true, nil)
		}
		timeout(e, e.Deadline(), alive)
		require.False(t, e.Open() || e.leading, "nobody votes for it")
		require.Equal(t, now.Add(timed.LAN().ElectionPeriod), e.Deadline())
	}
}

// Only living contenders that followed the same leader are waited for: the others
// cannot lead, or their votes end at another time.
func TestACandidateWaitsForNobodyElse(t *testing.T) { waitsForNobodyElse(t) }

func waitsForNobodyElse(t testing.TB) {
	e, alive, end := left(Available, 1)
	waits := func() time.Duration { return e.Deadline().Sub(end) }
	require.Equal(t, oneTurn(), waits())
	e.NoteState(start, incarnation(1), &State{LockedTo: incarnation(9)})
	require.Zero(t, waits(), "no contender")
	e.NoteState(start, incarnation(1), &State{Contender: true, LockedTo: timed.Incarnation{Node: 9, Boot: 91}})
	require.Zero(t, waits(), "of another incarnation")
	e.NoteState(start, incarnation(1), &State{Contender: true, LockedTo: incarnation(8)})
	require.Zero(t, waits(), "of another leader")
	e.NoteState(start, incarnation(1), &State{Contender: true, LockedTo: incarnation(9)})
	require.Equal(t, oneTurn(), waits())
	e.SetAlive(end, alive.Without(1))
	require.Zero(t, waits(), "not alive")
	e.NoteState(start, incarnation(9), &State{Contender: true, Weight: 7})
	timeout(e, end, alive.With(9))
	require.Equal(t, timed.Never, e.Deadline(), "the leader is alive again")
}

// A vote that has been freed, or given to another leader, is waited for no longer.
func TestAWaitIsForTheLastVote(t *testing.T) {
	e, _, end := left(Available, 1)
	require.Equal(t, end.Add(oneTurn()), e.Deadline())
	e.NoteRelease(end-5, incarnation(9), end-5, timed.NoNode)
	require.Zero(t, e.Deadline(), "the vote is free")

	e, alive, end := left(Available, 1, 2)
	e.NoteState(start, incarnation(2), &State{Contender: true, LockedTo: incarnation(8)})
	require.Equal(t, end.Add(oneTurn()), e.Deadline(), "for node 1")
	e.NoteState(start, incarnation(8), &State{Leading: true, Contender: true, Weight: 8})
	ask(e, end, incarnation(8), alive.With(8))
	_, end = e.Locked(end)
	require.Equal(t, end.Add(oneTurn()), deadline(e, alive), "for node 2, which votes for node 8 as well")
	e.NoteState(start, incarnation(2), &State{})
	require.Equal(t, end, deadline(e, alive), "node 1 votes for another")
}

// In mode strict every living contender that ranks higher is waited for anyway, and a
// successor takes votes over that still bind.
func TestNobodyWaitsWithoutNeed(t *testing.T) {
	e, _, _ := left(Strict, 1, 2)
	require.Equal(t, timed.Never, e.Deadline())
	e, _, end := left(Strict, 6, 7)
	require.Equal(t, end, e.Deadline())

	e, alive, end := left(Available, 1, 2)
	e.NoteHandOver(end-9, incarnation(9), end-9, e.cfg.Self)
	require.Zero(t, e.Deadline())
	require.Equal(t, SendRequest, timeout(e, end-8, alive)[0].Kind)
}
