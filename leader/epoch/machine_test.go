package epoch

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

const three = "majority 1,2,3"

func inc(id timed.NodeID) timed.Incarnation {
	return timed.Incarnation{Node: id, Boot: timed.BootID(100 + uint64(id))}
}

func config(id timed.NodeID) Config {
	return Config{Self: inc(id), Counter: 1, ReadyAt: 1000, Parse: parseMajority,
		Period: time.Microsecond, IdlePeriod: time.Millisecond, Retry: time.Microsecond}
}

func machine(t testing.TB, id timed.NodeID, s State) *Machine {
	t.Helper()
	m, err := New(config(id), s, 0)
	require.NoError(t, err)
	return m
}

// leader returns node 1, which has won the round 1010 by the votes with the stamps.
func leader(t testing.TB) (m *Machine, stamps []edict.Stamp) {
	t.Helper()
	m = machine(t, 1, first())
	m.NoteVote(inc(1), 1010, 1090)
	m.NoteReply(inc(2), 1010, nil)
	stamps = []edict.Stamp{stamp(1, 1010), stamp(2, 5)}
	require.Empty(t, m.HandleWon(1011, 1010, stamps, nil))
	return m, stamps
}

func first() State { return State{Epoch: 1, System: three} }

func stamp(id timed.NodeID, at timed.Instant) edict.Stamp {
	return edict.Stamp{Node: id, Counter: 1, Boot: inc(id).Boot, At: at}
}

func digest(text string) uint64 {
	s, err := parseMajority(text)
	if err != nil {
		panic(err)
	}
	return s.Digest()
}

// kinds returns the kinds of effects in their order.
func kinds(out []Effect) (all []Kind) {
	for _, e := range out {
		all = append(all, e.Kind)
	}
	return all
}

func told(out []Effect, k EventKind) bool {
	for _, e := range out {
		if e.Kind == Notify && e.Event.Kind == k {
			return true
		}
	}
	return false
}

func TestNewChecksItsArguments(t *testing.T) {
	for want, change := range map[string]func(*Config, *State){
		"Self":                 func(c *Config, _ *State) { c.Self = timed.Incarnation{} },
		"Counter":              func(c *Config, _ *State) { c.Counter = 0 },
		"Parse":                func(c *Config, _ *State) { c.Parse = nil },
		"must be above 0":      func(c *Config, _ *State) { c.Retry = 0 },
		"IdlePeriod":           func(c *Config, _ *State) { c.IdlePeriod = 0 },
		"Period, IdlePeriod":   func(c *Config, _ *State) { c.Period = 0 },
		"never persisted":      func(_ *Config, s *State) { s.Phase, s.Next, s.Agreed = Chosen, three, true },
		"has no quorum system": func(_ *Config, s *State) { s.System = "" },
		"it is no majority":    func(_ *Config, s *State) { s.System = "all" },
		`"majority 2,1" is not in canonical form`: func(_ *Config, s *State) { s.Phase, s.Next, s.Agreed = Wedged, "majority 2,1", true },
	} {
		c, s := config(1), first()
		change(&c, &s)
		_, err := New(c, s, 0)
		require.ErrorContains(t, err, want)
	}
}

// noteOld offers a proposal from before a vote for another candidate. The voter must
// not note it, even if its proposer has the vote again.
func noteOld(t testing.TB) {
	m := machine(t, 2, first())
	m.NoteVote(inc(1), 1010, 1090)
	m.NoteVote(inc(3), 1100, 1180)
	m.NoteVote(inc(1), 1200, 1280)
	late := proposal(1, "majority 1,2", stamp(1, 1), stamp(2, 1010))
	require.Empty(t, m.HandleReport(1210, inc(1), &late, nil))
	m.NoteVote(inc(1), 1220, 1300)
	now := proposal(1, "majority 1,2", stamp(1, 2), stamp(2, 1200))
	require.Empty(t, m.HandleReport(1230, inc(3), &now, nil), "another node sends it")
	other := proposal(1, "majority 1,2", stamp(1, 2), edict.Stamp{Node: 2, Counter: 1, Boot: 7, At: 1200})
	require.Empty(t, m.HandleReport(1230, inc(1), &other, nil), "another incarnation voted")
	strange := proposal(1, "all", stamp(1, 2), stamp(2, 1200))
	require.Empty(t, m.HandleReport(1230, inc(1), &strange, nil), "it cannot be read")
	out := m.HandleReport(1230, inc(1), &now, nil)
	require.Equal(t, []Effect{{Kind: Persist, State: m.State()}, {Kind: SendStateToAll, State: m.State()}}, out)
	require.Empty(t, m.HandleReport(1240, inc(1), &now, nil), "once is enough")
	m.leading = true
	require.ErrorIs(t, m.Propose("majority 1"), ErrUnderWay, "it is noted here")
}

func TestProposalFromBeforeAnotherVoteIsNotNoted(t *testing.T) { noteOld(t) }

// wedgesOnce checks the order of a voter's steps once it knows the successor.
func wedgesOnce(t testing.TB) {
	m := machine(t, 2, first())
	require.True(t, m.Votes(1, 1, digest(three)))
	require.False(t, m.Votes(1, 1, digest("majority 1,2")))
	require.False(t, m.Votes(4, 1, digest(three)), "only members lead by a quorum")
	require.False(t, m.Votes(1, 2, digest(three)))
	m.NoteVote(inc(1), 1010, 1090)
	chosen := State{Epoch: 1, System: three, Phase: Chosen, Next: "majority 1,2", Agreed: true}
	out := m.HandleReport(1020, inc(1), &chosen, nil)
	require.Equal(t, []Kind{Notify, SendStateToAll}, kinds(out))
	require.False(t, m.Votes(1, 1, digest(three)), "no vote once the successor is known")
	for now := timed.Instant(1021); now < 1090; now++ {
		for _, e := range m.HandleTimeout(now, nil) {
			require.Equal(t, Chosen, e.State.Phase, "a vote binds")
		}
	}
	require.EqualValues(t, 1090, timed.Later(m.Deadline(), 1090))
	out = m.HandleTimeout(1090, nil)
	require.Equal(t, []Kind{Persist, SendStateToAll}, kinds(out))
	require.Equal(t, Wedged, out[0].State.Phase)

	m, err := New(config(2), out[0].State, 2000)
	require.NoError(t, err)
	require.False(t, m.Votes(1, 1, digest(three)), "no vote after a restart")
	other := out[0].State
	require.True(t, told(m.HandleReport(2010, inc(3), &other, nil), Entered), "two of three")
	require.True(t, m.Votes(1, 2, digest("majority 1,2")))
}

func TestVoterWedgesWhenItsVotesExpire(t *testing.T) { wedgesOnce(t) }

func TestReturnedVoteNoLongerBinds(t *testing.T) { returnedByItsOwner(t) }

// returnedByItsOwner requires that only the incarnation that has a vote returns it.
func returnedByItsOwner(t testing.TB) {
	m := machine(t, 2, first())
	m.NoteVote(inc(1), 1010, 1090)
	m.NoteFreed(1020, inc(3))
	m.NoteFreed(1020, timed.Incarnation{Node: 1, Boot: inc(1).Boot + 1})
	chosen := State{Epoch: 1, System: three, Phase: Chosen, Next: "majority 1,2", Agreed: true}
	m.HandleReport(1030, inc(1), &chosen, nil)
	require.Equal(t, Chosen, m.State().Phase)
	m.NoteFreed(1040, inc(1))
	m.HandleTimeout(1040, nil)
	require.Equal(t, Wedged, m.State().Phase)
}

func TestProposeErrors(t *testing.T) {
	m := machine(t, 1, first())
	require.ErrorIs(t, m.Propose("majority 1,2"), ErrNotLeader)
	m.NoteVote(inc(1), 1010, 1090)
	win := func(now, number timed.Instant) []Effect {
		m.NoteReply(inc(2), number, nil)
		return m.HandleWon(now, number, []edict.Stamp{stamp(1, 1010), stamp(2, 5)}, nil)
	}
	require.Empty(t, win(1011, 1010))
	require.ErrorIs(t, m.Propose("all"), ErrSystem)
	require.ErrorIs(t, m.Propose("majority 2,1"), ErrSystem)
	require.ErrorIs(t, m.Propose(three), ErrSystem)
	require.NoError(t, m.Propose("majority 1,2"))
	require.ErrorIs(t, m.Propose("majority 1"), ErrUnderWay)
	require.NoError(t, m.Propose("majority 1,2"), "again")
	require.Empty(t, m.HandleWon(1012, 1012, []edict.Stamp{stamp(1, 1010), stamp(2, 5)}, nil), "the voter's report of the round is missing")
	require.Equal(t, []Kind{Persist, SendStateToAll, Notify}, kinds(win(1012, 1010)))
	require.Empty(t, win(1013, 1010), "it waits for the voters")
	require.ErrorIs(t, m.Propose("majority 1"), ErrUnderWay)
	m.NoteLost()
	require.ErrorIs(t, m.Propose("majority 1,2"), ErrNotLeader)
	joiner := machine(t, 4, State{})
	require.ErrorIs(t, joiner.Propose(three), ErrSystem)
}

// A proposal that a voter has noted comes before the one that the leader wants.
func TestANotedProposalSupersedes(t *testing.T) {
	for _, wanted := range []string{"", "majority 1,2", "majority 1,3"} {
		m := machine(t, 1, first())
		m.NoteVote(inc(1), 1010, 1090)
		noted := proposal(1, "majority 1,3", edict.Stamp{Node: 2, Counter: 1, Boot: 7, At: 1})
		m.NoteReply(inc(2), 1010, &noted)
		m.leading, m.wanted = true, wanted
		out := m.HandleWon(1011, 1010, []edict.Stamp{stamp(1, 1010), stamp(2, 5)}, nil)
		require.True(t, told(out, Proposed))
		require.Equal(t, "majority 1,3", m.State().Next)
		if wanted == "majority 1,2" {
			require.Equal(t, Event{Kind: Superseded, Epoch: 1, System: "majority 1,3"}, out[0].Event)
			require.Empty(t, m.wanted)
		} else {
			require.False(t, told(out, Superseded))
		}
	}
}

// The latest of the proposals that voters have noted counts, whoever has noted it. One that
// was chosen is among them. Those of other epochs and of incarnations that did not vote are none.
func TestTheLatestProposalCounts(t *testing.T) {
	at := func(second timed.Instant, next string) *State {
		s := proposal(1, next, stamp(2, second), stamp(3, second))
		return &s
	}
	stamps := []edict.Stamp{stamp(1, 1010), stamp(2, 5), stamp(3, 5)}
	for _, c := range []struct {
		own, two, three *State
		want            string
	}{
		{at(1, "majority 1"), at(2, "majority 2"), at(3, "majority 3"), "majority 3"},
		{at(3, "majority 1"), at(2, "majority 2"), at(1, "majority 3"), "majority 1"},
		{at(1, "majority 1"), at(3, "majority 2"), at(2, "majority 3"), "majority 2"},
		{&State{}, at(1, "majority 2"), &State{}, "majority 2"},
	} {
		m := machine(t, 1, first())
		m.NoteVote(inc(1), 1010, 1090)
		if c.own.Phase == Noted {
			m.state = *c.own
		}
		m.NoteReply(inc(2), 1010, c.two)
		m.NoteReply(inc(3), 1010, c.three)
		require.True(t, told(m.HandleWon(1011, 1010, stamps, nil), Proposed))
		require.Equal(t, c.want, m.State().Next)
	}
	m := machine(t, 1, first())
	m.NoteVote(inc(1), 1010, 1090)
	former := at(1, "majority 2")
	former.Epoch = 7
	m.NoteReply(inc(2), 1010, former)
	m.NoteReply(inc(3), 1010, nil)
	require.Empty(t, m.HandleWon(1011, 1010, stamps, nil))
	m.NoteReply(timed.Incarnation{Node: 2, Boot: 99}, 1010, at(1, "majority 2"))
	require.Empty(t, m.HandleWon(1011, 1010, stamps, nil))
	require.Equal(t, Idle, m.State().Phase)
}

func TestLeaderRepeatsProposalUnderLatestVotes(t *testing.T) {
	m, stamps := leader(t)
	require.NoError(t, m.Propose("majority 1,2"))
	old := m.HandleWon(1012, 1010, stamps, nil)[0].State
	m.NoteVote(inc(1), 3000, 3080)
	m.NoteReply(inc(3), 3000, nil)
	out := m.HandleWon(3010, 3000, []edict.Stamp{stamp(1, 3000), stamp(3, 8)}, nil)
	require.True(t, told(out, Proposed))
	require.Equal(t, edict.After, edict.Compare(out[0].State.Edict, old.Edict))
	require.Empty(t, m.HandleReport(3011, inc(2), &old, nil), "the peer has noted the old proposal")
	require.True(t, told(m.HandleReport(3012, inc(3), &out[0].State, nil), Decided))
}

func TestIncomparableProposalsAreReportedOnce(t *testing.T) {
	m := machine(t, 1, first())
	m.NoteVote(inc(1), 1010, 1090)
	a := proposal(1, "majority 1,2", edict.Stamp{Node: 2, Counter: 1, Boot: 7, At: 1})
	b := proposal(1, "majority 1,3", edict.Stamp{Node: 2, Counter: 1, Boot: 8, At: 1})
	m.NoteReply(inc(2), 1010, &a)
	m.NoteReply(inc(3), 1010, &b)
	stamps := []edict.Stamp{stamp(1, 1010), stamp(2, 5), stamp(3, 5)}
	require.Equal(t, []Effect{{Kind: Notify, Event: Event{Kind: Unordered, Epoch: 1}}}, m.HandleWon(1011, 1010, stamps, nil))
	require.Empty(t, m.HandleWon(1012, 1010, stamps, nil))
}

func TestReportsBringPeersUpToDate(t *testing.T) {
	m := machine(t, 1, State{Epoch: 3, System: three})
	old := first()
	out := m.HandleReport(10, inc(2), &old, nil)
	require.Equal(t, []Effect{{Kind: SendState, Peer: 2, State: m.State()}}, out)
	joiner := machine(t, 4, State{})
	require.Nil(t, joiner.System())
	require.False(t, joiner.Votes(4, 0, 0))
	require.Equal(t, []Kind{SendStateToAll}, kinds(joiner.HandleTimeout(0, nil)))
	require.Empty(t, joiner.HandleReport(5, inc(5), &State{}, nil), "neither knows")
	require.Equal(t, []Kind{Notify, Persist, SendStateToAll}, kinds(joiner.HandleReport(10, inc(1), &out[0].State, nil)))
	require.False(t, joiner.Votes(1, 3, digest(three)), "it is not a member")
	mixed := State{Epoch: 3, System: "majority 1,2"}
	require.True(t, told(m.HandleReport(20, inc(2), &mixed, nil), Conflict))
	require.Empty(t, m.HandleReport(21, inc(2), &mixed, nil), "once")
	next := State{Epoch: 4, System: three}
	m.HandleReport(22, inc(2), &next, nil)
	mixed.Epoch = 4
	require.True(t, told(m.HandleReport(23, inc(2), &mixed, nil), Conflict), "once in each epoch")
	strange := State{Epoch: 4, System: "grid 2x2"}
	joiner.HandleReport(30, inc(1), &strange, nil)
	require.EqualValues(t, 3, joiner.State().Epoch, "a malformed system is not entered")
}

func TestForce(t *testing.T) {
	m := machine(t, 1, first())
	for want, c := range map[string]struct {
		next string
		dead timed.Set
	}{
		"no member is declared dead":   {"majority 1,2", timed.Set{}},
		"are not members":              {"majority 1", timed.SetOf(3, 4)},
		"not a survivor":               {"majority 2", timed.SetOf(1)},
		"it has no quorum":             {"majority 2,3,4", timed.SetOf(2, 3)},
		"it rules already, in epoch 1": {three, timed.SetOf(3)},
	} {
		out, err := m.Force(2000, c.next, c.dead, nil)
		require.ErrorIs(t, err, ErrSystem)
		require.ErrorContains(t, err, want)
		require.Empty(t, out)
	}
	noted := proposal(1, "majority 1,2,3,4", stamp(1, 1100), stamp(2, 1))
	m.NoteVote(inc(2), 1100, 1190)
	require.NotEmpty(t, m.HandleReport(1110, inc(2), &noted, nil))
	out, err := m.Force(2000, "majority 1", timed.SetOf(3), nil)
	require.NoError(t, err, "a noted proposal gives way")
	require.Equal(t, []Kind{Notify, Persist, SendStateToAll}, kinds(out))
	require.Equal(t, Wedged, m.State().Phase)
	_, err = m.Force(2000, "majority 2", timed.SetOf(3), nil)
	require.ErrorIs(t, err, ErrUnderWay)
	bound := machine(t, 1, first())
	require.NotEmpty(t, bound.HandleReport(900, inc(2), &State{Epoch: 1, System: three, Phase: Chosen, Next: "majority 1,2", Agreed: true}, nil))
	require.Equal(t, Chosen, bound.State().Phase)
	_, err = bound.Force(950, "majority 2", timed.SetOf(3), nil)
	require.ErrorIs(t, err, ErrUnderWay, "nor does one that is chosen")
	out, err = m.Force(2100, "majority 1", timed.SetOf(2, 3), nil)
	require.NoError(t, err)
	require.True(t, told(out, Entered), "the other survivor died too")
	require.EqualValues(t, 2, m.State().Epoch)

	alive := machine(t, 3, first())
	forced := State{Epoch: 1, System: three, Phase: Chosen, Next: "majority 1", Dead: timed.SetOf(3)}
	require.True(t, told(alive.HandleReport(2200, inc(1), &forced, nil), DeclaredDead))
	require.Equal(t, Wedged, alive.State().Phase, "it stops nevertheless")
	forced.Dead = timed.SetOf(2, 3)
	again := alive.HandleReport(2210, inc(1), &forced, nil)
	require.Contains(t, kinds(again), Persist)
	require.False(t, told(again, DeclaredDead), "it is told once")
	_, err = machine(t, 4, State{}).Force(0, three, timed.SetOf(1), nil)
	require.ErrorIs(t, err, ErrSystem)
}

// A forced change ends an epoch with all members that are not declared dead: a quorum of them
// may have agreed on another successor.
func TestAForcedChangeNeedsAllThatLive(t *testing.T) {
	five := "majority 1,2,3,4,5"
	m := machine(t, 1, State{Epoch: 1, System: five})
	_, err := m.Force(2000, "majority 1,2,3,4", timed.SetOf(5), nil)
	require.NoError(t, err)
	wedged := State{Epoch: 1, System: five, Phase: Wedged, Next: "majority 1,2,3,4", Dead: timed.SetOf(5)}
	for _, id := range []timed.NodeID{2, 3} {
		m.HandleReport(2010, inc(id), &wedged, nil)
		require.EqualValues(t, 1, m.State().Epoch)
	}
	m.HandleReport(2010, inc(4), &wedged, nil)
	require.EqualValues(t, 2, m.State().Epoch)
}

// A node that knows of a successor takes nothing over from those that name another one.
func TestAnotherSuccessorIsAConflict(t *testing.T) {
	m := machine(t, 1, first())
	chosen := State{Epoch: 1, System: three, Phase: Chosen, Next: "majority 1,2", Agreed: true}
	require.NotEmpty(t, m.HandleReport(900, inc(2), &chosen, nil))
	require.Equal(t, Chosen, m.State().Phase, "its votes bind it")
	before := m.State()
	strange := State{Epoch: 1, System: three, Phase: Chosen, Next: "all", Agreed: true}
	stranger := machine(t, 2, first())
	require.Empty(t, stranger.HandleReport(900, inc(3), &strange, nil))
	require.Equal(t, first(), stranger.State(), "it cannot be read")
	forced := State{Epoch: 1, System: three, Phase: Chosen, Next: "majority 1", Dead: timed.SetOf(3)}
	require.True(t, told(m.HandleReport(910, inc(3), &forced, nil), Conflict))
	require.Equal(t, before, m.State())
}

// What a leader of an epoch may do ends with it, and so does what it was asked to propose.
func TestALeadEndsWithItsEpoch(t *testing.T) {
	m, stamps := leader(t)
	require.True(t, m.Leads())
	require.NoError(t, m.Propose("majority 2"))
	require.NotEmpty(t, m.HandleReport(1020, inc(2), &State{Epoch: 2, System: "majority 1,2"}, nil))
	require.False(t, m.Leads())
	require.ErrorIs(t, m.Propose("majority 1"), ErrNotLeader)
	m.NoteVote(inc(1), 1030, 1110)
	m.NoteReply(inc(2), 1030, nil)
	stamps[0].At = 1030
	require.Empty(t, m.HandleWon(1031, 1030, stamps, nil), "nobody has asked for a change of this epoch")
}

// A voter that no vote binds wedges as soon as it knows the successor. One that knows it as
// forced takes it for agreed once it learns so, and then a quorum ends the epoch.
func TestKnownSuccessorIsAgreedLater(t *testing.T) {
	m := machine(t, 1, first())
	forced := State{Epoch: 1, System: three, Phase: Wedged, Next: "majority 1,2", Dead: timed.SetOf(2, 3)}
	m.NoteVote(inc(2), 1010, 1090)
	m.HandleReport(1089, inc(3), &forced, nil)
	require.Equal(t, Chosen, m.State().Phase)
	agreed := forced
	agreed.Phase, agreed.Agreed, agreed.Dead = Chosen, true, timed.SetOf(3)
	require.False(t, told(m.HandleReport(1089, inc(2), &agreed, nil), Decided), "the successor was known")
	require.True(t, m.State().Agreed)
	agreed.Phase = Wedged
	m.HandleReport(1089, inc(2), &agreed, nil)
	require.EqualValues(t, 2, m.State().Epoch, "nodes 2 and 3 are a quorum")

	m = machine(t, 2, State{Epoch: 1, System: three})
	m.NoteVote(inc(1), 1010, 1090)
	agreed.Phase = Chosen
	m.HandleReport(1090, inc(1), &agreed, nil)
	require.Equal(t, Wedged, m.State().Phase)
}

// A member that has wedged for a forced successor learns that the successor is agreed. Who
// says so still votes in the epoch, which ends with the wedge of a quorum only.
func wordsWedgeNobody(t testing.TB) {
	m := machine(t, 1, first())
	_, err := m.Force(2000, "majority 1", timed.SetOf(3), nil)
	require.NoError(t, err)
	require.Equal(t, Wedged, m.State().Phase)
	said := State{Epoch: 1, System: three, Phase: Chosen, Next: "majority 1", Agreed: true}
	m.HandleReport(2010, inc(2), &said, nil)
	require.True(t, m.State().Agreed)
	require.EqualValues(t, 1, m.State().Epoch)
	said.Phase = Wedged
	m.HandleReport(2020, inc(2), &said, nil)
	require.EqualValues(t, 2, m.State().Epoch)
}

func TestWordsWedgeNobody(t *testing.T) { wordsWedgeNobody(t) }

// The end of an epoch that others have agreed on ends what this node has proposed.
func TestASuccessorEndsTheOwnProposal(t *testing.T) {
	m, stamps := leader(t)
	require.NoError(t, m.Propose("majority 1,2"))
	require.NotEmpty(t, m.HandleWon(1012, 1010, stamps, nil))
	require.True(t, m.own)
	require.NoError(t, m.Propose("majority 1,2"), "it is that")
	m.HandleReport(1020, inc(2), &State{Epoch: 1, System: three, Phase: Chosen, Next: "majority 2", Agreed: true}, nil)
	require.False(t, m.own)
	require.Empty(t, m.wanted)
}

// A node that has voted for another since it won the round makes no proposal, and counts
// nobody's as its own.
func TestAWonRoundIsOverWithTheVote(t *testing.T) {
	m, stamps := leader(t)
	require.NoError(t, m.Propose("majority 1,2"))
	m.NoteVote(inc(3), 1100, 1180)
	require.Empty(t, m.HandleWon(1101, 1010, stamps, nil))
	require.False(t, m.own)
	require.Equal(t, Idle, m.State().Phase)
}

// A leader keeps the last report of each voter, in whatever order they come.
func reportsOfEach(t testing.TB) {
	m := machine(t, 1, first())
	last := map[timed.NodeID]timed.Instant{}
	r := rand.New(rand.NewPCG(1, 2))
	for number := timed.Instant(1); number < 200; number++ {
		id := timed.NodeID(2 + r.IntN(8))
		m.NoteReply(inc(id), number, nil)
		last[id] = number
		for id, number := range last {
			require.Equal(t, &report{from: inc(id), number: number}, m.reportOf(id))
		}
		require.Len(t, m.reports, len(last))
	}
}

func TestReportsOfEachVoterAreKept(t *testing.T) { reportsOfEach(t) }

// A leader that leads anew proposes at once under its new votes.
func TestNewLeadProposesAtOnce(t *testing.T) {
	m := machine(t, 1, first())
	win := func(number timed.Instant) []Effect {
		m.NoteVote(inc(1), number, number+80)
		m.NoteReply(inc(2), number, nil)
		return m.HandleWon(number, number, []edict.Stamp{stamp(1, number), stamp(2, number)}, nil)
	}
	win(1010)
	require.NoError(t, m.Propose("majority 1,2"))
	require.True(t, told(win(1011), Proposed))
	require.False(t, told(win(1012), Proposed))
	m.NoteLost()
	require.True(t, told(win(1013), Proposed))
}

// Those that noted the proposal of a lead that was lost say nothing about a later one, which
// another node has made.
func proposalOfAnother(t testing.TB) {
	const five, next = "majority 1,2,3,4,5", "majority 1,2,3"
	m := machine(t, 1, State{Epoch: 1, System: five})
	own := []edict.Stamp{stamp(1, 1010), stamp(2, 1010)}
	m.NoteVote(inc(1), 1010, 1090)
	m.NoteReply(inc(2), 1010, nil)
	m.HandleWon(1010, 1010, own, nil)
	require.NoError(t, m.Propose(next))
	require.True(t, told(m.HandleWon(1010, 1010, own, nil), Proposed))
	noted := m.State()
	m.HandleReport(1011, inc(2), &noted, nil)
	m.NoteLost()
	m.NoteVote(inc(3), 1020, 1100)
	s := State{Epoch: 1, System: five, Phase: Noted, Next: next, Edict: edict.Edict{Epoch: 1,
		Stamps: []edict.Stamp{stamp(1, 1020), stamp(3, 1020)}, Digest: edict.Sum(Proposal(1, next))}}
	require.NotEmpty(t, m.HandleReport(1021, inc(3), &s, nil), "it is noted")
	require.Empty(t, m.HandleReport(1022, inc(3), &s, nil), "two of five have noted it")
	require.Equal(t, Noted, m.State().Phase)
}

func TestTheProposalOfAnotherIsNotCounted(t *testing.T) { proposalOfAnother(t) }

// A voter whose vote came before its first report proves nothing about what it has noted.
func TestRoundWithoutReportProposesNothing(t *testing.T) {
	m := machine(t, 1, first())
	m.NoteVote(inc(1), 1010, 1090)
	stamps := []edict.Stamp{stamp(1, 1010), stamp(2, 5)}
	m.HandleWon(1010, 1010, stamps, nil)
	require.NoError(t, m.Propose("majority 1,2"))
	require.Empty(t, m.HandleWon(1010, 1010, stamps, nil))
}

// A vote of the epoch before is none of the present one.
func TestVotesEndWithTheirEpoch(t *testing.T) {
	m := machine(t, 2, first())
	m.NoteVote(inc(1), 1010, 1090)
	m.HandleReport(1020, inc(1), &State{Epoch: 2, System: three}, nil)
	late := proposal(2, "majority 1,2", stamp(1, 1), stamp(2, 1010))
	require.Empty(t, m.HandleReport(1030, inc(1), &late, nil))
	m.NoteVote(inc(1), 1040, 1120)
	now := proposal(2, "majority 1,2", stamp(1, 1), stamp(2, 1040))
	require.NotEmpty(t, m.HandleReport(1050, inc(1), &now, nil))
}

// A group of one that crashed between wedging and entering recovers alone.
func TestSingleMemberRecovers(t *testing.T) {
	m := machine(t, 1, State{Epoch: 5, System: "majority 1", Phase: Wedged, Next: "majority 1,2", Agreed: true})
	require.True(t, told(m.HandleTimeout(0, nil), Entered))
	require.EqualValues(t, 6, m.State().Epoch)
}

// A peer that names another epoch is told of this node's, whichever of the two is the later one.
func TestAPeerInAnotherEpochIsToldOfThisOne(t *testing.T) {
	m := machine(t, 1, State{Epoch: 5, System: three})
	require.Empty(t, m.HandleEpoch(1010, 2, 5, nil))
	for _, other := range []uint64{0, 4, 6} {
		require.Equal(t, []Effect{{Kind: SendState, Peer: 2, State: m.State()}}, m.HandleEpoch(1010, 2, other, nil))
	}
}
