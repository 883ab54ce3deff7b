package memory_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/sim/memory"
)

// Nodes that know one other node each find all others, on a network that loses packets:
// members introduce members.
func TestOneSeedIsEnough(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { joinBySeeds(t, seed) }) })
	}
}

func joinBySeeds(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	net := memory.New(memory.Options{Seed: seed})
	net.Loss(0.1)
	count := 3 + r.IntN(20)
	var nodes []*failaware.Node
	for id := 1; id <= count; id++ {
		c := failaware.Config{ID: failaware.NodeID(id), Transport: net.Transport(), Peers: []failaware.Peer{}}
		if id > 1 { // any node of those before, by its id or by its address
			p := failaware.Peer{ID: failaware.NodeID(1 + r.IntN(id-1))}
			if r.IntN(2) == 0 {
				p = failaware.Peer{Addr: fmt.Sprintf("127.0.0.1:%d", 7000+int(p.ID))}
			}
			c.Peers = []failaware.Peer{p}
		}
		n, err := failaware.Start(t.Context(), c)
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.Close() })
		nodes = append(nodes, n)
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
	}
	time.Sleep(20 * time.Second)
	net.Loss(0)
	time.Sleep(nodes[0].Bounds().Notice + 2*nodes[0].Bounds().View) // all hear each other, and the locks of other leaders end
	for _, n := range nodes {
		require.Len(t, n.Status().Peers, count-1, "node %v knows everybody", n.ID())
	}
	requireOneView(t, nodes)
}

// On a network without loss a node that knows one seed is a member of the view of all
// within a second.
func TestASeedJoinsWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{})
		nodes := start(t, net, 3, failaware.Config{})
		time.Sleep(nodes[0].Bounds().Ready + nodes[0].Bounds().View)
		n, err := failaware.Start(t.Context(), failaware.Config{ID: 4, Transport: net.Transport(), Peers: []failaware.Peer{{ID: 3}}})
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.Close() })
		time.Sleep(time.Second)
		requireOneView(t, append(nodes, n))
	})
}
