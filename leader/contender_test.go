package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func TestNodesThatAreNoContendersArePassedOver(t *testing.T) { passedOver(t) }

func passedOver(t testing.TB) {
	e, alive, _ := readyVoter()
	e.SetAlive(start, alive)
	require.Equal(t, timed.NodeID(1), e.best())
	e.NoteState(start, incarnation(1), &State{})
	require.Equal(t, timed.NodeID(2), e.best(), "the next one")
}

// In mode available, a follower of an incarnation that is gone cannot lead, although
// its leader's id is alive.
func TestFollowersOfADeadIncarnationAreNoContenders(t *testing.T) { deadLeader(t) }

func deadLeader(t testing.TB) {
	e, alive, _ := readyVoter()
	e.SetAlive(start, alive.Without(3))
	e.NoteState(start, incarnation(1), &State{})
	e.NoteState(start, incarnation(2), &State{Contender: true, LockedTo: incarnation(1)})
	require.Equal(t, timed.NodeID(2), e.best())
	e.NoteState(start, timed.Incarnation{Node: 1, Boot: 11}, &State{})
	require.Equal(t, timed.NoNode, e.best(), "node 1 is another incarnation now, with the same state")
}

// A node that has handed over is a contender again as soon as another leads.
func TestSteppingDownEndsWhenAnotherLeads(t *testing.T) { stepDownEnds(t) }

func stepDownEnds(t testing.TB) {
	e, now := leadingAlone()
	e.StepDown(now, nil)
	var st State
	e.FillState(now, &st)
	require.False(t, st.Contender)
	e.NoteState(start, incarnation(1), &State{Leading: true, Contender: true})
	e.FillState(now, &st)
	require.True(t, st.Contender)
}

// A node that leaves is no contender any more, whoever leads.
func TestANodeThatResignsIsNoContender(t *testing.T) {
	e, now := leadingAlone()
	e.Resign(now, nil)
	e.NoteState(start, incarnation(1), &State{Leading: true, Contender: true})
	var st State
	e.FillState(now, &st)
	require.False(t, st.Contender)
}

// A release names the successor of its own resignation, and of no earlier one.
func TestASuccessorIsNamedOnce(t *testing.T) { namedOnce(t) }

func namedOnce(t testing.TB) {
	e, now := leadingAlone()
	released := func(out []Effect) (to timed.NodeID) {
		for _, x := range out {
			if x.Kind == SendRelease {
				return x.Peer
			}
		}
		t.Fatalf("no release in %v", out)
		return 0
	}
	require.Equal(t, timed.NodeID(3), released(e.HandOver(now, 3, nil)))
	for !e.Leads(now) {
		now = deadline(e, timed.Set{})
		timeout(e, now, timed.Set{})
	}
	require.Equal(t, timed.NoNode, released(e.StepDown(now, nil)))
}

// A node whose peers give votes that are too short for its settings says so once, asks
// for none, and is no contender until they have left.
func TestShortVotesMakeUnfit(t *testing.T) { shortVotes(t) }

func shortVotes(t testing.TB) {
	e, _, now := readyVoter()
	alive := timed.SetOf(7)
	least := timed.LAN().LeastLockTime()
	e.NoteState(start, incarnation(7), &State{MaxLock: least - 1})
	unfit, asked := 0, 0
	run := func(rounds int) {
		for range rounds {
			now = timed.Later(now+1, deadline(e, alive))
			for _, x := range timeout(e, now, alive) {
				switch x.Kind {
				case Unfit:
					unfit++
				case SendRequest:
					asked++
				}
			}
			if now = e.nextRequest; e.open {
				now = e.alarm
			}
			timeout(e, now, alive)
			e.RequestSoon()
		}
	}
	e.quietUntil = 0
	run(1)
	var st State
	e.FillState(now, &st)
	require.False(t, st.Contender)
	require.Equal(t, []int{1, 0}, []int{unfit, asked})
	e.NoteState(start, incarnation(7), &State{MaxLock: least})
	e.request(now, nil)
	e.FillState(now, &st)
	require.True(t, st.Contender, "the shortest sound vote")
	require.Equal(t, least, e.lockTime)
}

// A leader whose peers give such votes goes on as long as it can: it asks again early enough
// that the answers are back before the lease ends.
func TestAShortLeaseIsRenewedInTime(t *testing.T) { renewedInTime(t) }

func renewedInTime(t testing.TB) {
	e, now := leadingAlone()
	timing, alive := timed.LAN(), timed.SetOf(7)
	e.NoteState(start, incarnation(7), &State{MaxLock: timing.LeastLockTime() - timing.ElectionPeriod*3/2})
	e.RequestSoon()
	timeout(e, now, alive)
	supported(e, now, 7, alive)
	end, leads := e.Leading()
	require.True(t, leads)
	require.Greater(t, e.nextRequest, now)
	require.LessOrEqual(t, e.nextRequest, end.Add(-timing.RoundTime()-timing.SchedulingDelay))
}

// A request asks for no longer votes than each of the alive peers gives.
func shortestVoteCounts(t testing.TB) {
	for short := timed.NodeID(7); short <= 9; short++ {
		e, _, now := readyVoter()
		e.quietUntil = 0
		want := timed.LAN().LockTime
		for id := timed.NodeID(7); id <= 9; id++ {
			st := State{MaxLock: timed.LAN().MaxLockTime}
			if id == short {
				st.MaxLock = timed.LAN().LeastLockTime()
				want = st.MaxLock
			}
			e.NoteState(start, incarnation(id), &st)
		}
		e.SetAlive(now, timed.SetOf(7, 8, 9))
		e.request(now, nil)
		require.Equal(t, want, e.lockTime, "node %v", short)
		e.SetAlive(now, timed.SetOf(7, 8, 9).Minus(timed.SetOf(short)))
		e.request(now+1, nil)
		require.Equal(t, timed.LAN().LockTime, e.lockTime, "without node %v", short)
	}
}

func TestTheShortestVoteCounts(t *testing.T) { shortestVoteCounts(t) }

// A candidate gives up its round for one that outranks it, and votes for it at once.
func TestACandidateGivesWay(t *testing.T) { candidateGivesWay(t) }

func candidateGivesWay(t testing.TB) {
	e, _, now := readyVoter()
	e.quietUntil = 0
	e.SetAlive(now, timed.SetOf(7))
	e.HandleTimeout(now, nil)
	require.True(t, e.open && !e.leading)
	e.NoteState(start, incarnation(1), &State{Contender: true})
	require.True(t, ask(e, now+1, incarnation(1), timed.SetOf(1, 7)).Support)
}

func TestWithoutAQuorumSystemNobodyLeadsGlobally(t *testing.T) {
	e, now := leadingAlone()
	until, leads := e.LeadingGlobally()
	require.False(t, leads)
	require.Zero(t, until)
	require.Zero(t, e.QuorumID())
	require.False(t, e.LeadsGlobally(now))
}

// A reply of an incarnation that is gone does not count, nor does what it said of itself.
func TestAForgottenIncarnationCountsForNothing(t *testing.T) { forgotten(t) }

func forgotten(t testing.TB) {
	e, _, now := readyVoter()
	e.quietUntil = 0
	alive := timed.SetOf(7, 8)
	e.NoteState(start, incarnation(7), &State{MaxLock: timed.LAN().MaxLockTime, Leading: true, Support: 2})
	e.NoteState(start, incarnation(8), &State{MaxLock: timed.LAN().MaxLockTime})
	timeout(e, now, alive)
	require.True(t, e.open)
	e.HandleReply(now, incarnation(7), Reply{Number: e.lastRequest, Support: true}, true, nil)
	e.Forget(7)
	require.Equal(t, State{}, e.Peer(7))
	v, ok := e.Vote(7)
	require.True(t, ok, "the vote of the incarnation that is gone still binds it")
	require.Equal(t, incarnation(7).Boot, v.Boot)
	e.HandleReply(now, incarnation(8), Reply{Number: e.lastRequest, Support: true}, true, nil)
	require.False(t, e.Leads(now), "node 7 has not voted")
}

// Votes are freed after the longest of all view leases and answers that rest on them, in
// whatever order these were given.
func TestVotesAreFreedAfterTheLongestLease(t *testing.T) { longestLease(t) }

func longestLease(t testing.TB) {
	e, now := leadingAlone()
	long := now.Add(50 * time.Millisecond)
	e.NoteGrant(long)
	e.NoteGrant(now.Add(10 * time.Millisecond))
	e.StepDown(now, nil)
	require.True(t, e.Releasing())
	timeout(e, long-1, timed.SetOf(1))
	require.True(t, e.Releasing())
	to, _ := e.Locked(long - 1)
	require.Equal(t, e.cfg.Self, to)
	timeout(e, long, timed.SetOf(1))
	require.False(t, e.Releasing())
	to, _ = e.Locked(long)
	require.Zero(t, to)
}

// Requests and stamps of one instant differ and grow, on a coarse clock too: a reply is to
// one request, and of two votes of an incarnation one is the later.
func TestRequestsAndStampsGrow(t *testing.T) { numbersGrow(t) }

func numbersGrow(t testing.TB) {
	e, _, now := candidate(t, Available)
	e.SetAlive(now, timed.Set{})
	e.request(now, nil)
	first, stamp := e.LastRequest(), e.stamp(now)
	e.request(now, nil)
	require.Greater(t, e.LastRequest(), first)
	require.Greater(t, e.stamp(now).At, stamp.At)
	require.Greater(t, e.stamp(now-5).At, stamp.At+1)
}
