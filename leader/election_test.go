package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

const start timed.Instant = 1_000_000_000

// readyVoter returns a ready node 5 that hears nodes 1 to 3.
func readyVoter() (*Election, timed.Set, timed.Instant) {
	e := New(Config{Self: timed.Incarnation{Node: 5, Boot: 50}, Timing: timed.LAN()}, start)
	now := e.ReadyAt()
	alive := timed.SetOf(1, 2, 3)
	for id := range alive.All() {
		e.NoteState(start, incarnation(id), &State{Contender: true, MaxLock: timed.LAN().MaxLockTime})
	}
	return e, alive, now
}

func incarnation(id timed.NodeID) timed.Incarnation {
	return timed.Incarnation{Node: id, Boot: timed.BootID(id) * 10}
}

func ask(e *Election, now timed.Instant, from timed.Incarnation, alive timed.Set) Reply {
	r, _ := request(e, now, from, Request{Number: now, LockTime: timed.LAN().LockTime}, true, now, alive)
	return r
}

// request hands a request to a node and returns the reply, if there is one.
func request(e *Election, now timed.Instant, from timed.Incarnation, m Request, fast bool,
	started timed.Instant, alive timed.Set) (r Reply, answered bool) {
	e.SetAlive(now, alive)
	for _, x := range e.HandleRequest(now, from, m, fast, started, nil) {
		if x.Kind == SendReply {
			return x.Reply, true
		}
	}
	return Reply{}, false
}

// timeout calls HandleTimeout with a set of alive peers.
func timeout(e *Election, now timed.Instant, alive timed.Set) []Effect {
	e.SetAlive(now, alive)
	return e.HandleTimeout(now, nil)
}

// deadline returns the deadline with a set of alive peers.
func deadline(e *Election, alive timed.Set) timed.Instant {
	e.SetAlive(start, alive)
	return e.Deadline()
}

func TestLocksSurviveTheCandidatesRestart(t *testing.T) { lockSurvivesRestart(t) }

func lockSurvivesRestart(t testing.TB) {
	e, alive, now := readyVoter()
	require.True(t, ask(e, now, incarnation(1), alive).Support)
	reborn := timed.Incarnation{Node: 1, Boot: 11}
	e.Forget(1)
	e.NoteState(start, reborn, &State{Contender: true, MaxLock: timed.LAN().MaxLockTime})
	r := ask(e, now+1, reborn, alive)
	require.False(t, r.Support, "a vote bound to %v went to %v", incarnation(1), reborn)
	require.Equal(t, incarnation(1), r.LockedTo, "the refusal names the incarnation")
}

func TestVoteGoesToTheHighestRankOnly(t *testing.T) { voteByRank(t) }

func voteByRank(t testing.TB) {
	e, alive, now := readyVoter()
	r := ask(e, now, incarnation(2), alive)
	require.False(t, r.Support, "node 1 is an alive contender and outranks node 2")
	require.Equal(t, timed.NodeID(1), r.Prefers)
	require.True(t, ask(e, now, incarnation(1), alive).Support)
}

func TestVoteNeedsReadinessSpeedAndHearing(t *testing.T) { voteNeeds(t) }

func voteNeeds(t testing.TB) {
	e, alive, now := readyVoter()
	_, answered := request(e, now, incarnation(1), Request{Number: now, LockTime: time.Millisecond}, false, now, alive)
	require.False(t, answered, "a slow request is ignored")
	_, answered = request(e, now, incarnation(1), Request{Number: now, LockTime: time.Millisecond}, true, now, alive.Without(1))
	require.False(t, answered, "a candidate that does not hear this node could not count its vote")
	require.False(t, ask(e, start, incarnation(1), alive).Support, "not ready")
	long, answered := request(e, now, incarnation(1), Request{Number: now, LockTime: time.Second}, true, now, alive)
	require.True(t, answered)
	require.False(t, long.Support, "longer than MaxLockTime")
}

// The lock must outlast the lease, and starts no later than the request arrived
// (design of the vote's start; Nerio's bounded-skew leases).
func TestLockStartsWhenTheRequestWasSent(t *testing.T) {
	e, alive, now := readyVoter()
	lock := timed.LAN().LockTime
	sent := now.Add(-3 * time.Millisecond)
	request(e, now, incarnation(1), Request{Number: now, LockTime: lock}, true, sent, alive)
	to, until := e.Locked(now)
	require.Equal(t, incarnation(1), to)
	require.Equal(t, sent.Add(lock), until)
	// A later request extends it, an overtaken one changes nothing.
	request(e, now+1, incarnation(1), Request{Number: now + 1, LockTime: lock}, true, now+1, alive)
	_, answered := request(e, now+2, incarnation(1), Request{Number: now, LockTime: lock}, true, now+2, alive)
	require.False(t, answered)
	_, until = e.Locked(now)
	require.Equal(t, (now + 1).Add(lock), until)
}

func TestReleaseFreesVotesUpToItsNumberOnly(t *testing.T) {
	e, alive, now := readyVoter()
	ask(e, now, incarnation(1), alive)
	e.NoteRelease(now, incarnation(1), now-1, timed.NoNode)
	to, _ := e.Locked(now)
	require.Equal(t, incarnation(1), to, "an older release does not free a newer vote")
	e.NoteRelease(now, timed.Incarnation{Node: 1, Boot: 11}, now, timed.NoNode)
	to, _ = e.Locked(now)
	require.Equal(t, incarnation(1), to, "nor does another incarnation's")
	e.NoteRelease(now, incarnation(1), now, timed.NoNode)
	to, _ = e.Locked(now)
	require.False(t, to.Valid())
}

func TestAloneLeadsAndLosesByTime(t *testing.T) {
	e := New(Config{Self: timed.Incarnation{Node: 5, Boot: 50}, Timing: timed.LAN()}, start)
	at := deadline(e, timed.Set{})
	out := timeout(e, at, timed.Set{})
	require.Equal(t, SendRequest, out[0].Kind)
	require.Equal(t, Won, out[1].Kind)
	end, leading := e.Leading()
	require.True(t, leading)
	require.True(t, e.Leads(end-1))
	require.False(t, e.Leads(end), "time ends a lead, not a message")
	require.Equal(t, at.Add(timed.LAN().MaxDrift.Trust(timed.LAN().LockTime)), end)
}

// Silence proves nothing to a node that was stopped itself.
func TestAStoppedNodeListensFirst(t *testing.T) { listensAfterStall(t) }

func listensAfterStall(t testing.TB) {
	e := New(Config{Self: timed.Incarnation{Node: 5, Boot: 50}, Timing: timed.LAN()}, start)
	now := deadline(e, timed.Set{}).Add(time.Second)
	e.NoteStall(now)
	require.Empty(t, timeout(e, now, timed.Set{}))
	at := deadline(e, timed.Set{})
	require.GreaterOrEqual(t, at, now.Add(timed.LAN().KeepalivePeriod), "every peer has sent once")
	require.NotEmpty(t, timeout(e, at, timed.Set{}), "then it is alone")
}

func TestCallingEarlyDoesNothing(t *testing.T) {
	e, alive, now := readyVoter()
	require.Empty(t, timeout(e, now, alive))
	require.Greater(t, deadline(e, timed.Set{}), now)
}
