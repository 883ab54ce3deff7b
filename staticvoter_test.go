package failaware_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/memory"
)

// A node without a state directory keeps its quorum system when the others replace theirs. Votes
// of nodes that have left its epoch do not make it a global leader beside that of the next one.
func TestVotesOfALaterEpochMakeNoGlobalLeader(t *testing.T) { require.Empty(t, leadersOfALeftEpoch(t)) }

// leadersOfALeftEpoch returns the global leaders of an epoch that has ended.
func leadersOfALeftEpoch(t *testing.T) (former []failaware.NodeID) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 1}), t.TempDir()
		system := func(text string) quorum.System {
			q, err := quorum.Parse(text)
			require.NoError(t, err)
			return q
		}
		nodes := make([]*failaware.Node, 6)
		start := func(id failaware.NodeID) {
			c := failaware.Config{ID: id, Transport: net.Transport(), StateDir: dir, RankBy: failaware.ByID}
			if c.JoinQuorum = id > 3; id <= 3 {
				c.Quorum = system("majority:1,2,3")
			}
			if id == 1 {
				c.StateDir = ""
			}
			n, err := failaware.Start(t.Context(), c)
			require.NoError(t, err)
			nodes[id-1] = n
		}
		for id := failaware.NodeID(2); id <= 6; id++ {
			start(id)
		}
		time.Sleep(2 * time.Second)
		start(1) // another node leads globally
		for _, n := range nodes {
			defer n.Close()
		}
		global := func(of ...failaware.NodeID) (leaders []failaware.NodeID) {
			for _, id := range of {
				if nodes[id-1].LeadsGlobally() {
					leaders = append(leaders, id)
				}
			}
			return leaders
		}
		time.Sleep(2 * time.Second)
		for _, id := range global(2, 3) {
			err := nodes[id-1].ChangeQuorum(t.Context(), system("majority:4,5,6"))
			require.NoError(t, err)
		}
		time.Sleep(2 * time.Second)
		net.Partition([]failaware.NodeID{1, 2, 3}, []failaware.NodeID{4, 5, 6})
		time.Sleep(2 * time.Second)
		require.Len(t, global(4, 5, 6), 1)
		former = global(1, 2, 3)
	})
	return former
}
