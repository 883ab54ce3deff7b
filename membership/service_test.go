package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

const now timed.Instant = 1_000_000_000

func inc(id timed.NodeID) timed.Incarnation {
	return timed.Incarnation{Node: id, Boot: timed.BootID(id) * 10}
}

func boot(id timed.NodeID) timed.BootID { return inc(id).Boot }

// votes holds the end of each node's vote. All votes answer requests of bindFor before.
type votes map[timed.NodeID]timed.Instant

const bindFor = 80 * time.Millisecond

func (v votes) LeaseOf(i timed.Incarnation) (until, request timed.Instant, ok bool) {
	until, ok = v[i.Node]
	return until, until.Add(-bindFor), ok && i.Boot == boot(i.Node)
}

func (votes) Flushed(ViewID) bool { return true }

// trio is a leader, node 1, and two members.
type trio struct {
	t       testing.TB
	votes   votes
	leader  *Service
	members map[timed.NodeID]*Service
}

func newTrio(t testing.TB) *trio {
	until := now.Add(80 * time.Millisecond)
	g := &trio{t: t, votes: votes{1: until, 2: until, 3: until}, members: map[timed.NodeID]*Service{}}
	g.leader = New(Config{Self: inc(1), Timing: timed.LAN()})
	for id := timed.NodeID(2); id <= 3; id++ {
		g.members[id] = New(Config{Self: inc(id), Timing: timed.LAN()})
	}
	return g
}

func kinds(out []Effect) (ks []Kind) {
	for _, e := range out {
		ks = append(ks, e.Kind)
	}
	return ks
}

// won lets the leader win a round.
func (g *trio) won(support ...timed.NodeID) []Effect {
	set := timed.SetOf(support...)
	return g.leader.HandleWon(now, set, timed.Set{}, set.Without(1), boot, g.votes, nil)
}

// part returns the view part of the leader's next request.
func (g *trio) part() Part { return partOf(g.leader.Announce(now, true, g.votes, nil)) }

// partOf returns the part in the SendPart effect, if there is one.
func partOf(out []Effect) (p Part) {
	for _, e := range out {
		if e.Kind == SendPart {
			p = e.Part
		}
	}
	return p
}

// round sends the leader's part to members and their reports back.
func (g *trio) round(to ...timed.NodeID) (out []Effect) {
	p := g.part()
	for _, id := range to {
		out = append(out, g.members[id].HandlePart(now, inc(1), &p, now, now, time.Millisecond, nil)...)
		var r Report
		g.members[id].FillReport(&r)
		out = append(out, g.leader.HandleReport(now, inc(id), &r, true, g.votes, nil)...)
	}
	return out
}

// form installs the view of all three, up to date everywhere.
func (g *trio) form() *View {
	require.Equal(g.t, []Kind{RequestRound}, kinds(g.won(1, 2, 3)))
	g.round(2, 3) // propose and acknowledge
	g.round(2, 3) // commit
	for _, s := range []*Service{g.leader, g.members[2], g.members[3]} {
		require.True(g.t, s.UpToDate(now))
		require.Equal(g.t, timed.SetOf(1, 2, 3), s.View().Set)
		require.Equal(g.t, g.leader.View().ID, s.View().ID)
	}
	return g.leader.View()
}

func TestProposeAcknowledgeCommit(t *testing.T) {
	g := newTrio(t)
	g.won(1, 2, 3)
	g.round(2, 3)
	v := g.leader.View()
	require.Equal(t, ViewID{Sequence: 1, Leader: 1, Boot: inc(1).Boot}, v.ID)
	require.False(t, g.leader.UpToDate(now), "the leader holds no lease before it grants one")
	g.round(2)
	p := g.part()
	require.Equal(t, Commit, p.Kind, "until all members are known to have it")
	require.Equal(t, g.votes[1], p.Until)
	g.round(2, 3)
	p = g.part()
	require.Equal(t, Renew, p.Kind)
}

// A leader vouches for what all members have answered.
func TestALeaderVouchesForAll(t *testing.T) { vouchesForAll(t) }

func vouchesForAll(t testing.TB) {
	g := newTrio(t)
	g.form()
	g.round(2, 3)
	p := g.part()
	require.Equal(t, Renew, p.Kind)
	require.Equal(t, g.votes[1].Add(-bindFor), p.Answered)
	for id := range g.votes {
		before := g.votes[id]
		g.votes[id] = before.Add(-time.Millisecond)
		require.Equal(t, g.votes[id].Add(-bindFor), g.part().Answered, "node %d answered last before", id)
		g.votes[id] = before
	}
}

// The lease ends at R + remaining(1−2ρ) − ub(m)(1+ρ) at the latest (M7).
func TestLeaseOfAMember(t *testing.T) {
	g := newTrio(t)
	g.form()
	m, rho := g.members[2], timed.LAN().MaxDrift
	end := now.Add(rho.Trust(80*time.Millisecond) - rho.Upper(time.Millisecond))
	require.Equal(t, end, m.ValidUntil())
	require.True(t, m.UpToDate(end-1))
	require.False(t, m.UpToDate(end))
	out := m.HandleTimeout(end, g.votes, nil)
	require.Equal(t, []Kind{Stale}, kinds(out))
	require.Equal(t, LeaseExpired, out[0].Reason)
}

func TestTheSmallestVoteLimitsTheLease(t *testing.T) {
	g := newTrio(t)
	g.form()
	g.votes[3] = now.Add(10 * time.Millisecond)
	require.Equal(t, g.votes[3], g.part().Until)
	g.votes[3] = now
	p := g.part()
	require.Equal(t, NoPart, p.Kind, "nothing is left to grant")
}

func TestAcknowledgingEndsTheLease(t *testing.T) {
	g := newTrio(t)
	g.form()
	require.Equal(t, []Kind{Stale, RequestRound}, kinds(g.won(1, 2)), "the leader's own lease ends with the proposal")
	p := g.part()
	require.Equal(t, Propose, p.Kind)
	out := g.members[2].HandlePart(now, inc(1), &p, now, now, time.Millisecond, nil)
	require.Equal(t, []Kind{Stale}, kinds(out))
	require.False(t, g.members[2].UpToDate(now))
}

// Rule 1: after a proposal, no older view is ever renewed.
func TestNoRenewalAfterALaterProposal(t *testing.T) {
	g := newTrio(t)
	g.form()
	old := g.part()
	g.won(1, 2)
	g.round(2)
	require.Empty(t, g.members[2].HandlePart(now, inc(1), &old, now, now, 0, nil))
	require.False(t, g.members[2].UpToDate(now))
}

func TestCommitWaitsForMembersLeftBehind(t *testing.T) {
	g := newTrio(t)
	g.form()
	granted := g.votes[3]
	g.won(1, 2)
	require.NotContains(t, kinds(g.round(2)), Installed, "node 3 may still count on the old view")
	require.Equal(t, granted, g.leader.Deadline())
	later := votes{1: granted + 1000, 2: granted + 1000}
	require.Contains(t, kinds(g.leader.HandleTimeout(granted, later, nil)), Installed)
	m, _ := g.leader.View().Member(2)
	require.Equal(t, uint64(1), m.Previous.Sequence, "lineage")
}

// Rule 2.
func TestOvertakenProposalIsMadeAnew(t *testing.T) {
	g := newTrio(t)
	g.won(1, 2)
	r := Report{Acknowledged: ViewID{Sequence: 7, Leader: 3, Boot: 30}, Sequence: 7}
	out := g.leader.HandleReport(now, inc(2), &r, true, g.votes, nil)
	require.Equal(t, []Kind{RequestRound}, kinds(out))
	require.Equal(t, uint64(8), g.leader.Proposal().ID.Sequence)
}

// A member that has acknowledged another proposal since the commit refuses renewals.
func TestMemberThatWentOnGetsAnotherView(t *testing.T) {
	g := newTrio(t)
	g.form()
	r := Report{Acknowledged: ViewID{Sequence: 5, Leader: 3, Boot: 30}, Installed: g.leader.View().ID, Sequence: 5}
	g.leader.HandleReport(now, inc(2), &r, true, g.votes, nil)
	require.NotNil(t, g.leader.Proposal())
	require.Equal(t, uint64(6), g.leader.Proposal().ID.Sequence)
	require.Equal(t, timed.SetOf(1, 2, 3), g.leader.Proposal().Set)
}

func TestSecondChance(t *testing.T) {
	g := newTrio(t)
	g.form()
	all := timed.SetOf(2, 3)
	require.Empty(t, g.leader.HandleWon(now, timed.SetOf(1, 2), timed.Set{}, all, boot, g.votes, nil), "silent, but alive")
	g.leader.HandleWon(now, timed.SetOf(1, 2), timed.SetOf(3), all, boot, g.votes, nil)
	require.Equal(t, timed.SetOf(1, 2), g.leader.Proposal().Set, "refused")
}

// A node that is lost before it has acknowledged a proposal keeps it open in vain. Another one takes
// its place, although the committed view has the members that are left.
func TestALostNodeLeavesTheProposal(t *testing.T) { lostNodeLeaves(t) }

func lostNodeLeaves(t testing.TB) {
	g := newTrio(t)
	g.won(1, 2)
	g.round(2)
	g.round(2)
	require.Equal(t, timed.SetOf(1, 2), g.leader.Committed().Set)
	g.won(1, 2, 3)
	g.round(2)
	require.Equal(t, timed.SetOf(1, 2, 3), g.leader.Proposal().Set)
	require.Equal(t, []Kind{RequestRound}, kinds(g.won(1, 2)))
	require.Equal(t, timed.SetOf(1, 2), g.leader.Proposal().Set)
	g.round(2)
	g.round(2)
	require.True(t, g.members[2].UpToDate(now))
	require.Greater(t, g.members[2].View().ID.Sequence, uint64(2))
}

func TestRestartedMemberIsAnotherMember(t *testing.T) {
	g := newTrio(t)
	g.form()
	reborn := func(id timed.NodeID) timed.BootID {
		if id == 3 {
			return 31
		}
		return boot(id)
	}
	g.leader.HandleWon(now, timed.SetOf(1, 2), timed.Set{}, timed.SetOf(2, 3), reborn, g.votes, nil)
	require.Equal(t, timed.SetOf(1, 2), g.leader.Proposal().Set, "no second chance for another incarnation")
}

func TestResignedViewIsOver(t *testing.T) {
	g := newTrio(t)
	v := g.form()
	renew := g.part()
	out := g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	require.Equal(t, []Kind{Stale, SendResign}, kinds(out))
	require.Equal(t, v.ID, out[1].ID)
	out = g.members[2].HandleResign(now, inc(1), v.ID, nil)
	require.Equal(t, []Kind{Stale, SendDropped}, kinds(out))
	require.Equal(t, Effect{Kind: SendDropped, Peer: 1, ID: v.ID}, out[1])
	require.Empty(t, g.members[3].HandleResign(now, inc(2), v.ID, nil), "node 2 does not lead it")
	require.Empty(t, g.members[2].HandlePart(now, inc(1), &renew, now, now, 0, nil), "a late renewal")
	require.Empty(t, g.leader.HandleDropped(now, inc(2), v.ID, nil))
	require.Equal(t, []Kind{AllDropped}, kinds(g.leader.HandleDropped(now, inc(3), v.ID, nil)))
	require.Empty(t, g.leader.HandleDropped(now, inc(3), v.ID, nil), "that is said once")
	p := g.part()
	require.Equal(t, NoPart, p.Kind, "a leader that gave up never renews")
}

func TestOnlyMembersConfirmTheEndOfAView(t *testing.T) { membersConfirm(t) }

// membersConfirm requires that the confirmation of another incarnation of a member, or of
// a node that is no member, frees nothing.
func membersConfirm(t testing.TB) {
	g := newTrio(t)
	v := g.form()
	g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	require.Empty(t, g.leader.HandleDropped(now, inc(2), v.ID, nil))
	require.Empty(t, g.leader.HandleDropped(now, timed.Incarnation{Node: 3, Boot: 31}, v.ID, nil), "another incarnation")
	require.Empty(t, g.leader.HandleDropped(now, inc(4), v.ID, nil), "no member")
	require.Equal(t, []Kind{AllDropped}, kinds(g.leader.HandleDropped(now, inc(3), v.ID, nil)))
}

func TestForeignPartsAreIgnored(t *testing.T) {
	g := newTrio(t)
	g.form()
	renew := g.part()
	before := g.members[2].ValidUntil()
	require.Empty(t, g.members[2].HandlePart(now+1, inc(3), &renew, now, now+1, 0, nil), "of another sender")
	former := renew
	former.ID.Boot++
	require.Empty(t, g.members[2].HandlePart(now+1, inc(1), &former, now, now+1, 0, nil), "of another incarnation")
	proposal := Part{Kind: Propose, ID: ViewID{9, 1, 11}, View: &View{ID: ViewID{9, 1, 11}, Set: timed.SetOf(1, 2), Members: []Member{{Incarnation: inc(1)}, {Incarnation: inc(2)}}}}
	require.Empty(t, g.members[2].HandlePart(now+1, inc(1), &proposal, now, now+1, 0, nil), "of another incarnation")
	require.Equal(t, before, g.members[2].ValidUntil())
	huge := Part{Kind: Propose, ID: ViewID{MaxSequence + 1, 1, 10}, View: &View{}}
	require.Empty(t, g.members[2].HandlePart(now, inc(1), &huge, now, now, 0, nil))
}

// When all members have acknowledged and a vote has run out, only a reply helps. A
// deadline in the past would make the driver spin.
func TestNoDeadlineInThePast(t *testing.T) {
	g := newTrio(t)
	g.won(1, 2, 3)
	g.votes[3] = now - 1
	g.round(2, 3)
	require.NotNil(t, g.leader.Proposal(), "the lease over the votes is not positive")
	require.Equal(t, timed.Never, g.leader.Deadline())
	g.votes[3] = now.Add(80 * time.Millisecond)
	require.Contains(t, kinds(g.round(3)), Installed)
}

// No report can exhaust a leader's sequences.
func TestHugeSequencesAreIgnored(t *testing.T) {
	g := newTrio(t)
	g.won(1, 2, 3)
	r := Report{Sequence: MaxSequence}
	g.leader.HandleReport(now, inc(2), &r, true, g.votes, nil)
	require.Equal(t, uint64(1), g.leader.Proposal().ID.Sequence)
	g.round(2, 3)
	require.NotNil(t, g.leader.View())
}

// unflushed holds the votes of a group whose members lack messages.
type unflushed struct{ votes }

func (unflushed) Flushed(ViewID) bool { return false }

// With all acknowledgements and votes, a view still waits for the flush. It has no
// deadline of its own and is committed when the flush is done.
func TestCommitWaitsForTheFlush(t *testing.T) {
	g := newTrio(t)
	all := timed.SetOf(1, 2, 3)
	g.won(1, 2, 3)
	p := g.leader.Proposal()
	require.NotNil(t, p)
	report := Report{Acknowledged: p.ID, Sequence: p.ID.Sequence}
	for id := timed.NodeID(2); id <= 3; id++ {
		g.leader.HandleReport(now, inc(id), &report, true, unflushed{g.votes}, nil)
	}
	g.leader.HandleWon(now, all, timed.Set{}, all.Without(1), boot, unflushed{g.votes}, nil)
	require.Nil(t, g.leader.View())
	require.Equal(t, timed.Never, g.leader.Deadline(), "it waits for the flush alone")

	out := g.leader.HandleFlushed(now, g.votes, nil)
	require.Contains(t, kinds(out), Installed)
	require.Equal(t, p.ID, g.leader.View().ID)
}
