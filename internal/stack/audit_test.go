package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/membership"
)

// A state that no rule leads to is named once, and the node says nothing more.
func inconsistentNodesAreSilent(t testing.TB) {
	c := newCluster(2, 0)
	for c.leader() == nil {
		c.step(nil)
	}
	s := c.leader()
	require.Empty(t, s.broken(c.now))
	// A view of a node for which this one does not vote.
	other := c.stacks[2-s.cfg.Self.Node].cfg.Self
	v := &membership.View{ID: membership.ViewID{Sequence: 1000, Leader: other.Node, Boot: other.Boot},
		Members: []membership.Member{{Incarnation: s.cfg.Self}}}
	v.Set.Add(s.cfg.Self.Node)
	s.views.HandlePart(c.now, other, &membership.Part{Kind: membership.Propose, ID: v.ID, View: v}, c.now, c.now, 0, nil)
	s.views.HandlePart(c.now, other, &membership.Part{Kind: membership.Commit, ID: v.ID, View: v, Until: c.now.Add(time.Second)},
		c.now, c.now, time.Millisecond, nil)
	out := s.HandleTimeout(c.now, nil)
	named := 0
	for range 50 {
		for _, e := range out {
			require.Equal(t, Notify, e.Kind)
			if e.Event.Kind == EventInconsistent {
				require.Contains(t, e.Event.String(), "a view that outlasts the vote for its leader")
				named++
			}
		}
		c.now = c.now.Add(time.Millisecond)
		out = s.HandleTimeout(c.now, nil)
	}
	require.Equal(t, 1, named)
	for _, e := range s.Distrust(c.now, nil) {
		require.Equal(t, Notify, e.Kind)
	}
}

func TestInconsistentNodesAreSilent(t *testing.T) { inconsistentNodesAreSilent(t) }

// BenchmarkAudit is the cost of the audit of a leader of five, which each turn pays.
func BenchmarkAudit(b *testing.B) {
	c := newCluster(5, 0)
	for c.leader() == nil {
		c.step(nil)
	}
	s := c.leader()
	for b.Loop() {
		if why := s.broken(c.now); why != "" {
			b.Fatal(why)
		}
	}
}
