package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A voter has answered a round in one way only: the last one counts.
func lastAnswerCounts(t testing.TB) {
	e, alive, now := candidate(t, Available)
	answer := func(support bool) {
		e.HandleReply(now, incarnation(2), Reply{Number: e.LastRequest(), Support: support, Prefers: 2}, true, nil)
	}
	answer(false)
	answer(true)
	require.False(t, e.refusals.Has(2), "it supports now")
	answer(false)
	require.False(t, e.replies.Has(2), "it refuses now")
	supported(e, now, 3, alive)
	require.False(t, e.Leads(now))
	answer(true)
	require.True(t, e.Leads(now))
	require.True(t, e.Refusals().Empty())
}

func TestTheLastAnswerCounts(t *testing.T) { lastAnswerCounts(t) }

// A node that prefers itself is a rival while its word may still be true, also when it is
// silent since: it is no excuse that nobody hears it.
func silentRival(t testing.TB) {
	e, alive, now := candidate(t, Available)
	e.HandleReply(now, incarnation(2), Reply{Number: e.LastRequest(), Prefers: 2}, true, nil)
	supported(e, now, 3, alive.Without(2))
	require.False(t, e.Leads(now), "node 2 was asked, and refused")
	require.True(t, e.Open())

	e, alive, now = candidate(t, Available)
	e.HandleReply(now, incarnation(2), Reply{Number: e.LastRequest(), Prefers: 9}, true, nil)
	supported(e, now, 3, alive)
	require.True(t, e.Leads(now), "node 9 is out of hearing")
	require.Equal(t, timed.SetOf(2), e.Refusals(), "a view must not wait for it")
}

func TestASilentRivalIsNoExcuse(t *testing.T) { silentRival(t) }

// A leader passes over a follower of a living leader of lower rank, which will soon give
// way; the follower of its former incarnation may be bound for longer.
func followsTheFormer(t testing.TB) {
	for _, boot := range []timed.BootID{20, 19} {
		e, alive, now := candidate(t, Strict)
		supported(e, now, 2, alive)
		supported(e, now, 3, alive)
		require.True(t, e.Leads(now))
		e.NoteState(start, incarnation(2), &State{Contender: true})
		at := deadline(e, alive)
		timeout(e, at, alive)
		require.True(t, e.Open())
		e.cfg.Quorum = nil
		supported(e, at, 2, alive)
		e.HandleReply(at, incarnation(3), Reply{Number: e.LastRequest(), LockedTo: timed.Incarnation{Node: 2, Boot: boot}}, true, nil)
		before, _ := e.Leading()
		timeout(e, e.alarm, alive)
		after, _ := e.Leading()
		require.Equal(t, boot == incarnation(2).Boot, after > before, "locked to incarnation %d of node 2", boot)
	}
}

func TestAFollowerOfAFormerIncarnationIsNoExcuse(t *testing.T) { followsTheFormer(t) }

// A node that has asked how long this one leads counts on the answer until the lease ends:
// the votes stay until then, whether the answer was about a local lead or a global one.
func answersBind(t testing.TB) {
	e, now := leadingAlone()
	until, _ := e.Leading()
	require.Equal(t, SendAnswer, e.HandleQuestion(now, incarnation(2), Question{Asked: 7}, nil)[0].Kind)
	require.Empty(t, releases(e.Resign(now+1, nil)))
	e.SetAlive(now+1, timed.Set{})
	require.Empty(t, releases(e.HandleTimeout(until-1, nil)))
	require.Len(t, releases(e.HandleTimeout(until, nil)), 1)
}

func TestAnAnswerBindsTheVotes(t *testing.T) { answersBind(t) }

// A lead ends at the instant that its lease names, and not behind.
func leaseEndsAtItsEnd(t testing.TB) {
	e, alive, now := candidate(t, Available)
	supported(e, now, 2, alive)
	supported(e, now, 3, alive)
	until, leads := e.LeadingGlobally()
	require.True(t, leads)
	require.True(t, e.LeadsGlobally(until-1))
	e.expiration = until.Add(time.Second) // of a later round without a quorum
	require.True(t, e.Leads(until))
	require.False(t, e.LeadsGlobally(until))
	require.Equal(t, Answer{Asked: 5, Asker: 20, Local: time.Second + 1, Global: 1}, answerTo(e, until-1))
	end, _ := e.LeadingGlobally()
	require.Equal(t, until, end)
	e.expiration = until - 5
	e.boundGlobal()
	end, _ = e.LeadingGlobally()
	require.Equal(t, until-5, end, "no global lease outlasts the local one")
	require.False(t, e.Leads(until-5))
	require.Zero(t, answerTo(e, until-5).Global)
}

func TestALeaseEndsAtItsEnd(t *testing.T) { leaseEndsAtItsEnd(t) }

// A node that has stepped down is a contender again when its time is over, though a better one
// that was to take over never does.
func stepDownHasAnEnd(t testing.TB) {
	e, alive, now := readyVoter()
	e.SetAlive(now, alive)
	e.StepDown(now, nil)
	tm := timed.LAN()
	require.GreaterOrEqual(t, e.downUntil, now.Add(tm.LockTime+2*tm.Period()), "votes for this node end, and one round may be lost")
	var st State
	for _, at := range []timed.Instant{now, e.downUntil - 1, e.downUntil} {
		e.HandleTimeout(at, nil)
		e.FillState(at, &st)
		require.Equal(t, at >= e.downUntil, st.Contender, "%v before the end", e.downUntil.Sub(at))
	}
}

func TestASteppingDownHasAnEnd(t *testing.T) { stepDownHasAnEnd(t) }

// fastFor returns for how long after it was sent a message may still be fast.
func fastFor(e *Election) time.Duration {
	t := &e.cfg.Timing
	return t.MaxDrift.Wait(t.FastThreshold)
}

// Votes are not handed to a successor while somebody counts on them: on an answer, or on the
// view of the leader that handed them over before; nor in the instant of a request, whose
// votes are not older than the packet; nor while requests from before the view may count.
func successorWaits(t testing.TB) {
	successor := func(change func(e *Election)) timed.NodeID {
		e, alive, _ := readyVoter()
		e.SetAlive(start, alive)
		e.releasing, e.lastRequest = true, 99
		change(e)
		return e.Successor(100)
	}
	require.Equal(t, timed.NodeID(1), successor(func(*Election) {}))
	require.Equal(t, timed.NodeID(3), successor(func(e *Election) { e.successor = 3 }))
	for name, change := range map[string]func(*Election){
		"not resigned": func(e *Election) { e.releasing = false }, "answered": func(e *Election) { e.answersUntil = 101 },
		"inherited": func(e *Election) { e.inheritedUntil = 101 }, "in the instant of a request": func(e *Election) { e.lastRequest = 100 },
		"committed a moment ago": func(e *Election) { e.NoteCommitted(101 - timed.Instant(fastFor(e))) },
	} {
		require.Equal(t, timed.NoNode, successor(change), name)
	}
	require.Equal(t, timed.NodeID(1), successor(func(e *Election) {
		e.NoteCommitted(100 - timed.Instant(fastFor(e)))
		e.answersUntil, e.inheritedUntil = 100, 100
	}), "all of it is over")
}

func TestASuccessorWaits(t *testing.T) { successorWaits(t) }

// A node that inherits votes twice owes the longer leases.
func owesTheLonger(t testing.TB) {
	e, alive, now := readyVoter()
	require.True(t, ask(e, now, incarnation(1), alive).Support)
	_, until := e.Locked(now)
	e.inheritedUntil = until + 5
	e.NoteHandOver(now+1, incarnation(1), now+1, e.cfg.Self)
	require.Equal(t, until+5, e.InheritedUntil())
	e.inheritedUntil = until - 5
	e.NoteHandOver(now+1, incarnation(1), now+1, e.cfg.Self)
	require.Equal(t, until, e.InheritedUntil())
}

func TestAnHeirOwesTheLongerLeases(t *testing.T) { owesTheLonger(t) }

// The lease of a lead may end while a round is open. The votes in that round stay: they make
// the next lead, and its views rest on them.
func openRoundKeepsVotes(t testing.TB) {
	e, alive, now := candidate(t, Available)
	supported(e, now, 2, alive)
	supported(e, now, 3, alive)
	timeout(e, deadline(e, alive), alive)
	require.True(t, e.Open())
	number := e.LastRequest()
	supported(e, number, 2, alive)
	e.expiration = number + 1 // much was late
	timeout(e, number+1, alive)
	require.False(t, e.Leads(number+1))
	v, ok := e.Vote(2)
	require.True(t, ok)
	require.Equal(t, number, v.Number)
	_, ok = e.Vote(3)
	require.False(t, ok, "the vote of the last round")
	supported(e, number+2, 3, alive)
	require.True(t, e.Leads(number+2))
	require.Empty(t, e.Audit(number+2))
}

func TestAnOpenRoundKeepsItsVotes(t *testing.T) { openRoundKeepsVotes(t) }

// A request must say how long the vote binds.
func TestARequestBindsForSomeTime(t *testing.T) {
	for lock, want := range map[time.Duration]bool{-1: false, 0: false, 1: true, timed.LAN().MaxLockTime: true, timed.LAN().MaxLockTime + 1: false} {
		e, alive, now := readyVoter()
		r, answered := request(e, now, incarnation(1), Request{Number: now, LockTime: lock}, true, now, alive)
		require.True(t, answered)
		require.Equal(t, want, r.Support, "%v", lock)
	}
}

// A successor is preferred for as long as the others defer to it, and no longer.
func namedForATime(t testing.TB) {
	e, alive, now := readyVoter()
	require.True(t, ask(e, now, incarnation(1), alive).Support)
	e.NoteRelease(now, incarnation(1), now, 5)
	e.quietUntil = timed.Never // so that it asks for nothing
	end := now.Add(e.takeoverTime())
	require.Equal(t, end, deadline(e, alive), "nothing else may be due then")
	for _, at := range []timed.Instant{end - 1, end} {
		timeout(e, at, alive)
		var st State
		e.FillState(at, &st)
		require.Equal(t, at < end, st.Named)
	}
}

func TestASuccessorIsPreferredForATime(t *testing.T) { namedForATime(t) }

// What a node says of its lead is true when it says so.
func saysWhatIsTrue(t testing.TB) {
	e, alive, now := candidate(t, Available)
	supported(e, now, 2, alive)
	supported(e, now, 3, alive)
	until, _ := e.Leading()
	for left, leads := range map[time.Duration]bool{0: false, 1: true} {
		var st State
		e.FillState(until.Add(-left), &st)
		require.Equal(t, []bool{leads, leads}, []bool{st.Leading, st.Global}, "%v before the end", left)
		require.Equal(t, leads, st.Support == 3)
	}
}

func TestANodeSaysThatItLeadsWhileItLeads(t *testing.T) { saysWhatIsTrue(t) }

// A node that has stepped down and is alone asks for votes as the contender that it is again.
func asksAsContender(t testing.TB) {
	e, now := leadingAlone()
	e.StepDown(now+1, nil)
	var st State
	e.FillState(now+1, &st)
	require.False(t, st.Contender)
	at := deadline(e, timed.Set{})
	require.Less(t, at, e.downUntil, "nobody can take over")
	timeout(e, at, timed.Set{})
	require.True(t, e.Leads(at))
	e.FillState(at, &st)
	require.True(t, st.Contender)
}

func TestANodeThatSteppedDownInVainIsAContender(t *testing.T) { asksAsContender(t) }
