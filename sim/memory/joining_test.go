package memory_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/sim/memory"
)

// Nodes that know one other node each find all others, on a network that loses packets:
// members introduce members.
func TestOneSeedIsEnough(t *testing.T) {
	seeds := 8
	if race.Enabled {
		seeds = 2
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { joinBySeeds(t, seed) }) })
	}
}

// A node that is started again finds the members that it had heard, though its seed is gone.
func TestMembersAreFoundAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		dir := t.TempDir()
		start := func(id failaware.NodeID) *failaware.Node {
			c := failaware.Config{ID: id, Transport: net.Transport(), Peers: []failaware.Peer{}, StateDir: dir}
			if id > 1 {
				c.Join = []string{addressOf(1)}
			}
			n, err := failaware.Start(t.Context(), c)
			require.NoError(t, err)
			t.Cleanup(func() { _ = n.Close() })
			return n
		}
		seed, _, restarted := start(1), start(2), start(3)
		time.Sleep(10 * time.Second)
		require.Len(t, restarted.Status().Peers, 2)
		require.NoError(t, seed.Close())
		require.NoError(t, restarted.Close())
		restarted = start(3)
		require.Empty(t, restarted.Status().Peers, "it hears nobody yet")
		time.Sleep(10 * time.Second)
		require.Equal(t, "{2 3}", restarted.View().View.Set.String())
		require.True(t, restarted.View().UpToDate)
	})
}

func knowEachOther(nodes []*failaware.Node) bool {
	for _, n := range nodes {
		for _, other := range nodes {
			if len(n.Status().Peers) != len(nodes)-1 || n.NameOf(other.ID()) != other.Name() {
				return false
			}
		}
	}
	return true
}

func joinBySeeds(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	net := memory.New(memory.Options{Seed: seed})
	net.Loss(0.1)
	count := 3 + r.IntN(13)
	var nodes []*failaware.Node
	for id := 1; id <= count; id++ {
		c := failaware.Config{ID: failaware.NodeID(id), Name: fmt.Sprint("name ", id), Tags: map[string]string{"id": fmt.Sprint(id)}, Transport: net.Transport(), Peers: []failaware.Peer{}}
		if seed%2 == 1 {
			c.Broadcast = &failaware.BroadcastConfig{SendOnly: true}
		}
		if id > 1 { // any node of those before, by its id, by its address or as a candidate
			p := failaware.Peer{ID: failaware.NodeID(1 + r.IntN(id-1))}
			addr := addressOf(p.ID)
			switch r.IntN(4) {
			case 0:
				c.Peers = []failaware.Peer{p}
			case 1:
				c.Peers = []failaware.Peer{{Addr: addr}}
			default: // not trusted, as a name server would say it
				c.Join = []string{addr, "127.0.0.1:9"}
			}
		}
		n, err := failaware.Start(t.Context(), c)
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.Close() })
		nodes = append(nodes, n)
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline) && !knowEachOther(nodes); {
		time.Sleep(100 * time.Millisecond)
	}
	net.Loss(0)
	time.Sleep(nodes[0].Bounds().Notice + 2*nodes[0].Bounds().View) // all hear each other, and the locks of other leaders end
	for _, n := range nodes {
		require.Len(t, n.Status().Peers, count-1, "node %v knows everybody", n.ID())
		for _, other := range nodes {
			require.Equal(t, other.Name(), n.NameOf(other.ID()))
			require.Equal(t, other.Config().Tags, n.TagsOf(other.ID()))
		}
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

// addressOf returns the address of the first node of an id.
func addressOf(id failaware.NodeID) string { return fmt.Sprintf("127.0.0.1:%d", 7000+int(id)) }

// startJoining starts nodes with the same list of candidates.
func startJoining(t *testing.T, net *memory.Network, count int, candidates ...string) (nodes []*failaware.Node) {
	t.Helper()
	for id := 1; id <= count; id++ {
		n, err := failaware.Start(t.Context(), failaware.Config{ID: failaware.NodeID(id), Transport: net.Transport(), Join: candidates})
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.Close() })
		nodes = append(nodes, n)
	}
	return nodes
}

// Three nodes that are started together with the address of one of them share a view
// within a second, and so they do if that one is started late.
func TestNodesWithOneCandidateMeetWithinASecond(t *testing.T) {
	alone := time.Hour
	if race.Enabled {
		alone = time.Minute
	}
	for seed := range failaware.NodeID(3) {
		synctest.Test(t, func(t *testing.T) {
			nodes := startJoining(t, memory.New(memory.Options{Seed: uint64(seed)}), 3, addressOf(seed+1))
			time.Sleep(time.Second)
			requireOneView(t, nodes)
			for _, n := range nodes {
				require.Len(t, n.Status().Peers, 2)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{})
		nodes := startJoining(t, net, 2, addressOf(3))
		time.Sleep(alone)
		require.Len(t, leaders(t, nodes), 2, "they are alone")
		n, err := failaware.Start(t.Context(), failaware.Config{ID: 3, Transport: net.Transport(), Join: []string{addressOf(3)}})
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.Close() })
		time.Sleep(time.Second + nodes[0].Bounds().View)
		requireOneView(t, append(nodes, n))
	})
}

// After a partition that is longer than silent nodes are remembered, the candidates lead
// the parts back to each other.
func TestCandidatesJoinThePartsOfALongPartition(t *testing.T) {
	if race.Enabled {
		t.Skip("ten minutes of four nodes, which do nothing new in them")
	}
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{})
		nodes := startJoining(t, net, 4, addressOf(1))
		time.Sleep(time.Second)
		requireOneView(t, nodes)
		net.Partition(ids{1, 2}, ids{3, 4})
		time.Sleep(10 * time.Minute)
		require.Len(t, nodes[0].Status().Peers, 1, "the others are forgotten")
		requireOneView(t, nodes[2:])
		net.Heal()
		time.Sleep(15 * time.Second)
		requireOneView(t, nodes)
	})
}

// A process that comes back at another address is heard there, although the others still
// remember it at the one before.
func TestANodeThatMovesJoinsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{})
		nodes := startJoining(t, net, 3, addressOf(1))
		time.Sleep(time.Second)
		requireOneView(t, nodes)
		require.NoError(t, nodes[2].Close())
		time.Sleep(5 * time.Second)
		n, err := failaware.Start(t.Context(), failaware.Config{ID: 3, Transport: net.Transport(), Listen: "127.0.0.1:9999", Join: []string{addressOf(1)}})
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.Close() })
		time.Sleep(time.Second)
		requireOneView(t, []*failaware.Node{nodes[0], nodes[1], n})
	})
}

// All members forget a node that leaves for good, and do not introduce it to each other
// again; one that only leaves is expected back.
func TestNodesThatLeaveForGoodAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{})
		nodes := startJoining(t, net, 5, addressOf(1))
		time.Sleep(time.Second)
		requireOneView(t, nodes)
		require.NoError(t, nodes[4].Leave(t.Context()))
		time.Sleep(time.Second)
		require.Len(t, nodes[0].Status().Peers, 4)
		require.NoError(t, nodes[3].LeaveForGood(t.Context()))
		for _, pause := range []time.Duration{time.Second, 30 * time.Second} {
			time.Sleep(pause)
			requireOneView(t, nodes[:3])
			for _, n := range nodes[:3] {
				for _, p := range n.Status().Peers {
					require.NotEqual(t, nodes[3].ID(), p.ID)
				}
			}
		}
		again, err := failaware.Start(t.Context(), failaware.Config{ID: 4, Transport: net.Transport(), Join: []string{addressOf(1)}})
		require.NoError(t, err)
		t.Cleanup(func() { _ = again.Close() })
		time.Sleep(time.Second)
		requireOneView(t, append(nodes[:3:3], again))
	})
}
