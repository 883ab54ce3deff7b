package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A vote goes to the successor only if it is older than the packet that hands it over, which
// may come late, and it binds for as long as before.
func TestOnlyOlderVotesAreHandedOver(t *testing.T) { newerVotesStay(t) }

func newerVotesStay(t testing.TB) {
	e, alive, now := readyVoter()
	require.True(t, ask(e, now, incarnation(1), alive).Support)
	_, until := e.Locked(now)
	e.NoteHandOver(now, incarnation(1), now, incarnation(3))
	e.NoteHandOver(now, incarnation(2), now+1, incarnation(3))
	require.False(t, e.Handed().Valid(), "a newer vote, and a node that has no vote of this one")
	require.Equal(t, incarnation(1), ask(e, now+1, incarnation(3), alive).LockedTo)

	e.NoteHandOver(now, incarnation(1), now+1, incarnation(3))
	require.Equal(t, incarnation(3), e.Handed())
	require.False(t, ask(e, now+1, incarnation(2), alive).Support, "only the successor may take it over")
	reborn := incarnation(3)
	reborn.Boot++
	require.False(t, ask(e, now+1, reborn, alive).Support, "and no other incarnation of it, which is no member of the view")
	r, _ := request(e, now+1, incarnation(3), Request{Number: now + 1, LockTime: time.Millisecond}, true, now+1, alive)
	require.True(t, r.Support)
	to, till := e.Locked(now + 1)
	require.Equal(t, incarnation(3), to)
	require.Equal(t, until, till)
	e.NoteHandOver(now, incarnation(1), now+1, incarnation(2))
	require.False(t, e.Handed().Valid(), "a late packet of the former owner")
}

// The successor frees its votes only when nobody counts on the view that it has inherited.
func TestTheSuccessorKeepsTheVotes(t *testing.T) { successorOwes(t) }

func successorOwes(t testing.TB) {
	e, alive, now := readyVoter()
	require.True(t, ask(e, now, incarnation(1), alive).Support)
	_, until := e.Locked(now)
	e.NoteHandOver(now+1, incarnation(1), now+1, e.cfg.Self)
	require.Equal(t, until, e.InheritedUntil())
	e.quietUntil = 0
	e.NoteState(start, incarnation(1), &State{})
	timeout(e, now+1, alive)
	require.True(t, e.Open())
	e.NoteGrantsDropped() // of a view of its own
	require.Empty(t, releases(e.Abdicate(now+2, Outranked, nil)))
	require.Equal(t, until, e.releaseAt)
	e.NoteCommitted(now + 2)
	require.Zero(t, e.bound())
}

// A successor's own vote, which was handed to it, binds it for as long as before, though its
// round asks for less.
func TestASuccessorKeepsItsOwnVoteAsLong(t *testing.T) {
	e, alive, now := readyVoter()
	require.True(t, ask(e, now, incarnation(1), alive).Support)
	_, until := e.Locked(now)
	e.NoteHandOver(now+1, incarnation(1), now+1, e.cfg.Self)
	e.quietUntil = 0
	e.NoteState(start, incarnation(1), &State{})
	e.NoteState(start, incarnation(2), &State{MaxLock: timed.LAN().LeastLockTime()})
	timeout(e, now+1, alive)
	require.Less(t, e.lastRequest.Add(e.lockTime), until)
	to, till := e.Locked(now + 1)
	require.Equal(t, e.cfg.Self, to)
	require.Equal(t, until, till)
}

// A vote is handed over while it binds. At its end there is nothing to take over, and nobody
// to defer to.
func handedInTime(t testing.TB) {
	for left, handed := range map[time.Duration]bool{0: false, 1: true} {
		e, alive, now := readyVoter()
		require.True(t, ask(e, now, incarnation(1), alive).Support)
		_, until := e.Locked(now)
		e.NoteHandOver(until.Add(-left), incarnation(1), now+1, incarnation(3))
		require.Equal(t, handed, e.Handed().Valid(), "%v before the end", left)
		require.Equal(t, handed, e.Peer(3).Named)
	}
}

func TestAVoteIsHandedOverInTime(t *testing.T) { handedInTime(t) }

// A leader whose renewal is under way goes on with it when another node frees votes for it:
// it has a lease, and the round may still win.
func renewalGoesOn(t testing.TB) {
	e, alive, now := candidate(t, Available)
	supported(e, now, 2, alive)
	supported(e, now, 3, alive)
	require.True(t, e.Leads(now))
	at := deadline(e, alive)
	timeout(e, at, alive)
	round := e.LastRequest()
	e.HandleReply(at, incarnation(3), Reply{Number: round, Prefers: 3}, true, nil)
	require.True(t, e.Open())
	e.NoteRelease(at, incarnation(2), at, 1)
	require.True(t, e.Open())
	require.Equal(t, round, e.LastRequest())
}

func TestARenewalGoesOn(t *testing.T) { renewalGoesOn(t) }
