package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/timed"
)

// changing returns a ready node 1 of majority:1,2,3 whose quorum system may be replaced.
// Its first round has begun.
func changing(t testing.TB) (e *Election, alive timed.Set, now timed.Instant) {
	timing := timed.LAN()
	m, err := epoch.New(epoch.Config{Self: incarnation(1), Counter: 1, ReadyAt: start.Add(timing.ReadyTime()), Parse: ParseSystem,
		Period: time.Second, IdlePeriod: time.Second, Retry: time.Second}, epoch.State{Epoch: 1, System: "majority:1,2,3"}, start)
	require.NoError(t, err)
	e = New(Config{Self: incarnation(1), Timing: timing, Epochs: m, Starts: 1}, start)
	require.Same(t, m, e.cfg.Epochs)
	alive = timed.SetOf(2, 3)
	for id := range alive.All() {
		e.NoteState(start, incarnation(id), &State{Contender: true, Quorate: true, MaxLock: timing.MaxLockTime})
	}
	now = deadline(e, alive)
	timeout(e, now, alive)
	return e, alive, now
}

func TestVotesWithoutAStampMakeLocalLeaders(t *testing.T) {
	e, alive, now := changing(t)
	for id := range alive.All() {
		e.HandleReply(now, incarnation(id), Reply{Number: e.LastRequest(), Support: true}, true, nil)
	}
	require.True(t, e.Leads(now))
	require.False(t, e.LeadsGlobally(now))
}

func TestARoundBelongsToTheEpochOfItsBeginning(t *testing.T) {
	e, alive, now := changing(t)
	out := e.cfg.Epochs.HandleReport(now, incarnation(2), &epoch.State{Epoch: 2, System: "majority:1,2"}, nil)
	require.NotEmpty(t, out)
	e.HandleEpoch(now, nil)
	require.Equal(t, uint64(2), e.QuorumID().Epoch)
	for id := range alive.All() {
		supported(e, now, id, alive)
	}
	require.True(t, e.Leads(now))
	require.False(t, e.LeadsGlobally(now), "the votes were asked for in epoch 1")
	now = deadline(e, alive)
	timeout(e, now, alive)
	for id := range alive.All() {
		supported(e, now, id, alive)
	}
	require.True(t, e.LeadsGlobally(now))
	q, ok := e.QuorumStamp(now)
	require.True(t, ok)
	require.Equal(t, uint64(2), q.Epoch)
	require.Len(t, q.Stamps, 2, "those of members")
}

// The end of an epoch, or of the lead, ends what rests on it: votes that were counted before
// do not count, and nothing more is proposed.
func endsWithTheEpoch(t testing.TB) {
	for name, end := range map[string]func(*Election, timed.Instant){
		"another epoch": func(e *Election, now timed.Instant) {
			e.cfg.Epochs.HandleReport(now, incarnation(2), &epoch.State{Epoch: 2, System: "majority:1,2"}, nil)
			e.HandleEpoch(now, nil)
		},
		"no lead": func(e *Election, now timed.Instant) { e.Abdicate(now, Resigned, nil) },
	} {
		e, alive, now := changing(t)
		supported(e, now, 2, alive)
		if name == "no lead" {
			supported(e, now, 3, alive)
			require.True(t, e.LeadsGlobally(now))
			stamps, _ := e.QuorumStamp(now)
			e.cfg.Epochs.HandleWon(now, e.LastRequest(), stamps.Stamps, nil)
			require.NoError(t, e.cfg.Epochs.Propose("majority:1,2"))
		}
		require.Empty(t, e.Audit(now), name)
		end(e, now)
		require.Empty(t, e.Audit(now), name)
		require.ErrorIs(t, e.cfg.Epochs.Propose("majority:1,2,4"), epoch.ErrNotLeader, name)
		e.HandleReply(now, incarnation(3), Reply{Number: e.LastRequest()}, true, nil)
		e.HandleTimeout(e.Deadline(), nil)
		require.False(t, e.LeadsGlobally(now), name)
	}
}

func TestWhatEndsWithTheEpoch(t *testing.T) { endsWithTheEpoch(t) }

// A vote across epochs has no stamp. Of two quorum systems of one epoch, one is wrong: their nodes
// do not vote for each other, and neither gives way to the other.
func TestVotesAcrossEpochs(t *testing.T) { acrossEpochs(t) }

func acrossEpochs(t testing.TB) {
	for _, c := range []struct {
		id             QuorumID
		support, stamp bool
	}{{QuorumID{}, true, false}, {QuorumID{1, membership(t, "majority:1,2,3")}, true, true}, {QuorumID{2, membership(t, "majority:1,2,3")}, true, false},
		{QuorumID{1, membership(t, "majority:2,3,4")}, false, false}} {
		e, alive, now := changing(t)
		timeout(e, deadline(e, alive), alive) // the round fails, and its votes are given back
		now = now.Add(timed.LAN().RoundTime() + time.Millisecond)
		e.NoteState(start, incarnation(2), &State{Contender: true, Quorate: true, Global: true, MaxLock: timed.LAN().MaxLockTime})
		require.Equal(t, c.id.Epoch == 1 && !c.stamp, len(e.HandleQuorum(now, 2, c.id, nil)) > 0, "%v", c.id)
		reply, answered := request(e, now, incarnation(2), Request{Number: 9, LockTime: timed.LAN().LockTime}, true, now, alive)
		require.True(t, answered)
		require.Equal(t, c.support, reply.Support, "%v", c.id)
		require.Equal(t, !c.support, reply.OtherQuorum, "%v", c.id)
		require.Equal(t, c.stamp, reply.Stamp != VoteStamp{}, "%v", c.id)
	}
}

// A candidate that contradicts the quorum system of this node neither blocks nor deposes it, although
// it ranks above: it could keep a quorum from being led.
func TestAContradictingNodeIsNoRival(t *testing.T) {
	e, alive, now := changing(t)
	e.NoteState(start, incarnation(3), &State{Contender: true, Quorate: true, Leading: true, Global: true, MaxLock: timed.LAN().MaxLockTime})
	e.HandleQuorum(now, 3, QuorumID{1, membership(t, "majority:3")}, nil)
	e.HandleReply(now, incarnation(3), Reply{Number: e.LastRequest(), OtherQuorum: true}, true, nil)
	supported(e, now, 2, alive)
	require.True(t, e.LeadsGlobally(now))
	_, answered := request(e, now, incarnation(3), Request{Number: 9, LockTime: timed.LAN().LockTime}, true, now, alive)
	require.True(t, answered)
	require.True(t, e.LeadsGlobally(now))
}

// tellsTheForeign has a node hear the votes of a peer for a quorum system, all the time or from
// when the peer is alive again, and returns when it tells of the peer; 0: never.
func tellsTheForeign(t testing.TB, id QuorumID, back time.Duration) time.Duration {
	e, alive, begin := changing(t)
	e.SetAlive(begin, alive)
	contradicts := len(e.HandleQuorum(begin, 3, id, nil)) > 0
	require.Equal(t, contradicts, e.Foreign(3))
	for at := time.Duration(0); at < time.Minute; at += time.Second {
		if back > 0 && at == back-time.Second {
			e.SetAlive(begin.Add(at), timed.SetOf(2))
		} else if at == back {
			e.SetAlive(begin.Add(at), alive)
		}
		if out := e.HandleQuorum(begin.Add(at), 3, id, nil); len(out) > 0 {
			require.Equal(t, []Effect{{Kind: OtherQuorum, Peer: 3, Quorum: id}}, out)
			require.Empty(t, e.HandleQuorum(begin.Add(at+time.Minute), 3, id, nil), "it is told once")
			require.True(t, e.Foreign(3))
			e.SetAlive(begin.Add(at), timed.SetOf(2))
			require.False(t, e.Foreign(3), "it is away")
			return at
		}
		require.Equal(t, contradicts, e.Foreign(3))
	}
	return 0
}

// foreignIsTold is about peers that do not follow the epochs of this node although they hear it. They
// differ for a while after each change, and when they have been away.
func foreignIsTold(t testing.TB) {
	own := QuorumID{1, membership(t, "majority:1,2,3")}
	require.Zero(t, tellsTheForeign(t, own, 0))
	require.Zero(t, tellsTheForeign(t, QuorumID{1, 7}, 0), "it contradicts at once")
	for _, id := range []QuorumID{{}, {Epoch: 2, Digest: 7}} {
		at := tellsTheForeign(t, id, 0)
		require.GreaterOrEqual(t, at, foreignAfter)
		require.LessOrEqual(t, at, foreignAfter+time.Second)
		require.GreaterOrEqual(t, tellsTheForeign(t, id, 8*time.Second), 8*time.Second+foreignAfter, "it was away")
	}
}

func TestPeersThatFollowNoEpochsAreTold(t *testing.T) { foreignIsTold(t) }

// leadsOfOthersAreNotTaken is about peers that say that they lead globally, by this node's quorum
// system and by others.
func leadsOfOthersAreNotTaken(t testing.TB) {
	own := QuorumID{1, membership(t, "majority:1,2,3")}
	replaced, _, now := changing(t)
	static, _, _ := candidate(t, Available)
	for _, e := range []*Election{replaced, static} {
		e.NoteState(start, incarnation(3), &State{Contender: true, Leading: true, Global: true, MaxLock: timed.LAN().MaxLockTime})
		e.HandleQuorum(now, 3, own, nil)
		require.True(t, e.LeadsHere(3))
		require.False(t, e.LeadsHere(2))
		e.HandleQuorum(now, 3, QuorumID{1, 7}, nil)
		require.False(t, e.LeadsHere(3), "another system")
		e.HandleQuorum(now, 3, QuorumID{0, 7}, nil)
		require.False(t, e.LeadsHere(3), "an epoch that is over")
		e.HandleQuorum(now, 3, QuorumID{2, 7}, nil)
		require.Equal(t, e == replaced, e.LeadsHere(3), "this node will follow, or never")
	}
}

func TestLeadsOfOtherSystemsAreNotTaken(t *testing.T) { leadsOfOthersAreNotTaken(t) }

// Where this node's quorum system is not replaced, but that of its voters is, their votes count as
// long as they are in its epoch: only such votes have stamps.
func TestVotesOfALaterEpochDoNotCount(t *testing.T) { laterEpochCountsNot(t) }

func laterEpochCountsNot(t testing.TB) {
	e, alive, now := candidate(t, Available)
	for _, stamp := range []VoteStamp{{}, {Counter: 1, At: 5}} {
		for id := range alive.All() {
			e.HandleReply(now, incarnation(id), Reply{Number: e.LastRequest(), Support: true, Stamp: stamp}, true, nil)
		}
		require.True(t, e.Leads(now))
		require.Equal(t, stamp != VoteStamp{}, e.LeadsGlobally(now))
		now = deadline(e, alive)
		timeout(e, now, alive)
	}
	q, ok := e.QuorumStamp(now)
	require.True(t, ok)
	require.Equal(t, alive.With(1), q.Voters())
	require.Empty(t, (*QuorumStamp)(nil).Voters())
}

func membership(t testing.TB, text string) uint64 {
	s, err := ParseSystem(text)
	require.NoError(t, err)
	return s.Digest()
}

func TestOnlyMembersOfTheQuorumSystemAreVoters(t *testing.T) {
	e, _, now := changing(t)
	var s State
	e.FillState(now, &s)
	require.True(t, s.Quorate)
	e.cfg.Epochs.HandleReport(now, incarnation(2), &epoch.State{Epoch: 2, System: "majority:2,3"}, nil)
	e.HandleEpoch(now, nil)
	e.FillState(now, &s)
	require.False(t, s.Quorate)
	e.NoteState(start, incarnation(3), &State{Contender: true, Quorate: true})
	require.True(t, e.outranksMe(3))
	_, err := ParseSystem("none")
	require.Error(t, err)
}

// A leader that enters an epoch asks for votes that count in it at once.
func asksInTheNewEpoch(t testing.TB) {
	e, alive, now := changing(t)
	for id := range alive.All() {
		supported(e, now, id, alive)
	}
	require.True(t, e.LeadsGlobally(now))
	require.Greater(t, deadline(e, alive), now)
	e.cfg.Epochs.HandleReport(now, incarnation(2), &epoch.State{Epoch: 2, System: "majority:1,2"}, nil)
	e.HandleEpoch(now, nil)
	require.LessOrEqual(t, deadline(e, alive), now)
}

func TestALeaderAsksAtOnceInANewEpoch(t *testing.T) { asksInTheNewEpoch(t) }

// A voter ends its epoch when its vote is over, and not before: the vote that it gives binds it
// at once.
func TestAVoteHoldsUpTheEndOfItsEpoch(t *testing.T) { voteHoldsEpoch(t) }

func voteHoldsEpoch(t testing.TB) {
	e, alive, now := changing(t)
	timeout(e, deadline(e, alive), alive) // the round fails, and its votes are given back
	now = now.Add(timed.LAN().RoundTime() + time.Millisecond)
	e.NoteState(start, incarnation(2), &State{Contender: true, Quorate: true, Global: true, MaxLock: timed.LAN().MaxLockTime})
	e.HandleQuorum(now, 2, QuorumID{1, membership(t, "majority:1,2,3")}, nil)
	reply, _ := request(e, now, incarnation(2), Request{Number: 9, LockTime: timed.LAN().LockTime}, true, now, alive)
	require.NotZero(t, reply.Stamp)
	_, until := e.Locked(now)
	m := e.cfg.Epochs
	m.HandleReport(now, incarnation(2), &epoch.State{Epoch: 1, System: "majority:1,2,3", Phase: epoch.Chosen, Next: "majority:1,2", Agreed: true}, nil)
	m.HandleTimeout(until-1, nil)
	require.Equal(t, epoch.Chosen, m.State().Phase)
	m.HandleTimeout(until, nil)
	require.Equal(t, epoch.Wedged, m.State().Phase)
}

// A peer that has another quorum system again, such as that of a later epoch, follows. It has as long as
// before to go on.
func foreignAnew(t testing.TB) {
	e, _, now := changing(t)
	for _, id := range []QuorumID{{2, 7}, {3, 8}} {
		e.HandleQuorum(now, 3, id, nil)
		e.HandleQuorum(now, 3, id, nil)
		require.False(t, e.Foreign(3), "%v", id)
		now = now.Add(foreignAfter)
		require.Equal(t, []Effect{{Kind: OtherQuorum, Peer: 3, Quorum: id}}, e.HandleQuorum(now, 3, id, nil))
		require.True(t, e.Foreign(3))
	}
}

func TestAPeerThatFollowsIsNotForeign(t *testing.T) { foreignAnew(t) }
