package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A leader that gave up a view and leads again commits no other view while a member of
// the old one may count on its lease.
func TestTheNextLeadWaitsForTheLeasesOfTheLast(t *testing.T) { nextLeadWaits(t) }

func nextLeadWaits(t testing.TB) {
	g := newTrio(t)
	g.form()
	granted := g.votes[3]
	g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	g.won(1, 2)
	require.NotContains(t, kinds(g.round(2)), Installed, "node 3 may still count on the old view")
	require.Equal(t, granted, g.leader.Deadline())
	later := votes{1: granted + 1000, 2: granted + 1000}
	require.NotContains(t, kinds(g.leader.HandleTimeout(granted-1, later, nil)), Installed)
	require.Contains(t, kinds(g.leader.HandleTimeout(granted, later, nil)), Installed)
}

// Only the confirmations for the view that was given up last count.
func TestConfirmationsAreForOneView(t *testing.T) { confirmationsOfOneView(t) }

func confirmationsOfOneView(t testing.TB) {
	g := newTrio(t)
	v := g.form()
	g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	older := v.ID
	older.Sequence--
	require.Empty(t, g.leader.HandleDropped(now, inc(2), older, nil))
	require.Empty(t, g.leader.HandleDropped(now, inc(3), older, nil))
	require.Empty(t, g.leader.HandleDropped(now, inc(2), v.ID, nil))
	require.Equal(t, []Kind{AllDropped}, kinds(g.leader.HandleDropped(now, inc(3), v.ID, nil)))
}

// A resignation is of the incarnation that leads the view, and of its view.
func TestForeignResignationsAreIgnored(t *testing.T) {
	g := newTrio(t)
	v := g.form()
	for _, id := range []ViewID{{v.ID.Sequence, 1, 11}, {v.ID.Sequence, 2, 10}} {
		require.Empty(t, g.members[2].HandleResign(now, inc(1), id, nil))
	}
	require.Equal(t, []Kind{SendDropped}, kinds(g.members[2].HandleResign(now, inc(1), ViewID{9, 1, 10}, nil)), "another view of it")
	require.True(t, g.members[2].UpToDate(now))
}

// A proposal that is made anew has the members of the one before.
func TestAProposalThatIsMadeAnewKeepsItsMembers(t *testing.T) {
	g := newTrio(t)
	g.won(1, 2)
	members := g.leader.Proposal().Members
	r := Report{Acknowledged: ViewID{Sequence: 7, Leader: 3, Boot: 30}, Sequence: 7}
	g.leader.HandleReport(now, inc(2), &r, true, g.votes, nil)
	require.Equal(t, members, g.leader.Proposal().Members)
	require.Equal(t, timed.SetOf(1, 2), g.leader.Proposal().Set)
}

// A node that refuses its vote says nothing about the view's need of a successor.
func TestRefusalsCallForNoSuccessor(t *testing.T) {
	g := newTrio(t)
	v := g.form()
	r := Report{Acknowledged: ViewID{Sequence: 5, Leader: 3, Boot: 30}, Installed: v.ID, Sequence: 5}
	require.Empty(t, g.leader.HandleReport(now, inc(2), &r, false, g.votes, nil))
	require.Nil(t, g.leader.Proposal())
}

// The largest sequence that counts is half of what packets can carry.
func TestReachableSequences(t *testing.T) {
	m := New(Config{Self: inc(2), Timing: timed.LAN()})
	propose := func(sequence uint64) bool {
		id := ViewID{sequence, 1, 10}
		view := &View{ID: id, Set: timed.SetOf(1, 2), Members: []Member{{Incarnation: inc(1)}, {Incarnation: inc(2)}}}
		m.HandlePart(now, inc(1), &Part{Kind: Propose, ID: id, View: view}, now, now, time.Millisecond, nil)
		var r Report
		m.FillReport(&r)
		return r.Acknowledged == id && m.Sequence() == sequence
	}
	require.False(t, propose(reachable+1))
	require.True(t, propose(reachable))
}

func TestIDsAndMembersAreTexts(t *testing.T) {
	id := ViewID{7, 3, 0xabc}
	for _, want := range []ViewID{id, {}} {
		text, err := want.MarshalText()
		require.NoError(t, err)
		var read ViewID
		require.NoError(t, read.UnmarshalText(text))
		require.Equal(t, want, read)
	}
	for _, want := range []Member{{inc(3), id}, {inc(3), ViewID{}}} {
		text, err := want.MarshalText()
		require.NoError(t, err)
		var read Member
		require.NoError(t, read.UnmarshalText(text))
		require.Equal(t, want, read)
	}
	who, _ := inc(3).MarshalText()
	for _, bad := range []string{"", "7", "x@" + string(who), "7@", "7@x", "@" + string(who), "-1@" + string(who)} {
		read := id
		require.Error(t, read.UnmarshalText([]byte(bad)), bad)
		require.Equal(t, id, read)
		m := Member{inc(3), id}
		require.Error(t, m.UnmarshalText([]byte(bad)), bad)
		require.Error(t, m.UnmarshalText([]byte(string(who)+" from "+bad)), bad)
		require.Equal(t, Member{inc(3), id}, m)
	}
}

// A proposal whose sequence another one has is made anew above it, and not only one whose
// sequence is lower.
func TestAnEqualSequenceOvertakes(t *testing.T) { equalOvertakes(t) }

func equalOvertakes(t testing.TB) {
	g := newTrio(t)
	g.won(1, 2)
	require.Equal(t, uint64(1), g.leader.Proposal().ID.Sequence)
	r := Report{Acknowledged: ViewID{Sequence: 1, Leader: 3, Boot: 30}, Sequence: 1}
	require.Equal(t, []Kind{RequestRound}, kinds(g.leader.HandleReport(now, inc(2), &r, true, g.votes, nil)))
	require.Equal(t, uint64(2), g.leader.Proposal().ID.Sequence)
}

// Confirmations that come when the leader has committed another view free nothing: members
// count on that one now.
func TestLateConfirmationsFreeNothing(t *testing.T) { lateConfirmations(t) }

func lateConfirmations(t testing.TB) {
	g := newTrio(t)
	v := g.form()
	granted := g.leader.granted
	g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	g.won(1, 2, 3)
	g.round(2)
	g.round(3)
	later := votes{1: granted + 1000, 2: granted + 1000, 3: granted + 1000}
	require.Contains(t, kinds(g.leader.HandleTimeout(granted, later, nil)), Installed)
	require.Empty(t, g.leader.HandleDropped(granted, inc(2), v.ID, nil))
	require.Empty(t, g.leader.HandleDropped(granted, inc(3), v.ID, nil))
}

// A member that comes back in a new incarnation leaves the old one behind, which may still
// run and count on its lease.
func TestAFormerIncarnationIsLeftBehind(t *testing.T) { formerIncarnation(t) }

func formerIncarnation(t testing.TB) {
	g := newTrio(t)
	g.form()
	granted := g.leader.granted
	require.Positive(t, granted)
	set := timed.SetOf(1, 2, 3)
	g.leader.HandleWon(now, set, timed.Set{}, set.Without(1), func(id timed.NodeID) timed.BootID {
		if id == 3 {
			return 31
		}
		return boot(id)
	}, g.votes, nil)
	require.Equal(t, granted, g.leader.wait)
}

// A member acknowledges nothing older than what an earlier incarnation of it knew.
func TestNothingOlderThanEarlierIncarnationsIsAcknowledged(t *testing.T) { laterThanEarlier(t) }

func laterThanEarlier(t testing.TB) {
	m := New(Config{Self: inc(2), Timing: timed.LAN(), Sequence: 50})
	for sequence := uint64(49); sequence <= 51; sequence++ {
		id := ViewID{sequence, 1, 10}
		view := &View{ID: id, Set: timed.SetOf(1, 2), Members: []Member{{Incarnation: inc(1)}, {Incarnation: inc(2)}}}
		m.HandlePart(now, inc(1), &Part{Kind: Propose, ID: id, View: view}, now, now, 0, nil)
		var r Report
		m.FillReport(&r)
		require.Equal(t, sequence == 51, r.Acknowledged == id)
	}
}

// Confirmations for a view of an earlier lead say nothing about the view that a successor has
// inherited since.
func TestConfirmationsEndNoInheritedLease(t *testing.T) { inheritedLease(t) }

func inheritedLease(t testing.TB) {
	g := newTrio(t)
	v := g.form()
	until := g.leader.granted + 1000
	g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	g.leader.inherited, g.leader.inheritedUntil = &View{ID: ViewID{Sequence: 7, Leader: 2, Boot: boot(2)}, Set: v.Set, Members: v.Members}, until
	g.won(1, 2)
	require.Equal(t, until, g.leader.wait)
	g.leader.HandleDropped(now, inc(2), v.ID, nil)
	require.Equal(t, []Kind{AllDropped}, kinds(g.leader.HandleDropped(now, inc(3), v.ID, nil)))
	require.Equal(t, until, g.leader.wait, "node 3 may count on the inherited view")
	require.NotContains(t, kinds(g.round(2)), Installed)
	later := votes{1: until + 1000, 2: until + 1000}
	require.Contains(t, kinds(g.leader.HandleTimeout(until, later, nil)), Installed)
	require.Nil(t, g.leader.Inherited())
}

// A member of an open proposal whose vote is missing in a round gets a second chance, as one of
// the view does.
func TestAProposalKeepsItsMembers(t *testing.T) { proposalKeepsMembers(t) }

func proposalKeepsMembers(t testing.TB) {
	g := newTrio(t)
	g.won(1, 2, 3)
	p := g.leader.Proposal()
	g.leader.HandleWon(now, timed.SetOf(1, 2), timed.Set{}, timed.SetOf(2, 3), boot, g.votes, nil)
	require.Same(t, p, g.leader.Proposal())
	again := func(id timed.NodeID) timed.BootID {
		if id == 3 {
			return 31
		}
		return boot(id)
	}
	g.leader.HandleWon(now, timed.SetOf(1, 2), timed.Set{}, timed.SetOf(2, 3), again, g.votes, nil)
	require.Equal(t, timed.SetOf(1, 2), g.leader.Proposal().Set, "another incarnation gets none")
}

// A member that reports an earlier view of this leader has not installed the present one.
func TestAViewIsAnnouncedToThoseOfTheLast(t *testing.T) { announcesToAll(t) }

func announcesToAll(t testing.TB) {
	g := newTrio(t)
	v := g.form()
	r := Report{Installed: v.ID, Acknowledged: ViewID{Sequence: 7, Leader: 3, Boot: 30}, Sequence: 7}
	g.leader.HandleReport(now, inc(2), &r, true, g.votes, nil)
	g.round(2, 3)
	require.NotEqual(t, v.ID, g.leader.View().ID)
	r = Report{Installed: v.ID, Acknowledged: g.leader.View().ID, Sequence: g.leader.Sequence()}
	for id := timed.NodeID(2); id <= 3; id++ {
		g.leader.HandleReport(now, inc(id), &r, true, g.votes, nil)
	}
	require.Equal(t, Commit, g.part().Kind)
}
