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
