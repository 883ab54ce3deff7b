package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// releases returns the releases among effects.
func releases(out []Effect) (rs []Effect) {
	for _, e := range out {
		if e.Kind == SendRelease {
			rs = append(rs, e)
		}
	}
	return rs
}

// Votes that are about to be given back carry no view, even those of the last round.
func TestVotesOfALeadThatIsOverAreForgotten(t *testing.T) { givenUpIsForgotten(t) }

func givenUpIsForgotten(t testing.TB) {
	e, now := leadingAlone()
	_, ok := e.Vote(e.cfg.Self.Node)
	require.True(t, ok)
	e.NoteGrant(now.Add(time.Second)) // the votes still bind
	e.Abdicate(now, Outranked, nil)
	require.True(t, e.Releasing())
	_, ok = e.Vote(e.cfg.Self.Node)
	require.False(t, ok)
}

// The end of the wait for leases on an old lead frees nothing that a later round rests on.
func TestALateReleaseFreesNoNewerVote(t *testing.T) { releaseOfTheOldLead(t) }

func releaseOfTheOldLead(t testing.TB) {
	e, now := leadingAlone()
	until := now.Add(time.Second)
	e.NoteGrant(until)
	e.Abdicate(now, Outranked, nil)
	alive := timed.SetOf(7)
	e.NoteState(start, incarnation(7), &State{MaxLock: timed.LAN().MaxLockTime})
	e.RequestSoon()
	timeout(e, until-1, alive)
	require.True(t, e.open, "the round waits for node 7")
	require.Empty(t, releases(timeout(e, until, alive)))
	to, _ := e.Locked(until)
	require.Equal(t, e.cfg.Self, to, "the round rests on this vote")
}

// A lead that ends for another reason than a handover names no successor, even if an earlier
// one has named one and its votes were not given back yet.
func TestASuccessorIsOfOneLead(t *testing.T) { successorOfOneLead(t) }

func successorOfOneLead(t testing.TB) {
	e, now := leadingAlone()
	e.NoteGrant(now.Add(time.Second))
	require.Empty(t, releases(e.HandOver(now, 7, nil)))
	e.RequestSoon()
	now = now.Add(time.Millisecond)
	timeout(e, now, timed.Set{})
	require.True(t, e.Leads(now))
	e.NoteGrantsDropped()
	rs := releases(e.Abdicate(now, Outranked, nil))
	require.Len(t, rs, 1)
	require.Equal(t, timed.NoNode, rs[0].Peer)
}

// What an incarnation said of its quorum system says nothing of the next one.
func TestAForgottenIncarnationNamesNoQuorumSystem(t *testing.T) { forgetsQuorum(t) }

func forgetsQuorum(t testing.TB) {
	e, _, now := candidate(t, Available)
	e.HandleQuorum(now, 2, QuorumID{Epoch: 1, Digest: 99}, nil)
	require.True(t, e.Contradicts(2))
	e.Forget(2)
	require.False(t, e.Contradicts(2))
}

// An answer binds the votes until its end, even if a later one, from a shorter lease, ends
// earlier.
func TestALaterAnswerShortensNoEarlierOne(t *testing.T) { laterAnswers(t) }

func laterAnswers(t testing.TB) {
	e, now := leadingAlone()
	e.Vouch(now)
	first, _ := e.Leading()
	alive := timed.SetOf(7)
	e.NoteState(start, incarnation(7), &State{MaxLock: e.cfg.Timing.LeastLockTime()})
	e.RequestSoon()
	timeout(e, now, alive)
	supported(e, now, 7, alive)
	second, leads := e.Leading()
	require.True(t, leads)
	require.Less(t, second, first, "node 7 votes for less time")
	e.Vouch(now)
	e.Abdicate(now, Outranked, nil)
	timeout(e, first-1, alive)
	require.True(t, e.Releasing())
	timeout(e, first, alive)
	require.False(t, e.Releasing())
}
