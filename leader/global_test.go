package leader

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

func majorityOf(t testing.TB, ids ...timed.NodeID) quorum.System {
	s, err := quorum.Majority(timed.SetOf(ids...))
	require.NoError(t, err)
	return s
}

// candidate returns a ready node 1 in a group of three that hears nodes 2 and 3. Its
// first round has begun.
func candidate(t testing.TB, mode Mode) (e *Election, alive timed.Set, now timed.Instant) {
	e = New(Config{Self: incarnation(1), Timing: timed.LAN(), Mode: mode, Quorum: majorityOf(t, 1, 2, 3), Starts: 7}, start)
	alive = timed.SetOf(2, 3)
	for id := range alive.All() {
		e.NoteState(start, incarnation(id), &State{Contender: true, MaxLock: timed.LAN().MaxLockTime})
	}
	now = deadline(e, alive)
	out := timeout(e, now, alive)
	require.Equal(t, SendRequest, out[0].Kind)
	return e, alive, now
}

// supported lets a node support the present round.
func supported(e *Election, now timed.Instant, by timed.NodeID, alive timed.Set) {
	e.SetAlive(now, alive)
	e.HandleReply(now, incarnation(by), Reply{Number: e.LastRequest(), Support: true,
		Stamp: VoteStamp{Counter: uint64(by), At: now + timed.Instant(by)}}, true, nil)
}

func TestAQuorumIsEnoughAtTheAlarm(t *testing.T) { quorumIsEnough(t) }

func quorumIsEnough(t testing.TB) {
	for _, mode := range []Mode{Available, Strict} {
		e, alive, now := candidate(t, mode)
		supported(e, now, 2, alive)
		e.HandleReply(now, incarnation(3), Reply{Number: e.LastRequest(), Prefers: 3}, true, nil)
		require.False(t, e.Leads(now), "%v: until the alarm others may still support it", mode)
		at := deadline(e, alive)
		timeout(e, at, alive)
		require.True(t, e.Leads(at), "%v", mode)
		require.True(t, e.LeadsGlobally(at), "%v", mode)
		require.Equal(t, timed.SetOf(1, 2), e.Support())
	}
}

// Edicts keep the stamps of the round that they rest on, whatever rounds follow.
func TestStampsThatWereHandedOutStay(t *testing.T) {
	e, alive, now := candidate(t, Available)
	var kept, copies []QuorumStamp
	for range 3 {
		for id := range alive.All() {
			supported(e, now, id, alive)
		}
		q, ok := e.QuorumStamp(now)
		require.True(t, ok)
		kept, copies = append(kept, *q), append(copies, QuorumStamp{q.Epoch, slices.Clone(q.Stamps)})
		require.Equal(t, copies, kept)
		now = deadline(e, alive)
		timeout(e, now, alive)
	}
}

// A round without a quorum renews the local lease and changes neither the global one
// nor its stamps.
func TestTheGlobalLeaseKeepsItsEnd(t *testing.T) {
	e, alive, now := candidate(t, Available)
	supported(e, now, 2, alive)
	supported(e, now, 3, alive)
	require.True(t, e.LeadsGlobally(now))
	end, _ := e.LeadingGlobally()
	stamps, ok := e.QuorumStamp(now)
	require.True(t, ok)
	require.Equal(t, &QuorumStamp{Epoch: 1, Stamps: []Stamp{
		{Node: 1, Counter: 7, Boot: 10, At: now}, {Node: 2, Counter: 2, Boot: 20, At: now + 2}, {Node: 3, Counter: 3, Boot: 30, At: now + 3},
	}}, stamps)

	alone := timed.Set{}
	for now < end {
		now = deadline(e, alone)
		timeout(e, now, alone)
	}
	require.True(t, e.Leads(end), "alone it continues to lead")
	require.False(t, e.LeadsGlobally(end), "but not globally")
	_, leading := e.LeadingGlobally()
	require.False(t, leading)
	_, ok = e.QuorumStamp(end)
	require.False(t, ok)
}

// A global lease ends with the local lease of a shorter round without a quorum, and does not
// begin again when another such round is won late.
func TestAGlobalLeaseIsNotRevived(t *testing.T) { notRevived(t) }

func notRevived(t testing.TB) {
	e, alive, now := candidate(t, Available)
	supported(e, now, 2, alive)
	supported(e, now, 3, alive)
	end, _ := e.LeadingGlobally()
	asks := func(at timed.Instant, id timed.NodeID) {
		e.SetAlive(at, timed.SetOf(id))
		e.request(at, nil)
	}
	refuses := func(at timed.Instant, id timed.NodeID) {
		e.HandleReply(at, incarnation(id), Reply{Number: e.LastRequest(), LockedTo: incarnation(9)}, true, nil)
	}
	e.NoteState(start, incarnation(2), &State{Contender: true, MaxLock: timed.LAN().LeastLockTime()})
	asks(now+1, 2)
	refuses(now+1, 2)
	sooner, leads := e.LeadingGlobally()
	require.True(t, leads && e.LeadsGlobally(sooner-1))
	require.Less(t, sooner, end)
	asks(sooner-1, 3)
	refuses(sooner, 3)
	require.True(t, e.Leads(sooner))
	require.False(t, e.LeadsGlobally(sooner), "it was over")
	require.Contains(t, timeout(e, sooner, timed.SetOf(3)), Effect{Kind: GlobalLost, Reason: NoQuorum})
}

// A process that was stopped can read, after it has been elected, what a global leader before
// it had sent. The word of that leader counts again when the lease has ended.
func TestAGlobalLeaderIsNotDeposedByWordOfAnEarlierOne(t *testing.T) { earlierWord(t) }

func earlierWord(t testing.TB) {
	e, alive, now := candidate(t, Available)
	supported(e, now, 2, alive)
	supported(e, now, 3, alive)
	e.NoteState(start, incarnation(3), &State{Leading: true, Global: true, Quorate: true, Support: 4, Contender: true, MaxLock: timed.LAN().MaxLockTime})
	require.False(t, ask(e, now, incarnation(3), alive).Support)
	require.True(t, e.LeadsGlobally(now))
	require.Less(t, e.Deadline(), timed.Never, "it renews its lease")

	end, _ := e.LeadingGlobally()
	timeout(e, end, timed.Set{})
	require.True(t, ask(e, end, incarnation(3), alive).Support)
}

func TestAQuorumStampLastsUntilTheLeaseEnds(t *testing.T) {
	e, alive, now := candidate(t, Available)
	_, ok := e.QuorumStamp(now)
	require.False(t, ok, "it does not lead yet")
	supported(e, now, 2, alive)
	supported(e, now, 3, alive)
	end, _ := e.LeadingGlobally()
	a, ok := e.QuorumStamp(now)
	require.True(t, ok)
	b, ok := e.QuorumStamp(end - 1)
	require.True(t, ok)
	require.Same(t, a, b)
	_, ok = e.QuorumStamp(end)
	require.False(t, ok, "the clock decides, and nothing else")
}

// Votes are for one quorum system. A request of a candidate with another is refused,
// with the reason. A node with another quorum system blocks and deposes no leader.
func TestVotesAreForOneQuorumSystem(t *testing.T) { oneQuorumSystem(t) }

func oneQuorumSystem(t testing.TB) {
	mine, other := majorityOf(t, 1, 2, 3), majorityOf(t, 1, 2, 3, 4)
	e := New(Config{Self: incarnation(5), Timing: timed.LAN(), Quorum: mine}, start)
	now, alive := e.ReadyAt(), timed.SetOf(1, 2)
	for id := range alive.All() {
		e.NoteState(start, incarnation(id), &State{Contender: true, MaxLock: timed.LAN().MaxLockTime})
	}
	for i, id := range []QuorumID{{}, {Epoch: 2, Digest: mine.Digest()}, {Epoch: 1, Digest: other.Digest()}} {
		out := e.HandleQuorum(now, 1, id, nil)
		if i > 0 {
			require.Equal(t, []Effect{{Kind: OtherQuorum, Peer: 1, Quorum: id}}, out)
		}
		require.Empty(t, e.HandleQuorum(now, 1, id, nil), "it is reported once")
		r := ask(e, now, incarnation(1), alive)
		require.False(t, r.Support, "%v", id)
		require.True(t, r.OtherQuorum)
	}
	require.Empty(t, e.HandleQuorum(now, 2, e.QuorumID(), nil))
	require.True(t, ask(e, now, incarnation(2), alive).Support, "node 1 is not a contender for nodes with another quorum system")

	c, alive, now := candidate(t, Strict)
	c.HandleQuorum(now, 3, QuorumID{Epoch: 2}, nil)
	supported(c, now, 2, alive)
	c.HandleReply(now, incarnation(3), Reply{Number: c.LastRequest(), OtherQuorum: true}, true, nil)
	require.True(t, c.Leads(now), "a node with another quorum system does not block it")
	out := c.HandleRequest(now, incarnation(3), Request{Number: now, LockTime: timed.LAN().LockTime}, true, now, nil)
	require.Len(t, out, 1)
	require.Equal(t, SendReply, out[0].Kind)
	require.True(t, c.Leads(now), "nor does it depose it")
}

// answerTo returns the answer to a question that incarnation 20 of node 2 asked at 5.
func answerTo(e *Election, now timed.Instant) Answer {
	return e.HandleQuestion(now, timed.Incarnation{Node: 2, Boot: 20}, Question{Asked: 5}, nil)[0].Answer
}

// An assurance counts from the question. An answer to another incarnation assures
// nothing.
func TestAnswersCountFromTheQuestion(t *testing.T) { answersCount(t) }

func answersCount(t testing.TB) {
	e, alive, now := candidate(t, Available)
	require.Equal(t, Answer{Asked: 5, Asker: 20}, answerTo(e, now), "it does not lead yet")
	supported(e, now, 2, alive)
	supported(e, now, 3, alive)
	end, _ := e.LeadingGlobally()
	now = end - 1e6
	a := answerTo(e, now)
	require.Equal(t, Answer{Asked: 5, Asker: 20, Local: 1e6, Global: 1e6}, a)

	asker := New(Config{Self: incarnation(2), Timing: timed.LAN()}, start)
	trusted := timed.LAN().MaxDrift.Trust(1e6)
	require.Equal(t, []Effect{{Kind: Verified, Peer: 1, Assurance: Assurance{By: incarnation(1), Asked: 5,
		Local: timed.Instant(5).Add(trusted), Global: timed.Instant(5).Add(trusted)}}}, asker.HandleAnswer(7, incarnation(1), a, nil))
	require.Empty(t, asker.HandleAnswer(4, incarnation(1), a, nil), "it was not asked yet")
	a.Asker++
	require.Empty(t, asker.HandleAnswer(7, incarnation(1), a, nil), "another incarnation asked")

	out := e.Abdicate(now, Resigned, nil)
	require.False(t, e.LeadsGlobally(now), "it may step down at once")
	for _, x := range out {
		require.NotEqual(t, SendRelease, x.Kind, "but gives no vote back while the answer counts")
	}
	require.Equal(t, SendRelease, timeout(e, end, alive)[0].Kind)
}

// The named successor asks for votes at once, and the other nodes defer to it.
func TestTheNamedSuccessorComesFirst(t *testing.T) { namedComesFirst(t) }

func namedComesFirst(t testing.TB) {
	e, alive, now := readyVoter()
	require.True(t, ask(e, now, incarnation(1), alive).Support)
	e.NoteState(start, incarnation(1), &State{})
	e.NoteRelease(now, incarnation(1), now, 3)
	require.True(t, ask(e, now, incarnation(3), alive).Support, "although node 2 has the smaller id")
	e.NoteRelease(now, incarnation(3), now+timed.Instant(time.Hour), timed.NoNode)
	to, _ := e.Locked(now)
	require.False(t, to.Valid())

	e, alive, now = readyVoter()
	require.Equal(t, timed.Never, deadline(e, alive), "node 1 comes before it")
	require.True(t, ask(e, now, incarnation(1), alive).Support)
	now = now.Add(e.grace()) // it has listened for long enough
	e.nextRequest = now.Add(time.Second)
	e.NoteRelease(now, incarnation(1), now, 5)
	require.LessOrEqual(t, deadline(e, alive), now)
	require.Equal(t, SendRequest, timeout(e, now, alive)[0].Kind)
	var st State
	e.FillState(now, &st)
	require.True(t, st.Named)
	e.NoteState(start, incarnation(1), &State{Contender: true, Leading: true, Support: 1})
	require.False(t, e.named, "until a node leads")
}

func TestAQuorumOutranksALargerSupportSet(t *testing.T) {
	for _, by := range []RankBy{Stable, ByID} {
		e := New(Config{Self: incarnation(9), Timing: timed.LAN(), RankBy: by}, start)
		e.NoteState(start, incarnation(1), &State{Contender: true, Leading: true, Support: 5, Weight: 9, Named: true})
		e.NoteState(start, incarnation(8), &State{Contender: true, Leading: true, Support: 2, Global: true})
		e.SetAlive(start, timed.SetOf(1, 8))
		require.Equal(t, timed.NodeID(8), e.best(), "%v", by)
	}
}
