package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

func TestHoldersAreOfTheSettledView(t *testing.T) { holdersOfTheView(t) }

// holdersOfTheView requires that only words about the present view count, once it is
// settled, and that the state gets the rank of the view when a quorum holds it.
func holdersOfTheView(t testing.TB) {
	now, before := membership.ViewID{Sequence: 5, Leader: 1, Boot: 10}, membership.ViewID{Sequence: 4, Leader: 1, Boot: 10}
	m := &Replica{cfg: Config{Quorum: majority(1, 2, 3)}, viewState: viewState{phase: settled, view: &membership.View{ID: now}}, lineage: Lineage{Rank: 3}, promised: 5}
	m.takeHolds(1, before)
	m.takeHolds(2, before)
	require.True(t, m.holders.Empty(), "words about an earlier view")
	m.takeHolds(1, now)
	m.takeHolds(1, now)
	require.EqualValues(t, 3, m.lineage.Rank, "one holder, twice")
	m.takeHolds(3, now)
	require.EqualValues(t, 5, m.lineage.Rank)
	m.phase, m.holders = merging, timed.Set{}
	m.takeHolds(2, now)
	require.True(t, m.holders.Empty(), "the view is not settled")
	m.phase, m.cfg.Quorum = settled, nil
	m.takeHolds(2, now)
	require.True(t, m.holders.Empty(), "there are no quorums")
}
