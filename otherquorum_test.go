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

// otherQuorumsTold returns how many events of another quorum system two nodes have told of each
// other after minutes together, and how many the first has after the second has gone.
func otherQuorumsTold(t *testing.T) (a, b, alone int) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		start := func(id failaware.NodeID, system string, told *atomic.Int32, peers ...failaware.Peer) *failaware.Node {
			q, err := quorum.Parse(system)
			require.NoError(t, err)
			n, err := failaware.Start(t.Context(), failaware.Config{ID: id, Quorum: q, Transport: net.Transport(), Peers: peers})
			require.NoError(t, err)
			go func() {
				for e := range n.Events(t.Context()) {
					if _, ok := e.(event.OtherQuorum); ok {
						told.Add(1)
					}
				}
			}()
			return n
		}
		var toldA, toldB atomic.Int32
		one := start(1, "majority:1,2,3", &toldA)
		two := start(2, "majority:2,4,5", &toldB, failaware.Peer{ID: 1, Addr: one.Addr().String()})
		time.Sleep(5*time.Minute + 30*time.Second)
		a, b = int(toldA.Load()), int(toldB.Load())
		require.NoError(t, two.Close())
		time.Sleep(5 * time.Minute)
		alone = int(toldA.Load())
		require.NoError(t, one.Close())
	})
	return a, b, alone
}

// The event of another quorum system comes again each minute while the two nodes hear each
// other: an alert that counts events lasts as long as the fault.
func TestOtherQuorumIsRepeated(t *testing.T) {
	a, b, alone := otherQuorumsTold(t)
	require.Equal(t, 6, a)
	require.Equal(t, 6, b)
	require.Equal(t, 6, alone, "the peer has gone")
}

// Nodes with state directories and two quorum systems in one epoch do not vote for each other
// either: a node with a wrong system, which leads globally by itself, does not keep the others from
// leading by theirs. The support of each is that of its quorum.
func TestAWrongQuorumSystemBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 1}), t.TempDir()
		var nodes []*failaware.Node
		for id, system := range []string{1: "majority:1", 2: "majority:1,2,3", 3: "majority:1,2,3", 4: ""} {
			if id == 0 {
				continue
			}
			c := failaware.Config{ID: failaware.NodeID(id), Transport: net.Transport(), StateDir: dir, JoinQuorum: system == ""}
			if system != "" {
				q, err := quorum.Parse(system)
				require.NoError(t, err)
				c.Quorum = q
			}
			n, err := failaware.Start(t.Context(), c)
			require.NoError(t, err)
			defer n.Close()
			nodes = append(nodes, n)
		}
		time.Sleep(3 * time.Second)
		support := map[string]bool{}
		for _, n := range nodes {
			if a := n.GlobalLeader(); a.Leads {
				support[a.Support.String()] = true
			}
		}
		require.Equal(t, map[string]bool{"{1}": true, "{2 3}": true}, support)
	})
}
