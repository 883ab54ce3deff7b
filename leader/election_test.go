package leader

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

const start timed.Instant = 1_000_000_000

// voter returns a ready node 5 that hears nodes 1 to 3.
func voter() (*Election, timed.Set, timed.Instant) {
	e := New(Config{Self: timed.Incarnation{Node: 5, Boot: 50}, Timing: timed.LAN()}, start)
	now := e.ReadyAt()
	alive := timed.SetOf(1, 2, 3)
	for id := range alive.All() {
		e.HandleState(incarnation(id), &State{Contender: true, MaxLock: timed.LAN().MaxLockTime})
	}
	return e, alive, now
}

func incarnation(id timed.NodeID) timed.Incarnation {
	return timed.Incarnation{Node: id, Boot: timed.BootID(id) * 10}
}

func ask(e *Election, now timed.Instant, from timed.Incarnation, alive timed.Set) Reply {
	out := e.HandleRequest(now, from, Request{Number: now, LockTime: timed.LAN().LockTime}, true, now, alive, nil)
	for _, f := range out {
		if f.Kind == SendReply {
			return f.Reply
		}
	}
	return Reply{}
}

func lockSurvivesRestart() error {
	e, alive, now := voter()
	if r := ask(e, now, incarnation(1), alive); !r.Support {
		return fmt.Errorf("the first vote was refused: %+v", r)
	}
	reborn := timed.Incarnation{Node: 1, Boot: 11}
	e.Forget(1)
	e.HandleState(reborn, &State{Contender: true, MaxLock: timed.LAN().MaxLockTime})
	if r := ask(e, now+1, reborn, alive); r.Support {
		return fmt.Errorf("a vote bound to %v went to %v", incarnation(1), reborn)
	} else if r.LockedTo != incarnation(1) {
		return fmt.Errorf("the refusal names %v", r.LockedTo)
	}
	return nil
}

func TestLocksSurviveTheCandidatesRestart(t *testing.T) { require.NoError(t, lockSurvivesRestart()) }

func TestVoteGoesToTheHighestRankOnly(t *testing.T) {
	e, alive, now := voter()
	r := ask(e, now, incarnation(2), alive)
	require.False(t, r.Support, "node 1 is an alive contender and outranks node 2")
	require.Equal(t, timed.NodeID(1), r.Prefers)
	require.True(t, ask(e, now, incarnation(1), alive).Support)
}

func TestVoteNeedsReadinessSpeedAndHearing(t *testing.T) {
	e, alive, now := voter()
	require.Empty(t, e.HandleRequest(now, incarnation(1), Request{Number: now, LockTime: time.Millisecond}, false, now, alive, nil),
		"a slow request is ignored")
	require.Empty(t, e.HandleRequest(now, incarnation(1), Request{Number: now, LockTime: time.Millisecond}, true, now, alive.Without(1), nil),
		"a candidate that does not hear this node could not count its vote")
	require.False(t, ask(e, start, incarnation(1), alive).Support, "not ready")
	long := e.HandleRequest(now, incarnation(1), Request{Number: now, LockTime: time.Second}, true, now, alive, nil)
	require.False(t, long[0].Reply.Support, "longer than MaxLockTime")
}

// The lock must outlast the lease, and starts no later than the request arrived
// (design of the vote's start; Nerio's bounded-skew leases).
func TestLockStartsWhenTheRequestWasSent(t *testing.T) {
	e, alive, now := voter()
	lock := timed.LAN().LockTime
	sent := now.Add(-3 * time.Millisecond)
	e.HandleRequest(now, incarnation(1), Request{Number: now, LockTime: lock}, true, sent, alive, nil)
	to, until := e.Locked(now)
	require.Equal(t, incarnation(1), to)
	require.Equal(t, sent.Add(lock), until)
	// A later request extends it, an overtaken one changes nothing.
	e.HandleRequest(now+1, incarnation(1), Request{Number: now + 1, LockTime: lock}, true, now+1, alive, nil)
	require.Empty(t, e.HandleRequest(now+2, incarnation(1), Request{Number: now, LockTime: lock}, true, now+2, alive, nil))
	_, until = e.Locked(now)
	require.Equal(t, (now + 1).Add(lock), until)
}

func TestReleaseFreesVotesUpToItsNumberOnly(t *testing.T) {
	e, alive, now := voter()
	ask(e, now, incarnation(1), alive)
	e.HandleRelease(incarnation(1), now-1)
	to, _ := e.Locked(now)
	require.Equal(t, incarnation(1), to, "an older release does not free a newer vote")
	e.HandleRelease(timed.Incarnation{Node: 1, Boot: 11}, now)
	to, _ = e.Locked(now)
	require.Equal(t, incarnation(1), to, "nor does another incarnation's")
	e.HandleRelease(incarnation(1), now)
	to, _ = e.Locked(now)
	require.False(t, to.Valid())
}

func TestAloneLeadsAndLosesByTime(t *testing.T) {
	e := New(Config{Self: timed.Incarnation{Node: 5, Boot: 50}, Timing: timed.LAN()}, start)
	at := e.Deadline(timed.Set{})
	out := e.HandleTimeout(at, timed.Set{}, nil)
	require.Equal(t, SendRequest, out[0].Kind)
	require.Equal(t, Won, out[1].Kind)
	end, leading := e.Leading()
	require.True(t, leading)
	require.True(t, e.Leads(end-1))
	require.False(t, e.Leads(end), "no message ends a lead: time does")
	require.Equal(t, at.Add(timed.LAN().MaxDrift.Trust(timed.LAN().LockTime)), end)
}

func TestCallingEarlyDoesNothing(t *testing.T) {
	e, alive, now := voter()
	require.Empty(t, e.HandleTimeout(now, alive, nil))
	require.Greater(t, e.Deadline(timed.Set{}), now)
}

func TestRankIsATotalOrder(t *testing.T) {
	states := []State{{}, {Weight: 1}, {Leading: true, Support: 1}, {Leading: true, Support: 3}, {Leading: true, Support: 3, Weight: 2}}
	for _, by := range []RankBy{Stable, ByID} {
		for a := range states {
			for b := range states {
				for ia := timed.NodeID(1); ia <= 2; ia++ {
					for ib := timed.NodeID(1); ib <= 2; ib++ {
						ab := by.outranks(ia, &states[a], ib, &states[b])
						ba := by.outranks(ib, &states[b], ia, &states[a])
						if ia == ib && a == b {
							require.False(t, ab)
						} else if ia != ib {
							require.NotEqual(t, ab, ba, "%v: exactly one of two nodes outranks the other", by)
						}
					}
				}
			}
		}
	}
	big, small := State{Leading: true, Support: 4}, State{Leading: true, Support: 2, Weight: 9}
	require.True(t, Stable.outranks(9, &big, 1, &small), "the larger support set comes before weight and id")
	require.True(t, ByID.outranks(1, &small, 9, &big))
}
