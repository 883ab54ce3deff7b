package failaware

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

func TestFindLeader(t *testing.T) {
	nodes := startGlobalGroup(t, 3)
	eventually(t, "one leads globally", func() bool { return inOneView(nodes...) && globalLeaderOf(nodes...) != nil })
	for _, n := range nodes {
		// Whoever leads may lose the lead at any time on a busy machine.
		eventually(t, "all find the same", func() bool {
			v, err := n.FindLeader(t.Context())
			require.NoError(t, err)
			g, err := n.FindGlobalLeader(t.Context())
			require.NoError(t, err)
			return v.By == g.By && v.ValidFor() > 0 && g.GlobalValidFor() > 0 && globalLeaderOf(nodes...) == nodes[g.By.Node-1]
		})
	}
	l := globalLeaderOf(nodes...)
	for l == nil {
		l = globalLeaderOf(nodes...)
	}
	other := nodes[l.ID()%3]
	eventually(t, "a refusal says who leads instead", func() bool {
		_, err := other.HoldGlobally(t.Context())
		var refused *NotLeaderError
		if !errors.As(err, &refused) || refused.Leader == NoNode {
			return false
		}
		require.NotEqual(t, other.ID(), refused.Leader)
		require.ErrorContains(t, err, "does, as far as it knows")
		_, err = other.Timestamp()
		require.ErrorIs(t, err, ErrNotLeader)
		return true
	})
	require.NoError(t, other.Close())
	_, err := other.FindLeader(t.Context())
	require.ErrorIs(t, err, ErrClosed)
}

// A follower names the node that it follows, which the search then asks.
func TestASearchGoesFromNodeToNode(t *testing.T) {
	nodes := startGlobalGroup(t, 3)
	eventually(t, "a search takes two steps", func() bool {
		l := globalLeaderOf(nodes...)
		if l == nil || !inOneView(nodes...) {
			return false
		}
		asker, follower := nodes[l.ID()%3], nodes[(l.ID()+1)%3]
		v, refusals, err := asker.search(t.Context(), follower.ID(), true)
		if err != nil || v.By.Node != l.ID() || len(refusals) != 1 {
			return false // the lead was lost meanwhile
		}
		require.Positive(t, v.GlobalValidFor())
		require.Equal(t, []Refusal{{Node: follower.ID(), Leader: l.ID()}}, refusals)
		return true
	})
	// A node that has gone is named as silent.
	l := globalLeaderOf(nodes...)
	for l == nil {
		l = globalLeaderOf(nodes...)
	}
	require.NoError(t, nodes[l.ID()%3].Close())
	_, refusals, err := l.search(t.Context(), nodes[l.ID()%3].ID(), true)
	require.Error(t, err)
	require.Equal(t, []Refusal{{Node: nodes[l.ID()%3].ID(), Silent: true}}, refusals)
}

func TestNobodyIsFound(t *testing.T) {
	q, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	n := startNode(t, Config{ID: 1, Quorum: q})
	v, err := n.FindLeader(t.Context())
	require.NoError(t, err)
	require.Equal(t, n.ID(), v.By.Node, "it leads itself")
	_, refusals, err := n.search(t.Context(), n.ID(), true)
	require.ErrorIs(t, err, ErrNoLeader, "and not the group")
	require.Equal(t, []Refusal{{Node: n.ID()}}, refusals)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	_, err = n.FindGlobalLeader(ctx)
	var none *NoLeaderError
	require.ErrorAs(t, err, &none)
	require.ErrorIs(t, err, ErrNoLeader)
	require.ErrorIs(t, err, enough)
	require.ErrorContains(t, err, "nobody was found who leads globally: nobody is known who might (enough)")
	require.Equal(t, "node 2 does not lead, and names node 3", Refusal{Node: 2, Leader: 3}.String())
	require.Equal(t, "node 2 does not lead, and names no leader", Refusal{Node: 2}.String())
	require.Equal(t, "node 2 does not answer", Refusal{Node: 2, Silent: true}.String())
}
