package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A shorter vote shortens no lease that was granted before: the next lead waits for the
// longest, and members hold theirs.
func longestLeaseCounts(t testing.TB) {
	g := newTrio(t)
	g.form()
	granted := g.votes[3]
	end := g.members[3].ValidUntil()
	g.votes[2] = granted.Add(-20 * time.Millisecond)
	g.round(2, 3)
	require.Equal(t, end, g.members[3].ValidUntil())
	require.Equal(t, granted, g.leader.ValidUntil())
	g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	g.won(1, 2)
	g.round(2)
	require.Equal(t, granted, g.leader.Deadline())
}

func TestTheLongestLeaseCounts(t *testing.T) { longestLeaseCounts(t) }

// A leader that gives up twice waits for the leases of both views, until all members of the
// last have dropped theirs: they had dropped the view before it, too, to join this one.
func bothViewsCount(t testing.TB) {
	g := newTrio(t)
	g.form()
	first := g.votes[3]
	g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	g.leader.leading, g.leader.view = true, g.leader.resigned // leads again with shorter votes
	g.leader.granted = first.Add(-30 * time.Millisecond)
	g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	g.won(1, 2)
	g.round(2)
	require.Equal(t, first, g.leader.Deadline())
	id := g.leader.Resigned().ID
	g.leader.HandleDropped(now, inc(2), id, nil)
	require.Equal(t, []Kind{AllDropped}, kinds(g.leader.HandleDropped(now, inc(3), id, nil)))
	g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	g.won(1, 2)
	require.Contains(t, kinds(g.round(2)), Installed, "nobody counts on anything")
}

func TestALeaderWaitsForAllThatItGranted(t *testing.T) { bothViewsCount(t) }

// A lease that was over when its packet left extends nothing, however it is put into numbers.
func TestALeaseOfThePastExtendsNothing(t *testing.T) {
	g := newTrio(t)
	v := g.form()
	m := g.members[2]
	m.Distrust(now, nil)
	for _, before := range []time.Duration{0, 1, time.Millisecond, time.Hour} {
		p := Part{Kind: Renew, ID: v.ID, Until: now.Add(-before)}
		require.Empty(t, m.HandlePart(now, inc(1), &p, now, now, 0, nil))
		require.False(t, m.UpToDate(now))
		require.Equal(t, timed.Never, m.Deadline())
	}
}

// A proposal is acknowledged by a vote: the report of a node that refuses its vote is none.
func refusalsAcknowledgeNothing(t testing.TB) {
	g := newTrio(t)
	g.won(1, 2)
	id := g.leader.Proposal().ID
	r := Report{Acknowledged: id, Sequence: id.Sequence}
	require.Empty(t, g.leader.HandleReport(now, inc(2), &r, false, g.votes, nil))
	require.Nil(t, g.leader.View())
	require.NotEmpty(t, g.leader.HandleReport(now, inc(2), &r, true, g.votes, nil))
	require.Equal(t, id, g.leader.View().ID)
}

func TestARefusalAcknowledgesNothing(t *testing.T) { refusalsAcknowledgeNothing(t) }

// A view is committed with votes that bind for some time: a lease that ends at once is none.
func commitNeedsTime(t testing.TB) {
	for left, commits := range map[time.Duration]bool{-1: false, 0: false, 1: true} {
		g := newTrio(t)
		g.won(1, 2, 3)
		g.votes[3] = now.Add(left)
		g.round(2, 3)
		require.Equal(t, commits, g.leader.View() != nil, "the vote of node 3 ends in %v", left)
	}
}

func TestACommitNeedsVotesThatBind(t *testing.T) { commitNeedsTime(t) }

// A member that has dropped the lease on one view has not dropped that on the next.
func confirmationsEndWithTheirView(t testing.TB) {
	g := newTrio(t)
	first := g.form().ID
	g.leader.HandleGaveUp(now, LeadEnded, 3, nil)
	require.Empty(t, g.leader.HandleDropped(now, inc(2), first, nil))
	g.won(1, 2, 3)
	g.round(2, 3)
	at := g.votes[3] // the leases on the first view end
	later := votes{1: at + 1000, 2: at + 1000, 3: at + 1000}
	require.Contains(t, kinds(g.leader.HandleTimeout(at, later, nil)), Installed)
	require.Equal(t, at+1000, partOf(g.leader.Announce(at, true, later, nil)).Until)
	second := g.leader.View().ID
	require.NotEqual(t, first, second)
	g.leader.HandleGaveUp(at, LeadEnded, 3, nil)
	require.Empty(t, g.leader.HandleDropped(at, inc(3), second, nil), "node 2 counts on the second view")
	require.Equal(t, []Kind{AllDropped}, kinds(g.leader.HandleDropped(at, inc(2), second, nil)))
}

func TestConfirmationsEndWithTheirView(t *testing.T) { confirmationsEndWithTheirView(t) }

// A resignation may overtake the announcement of the view: the member has told the leader that
// it does not count on the view, and never installs it. Nor does it install a view without itself.
func resignedIsNotInstalled(t testing.TB) {
	g := newTrio(t)
	g.won(1, 2, 3)
	g.round(2, 3)
	commit := g.part()
	require.Equal(t, Commit, commit.Kind)
	m := g.members[2]
	require.Equal(t, []Kind{SendDropped}, kinds(m.HandleResign(now, inc(1), commit.ID, nil)))
	older := commit.ID
	older.Sequence--
	require.Equal(t, []Kind{SendDropped}, kinds(m.HandleResign(now, inc(1), older, nil)), "late, of a view before")
	require.Empty(t, m.HandlePart(now, inc(1), &commit, now, now, 0, nil))
	require.Nil(t, m.View())
	require.False(t, m.UpToDate(now))

	m = g.members[3]
	other := commit
	other.View = &View{ID: commit.ID, Set: timed.SetOf(1, 2), Members: commit.View.Members[:2]}
	require.Empty(t, m.HandlePart(now, inc(1), &other, now, now, 0, nil))
	require.Nil(t, m.View())
	require.NotEmpty(t, m.HandlePart(now, inc(1), &commit, now, now, 0, nil))
	require.Equal(t, commit.ID, m.View().ID)
}

func TestAResignedViewIsNotInstalled(t *testing.T) { resignedIsNotInstalled(t) }
