package failaware_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
)

// A newcomer that was not told that the group has a quorum system stays alone. Their leader, whose
// requests for votes it refuses, says so too, and what it lacks.
func TestTheLeaderNamesANewcomerWithoutTheQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 1}), t.TempDir()
		q, err := quorum.Parse("majority:1,2")
		require.NoError(t, err)
		var told [4]atomic.Int32
		var nodes []*failaware.Node
		for id := failaware.NodeID(1); id <= 3; id++ {
			c := failaware.Config{ID: id, Transport: net.Transport(), StateDir: dir, Quorum: q}
			if id == 3 {
				c.Quorum = nil
			}
			n, err := failaware.Start(t.Context(), c)
			require.NoError(t, err)
			defer n.Close()
			nodes = append(nodes, n)
			go func() {
				for e := range n.Events(t.Context()) {
					if o, ok := e.(event.OtherQuorum); ok {
						told[id].Add(1)
						require.Contains(t, o.String(), "a new node needs JoinQuorum")
					}
				}
			}()
		}
		time.Sleep(3 * time.Minute)
		require.True(t, nodes[0].Leads())
		for _, id := range []int{1, 3} {
			require.InDelta(t, 3, told[id].Load(), 1, "node %d tells it each minute", id)
		}
		status := nodes[0].Status()
		require.Len(t, status.Peers, 2)
		require.Empty(t, status.Peers[0].Foreign)
		require.Equal(t, "node 3: it does not vote for this node, nor this node for it: QuorumEpoch is 1 here and 0 there; "+
			"Quorum is majority:1,2 here and none there; a new node needs JoinQuorum and a StateDir", status.Peers[1].String())
	})
}
