package failaware_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/sim/memory"
)

// choosing are nodes without configured ids, at fixed addresses.
type choosing struct {
	t    *testing.T
	net  *memory.Network
	seed []string // addresses that all of them have as candidates
	dirs map[int]string
}

func newChoosing(t *testing.T, seed uint64, candidates ...int) *choosing {
	c := &choosing{t: t, net: memory.New(memory.Options{Seed: seed}), dirs: map[int]string{}}
	for _, i := range candidates {
		c.seed = append(c.seed, c.addr(i))
	}
	return c
}

func (c *choosing) addr(i int) string { return fmt.Sprintf("127.0.0.1:%d", 9000+i) }

// start starts node number i, at its address and with its directory.
func (c *choosing) start(i int) (*failaware.Node, error) {
	if c.dirs[i] == "" {
		c.dirs[i] = c.t.TempDir()
	}
	n, err := failaware.Start(c.t.Context(), failaware.Config{Transport: c.net.Transport(), Listen: c.addr(i), Join: c.seed, StateDir: c.dirs[i]})
	if err == nil {
		c.t.Cleanup(func() { _ = n.Close() })
	}
	return n, err
}

// startAll starts some nodes at the same time.
func (c *choosing) startAll(from, to int) []*failaware.Node {
	var all sync.WaitGroup
	nodes, errs := make([]*failaware.Node, to-from), make([]error, to-from)
	for i := range nodes {
		c.dirs[from+i] = c.t.TempDir()
	}
	for i := range nodes {
		all.Go(func() { nodes[i], errs[i] = c.start(from + i) })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(c.t, err)
	}
	return nodes
}

// Three nodes without ids that are started together with one address share a view within
// a second, and each has an id of its own, which it keeps.
func TestNodesChooseIds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, began := newChoosing(t, 1, 0), time.Now()
		nodes := c.startAll(0, 3)
		for !nodes[2].View().UpToDate || nodes[2].View().View.Set.Len() < 3 {
			time.Sleep(time.Millisecond)
		}
		require.Less(t, time.Since(began), time.Second)
		time.Sleep(time.Second)
		oneView(t, nodes)
		id := nodes[1].ID()
		require.NoError(t, nodes[1].Close())
		time.Sleep(time.Minute)
		again, err := c.start(1)
		require.NoError(t, err)
		require.Equal(t, id, again.ID())
		time.Sleep(time.Second)
		oneView(t, []*failaware.Node{nodes[0], again, nodes[2]})
	})
}

// afterLeaving returns the id of a node, and the one that the next node draws at its place after
// the first has left for good. Each draws the same number.
func afterLeaving(t *testing.T) (first, next failaware.NodeID) {
	synctest.Test(t, func(t *testing.T) {
		failaware.DrawIDs(t, func() uint64 { return 7919 })
		c := newChoosing(t, 1)
		n, err := c.start(0)
		require.NoError(t, err)
		require.NoError(t, n.Leave(t.Context()))
		same, err := c.start(0)
		require.NoError(t, err)
		require.Equal(t, n.ID(), same.ID())
		require.NoError(t, same.LeaveForGood(t.Context()))
		other, err := c.start(0)
		require.NoError(t, err)
		first, next = n.ID(), other.ID()
	})
	return first, next
}

// A node that leaves for good gives its id back: the next one at its place draws another.
func TestANodeThatLeavesForGoodForgetsItsId(t *testing.T) {
	first, next := afterLeaving(t)
	require.NotEqual(t, first, next)
}

// A node that leaves already keeps its id for the next one at its place: it may have told its peers
// that it comes back.
func TestANodeThatLeavesComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChoosing(t, 1)
		n, err := c.start(0)
		require.NoError(t, err)
		time.Sleep(time.Second)
		left := make(chan error, 1)
		go func() { left <- n.Leave(t.Context()) }()
		synctest.Wait()
		require.Empty(t, left, "it waits until its votes bind nobody")
		require.ErrorContains(t, n.LeaveForGood(t.Context()), "not for good")
		require.NoError(t, <-left)
		again, err := c.start(0)
		require.NoError(t, err)
		require.Equal(t, n.ID(), again.ID())
	})
}

// Many nodes choose at once and one after the other, on a network that loses packets. Two
// never share an id in one view, and in the end all have their own.
func TestChosenIdsAreUniqueInAView(t *testing.T) {
	seeds := uint64(4)
	if race.Enabled {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 2))
				c := newChoosing(t, seed, 0, 1)
				c.net.Loss(0.1)
				nodes := c.startAll(0, 3+r.IntN(6))
				for range 2 + r.IntN(4) {
					n, err := c.start(len(nodes))
					require.NoError(t, err)
					nodes = append(nodes, n)
					time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
				}
				c.net.Loss(0)
				nodes = c.settle(nodes)
				oneView(t, nodes)
			})
		})
	}
}

// settle waits until nobody stops any more because of its id. A node that stops is started
// again and takes another id, as an operator's supervisor would do it.
func (c *choosing) settle(nodes []*failaware.Node) []*failaware.Node {
	for quiet := 0; quiet < 20; quiet++ {
		time.Sleep(time.Second)
		ids := map[failaware.NodeID]int{}
		for i, n := range nodes {
			if err := n.Err(); err != nil {
				require.ErrorIs(c.t, err, failaware.ErrDuplicateID)
				again, err := c.start(i)
				require.NoError(c.t, err)
				require.NotEqual(c.t, n.ID(), again.ID(), "it takes another id")
				nodes[i], quiet = again, 0
			}
			c.sameViewSameProcess(nodes[i], nodes)
			ids[nodes[i].ID()]++
		}
		if len(ids) < len(nodes) {
			quiet = min(quiet, 1)
		}
	}
	return nodes
}

// sameViewSameProcess checks that no two processes with one id have one view up to date.
func (c *choosing) sameViewSameProcess(n *failaware.Node, all []*failaware.Node) {
	for _, m := range all {
		if m == n || m.ID() != n.ID() {
			continue
		}
		v, w := n.View(), m.View()
		require.False(c.t, v.UpToDate && w.UpToDate && v.View.ID == w.View.ID, "two processes with the id %v share view %v", n.ID(), v.View.ID)
	}
}

// Two parts of a network that choose the same ids: when they meet, one of the two processes
// with an id stops, says why, and takes another id when it is started again.
func TestPartsThatChooseTheSameIds(t *testing.T) {
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			failaware.DrawIDs(t, func() uint64 { return 7 }) // the eighth of the free ids
			c := newChoosing(t, seed, 0, 1)
			left, err := c.start(0)
			require.NoError(t, err)
			more, err := c.start(2)
			require.NoError(t, err)
			require.NotEqual(t, left.ID(), more.ID(), "it was refused")

			apart := newChoosing(t, seed, 1) // another network, so that they cannot meet
			apart.net, apart.dirs = memory.New(memory.Options{Seed: seed}), c.dirs
			right, err := apart.start(1)
			require.NoError(t, err)
			require.Equal(t, left.ID(), right.ID(), "nobody could refuse it")
			require.NoError(t, right.Close())

			failaware.DrawIDs(t, nil)
			right, err = c.start(1) // with the id that it keeps
			require.NoError(t, err)
			nodes := c.settle([]*failaware.Node{left, right, more})
			oneView(t, nodes)
		})
	}
}

// Two nodes alone with one id, who know each other only: the larger boot id gives way.
func TestTwoAloneWithOneId(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failaware.DrawIDs(t, func() uint64 { return 7 })
		c := newChoosing(t, 1, 0, 1)
		left, err := c.start(0)
		require.NoError(t, err)
		apart := newChoosing(t, 1, 1)
		apart.dirs = c.dirs
		right, err := apart.start(1)
		require.NoError(t, err)
		require.NoError(t, right.Close())
		right, err = c.start(1)
		require.NoError(t, err)
		require.Equal(t, left.ID(), right.ID())
		failaware.DrawIDs(t, nil)
		time.Sleep(2 * time.Second)
		require.True(t, errors.Is(left.Err(), failaware.ErrDuplicateID) != errors.Is(right.Err(), failaware.ErrDuplicateID), "one of the two: %v, %v", left.Err(), right.Err())
		oneView(t, c.settle([]*failaware.Node{left, right}))
	})
}

// states returns the files of the states of nodes in the directory of node number i.
func (c *choosing) states(i int) (names []string) {
	files, err := os.ReadDir(c.dirs[i])
	require.NoError(c.t, err)
	for _, f := range files {
		if name := f.Name(); strings.HasPrefix(name, "node-") && !strings.HasSuffix(name, ".lock") && name != "node-id.state" {
			names = append(names, name)
		}
	}
	return names
}

// An id that a node did not get leaves no state, or a node that has to try again and again would
// run out of ids.
func TestAnIDThatIsNotKeptLeavesNoState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failaware.DrawIDs(t, func() uint64 { return 7 })
		c := newChoosing(t, 1, 0)
		first, err := c.start(0)
		require.NoError(t, err)
		c.dirs[1] = c.dirs[0] + "-1"
		for range 3 {
			late := errors.New("it takes too long")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, late)
			_, err = failaware.Start(ctx, failaware.Config{Transport: c.net.Transport(), Listen: c.addr(1), StateDir: c.dirs[1]})
			cancel()
			require.ErrorIs(t, err, late)
			require.Empty(t, c.states(1))
			_, err = failaware.Start(t.Context(), failaware.Config{Transport: c.net.Transport(), Listen: c.addr(0), StateDir: c.dirs[1]})
			require.ErrorIs(t, err, syscall.EADDRINUSE)
			require.Empty(t, c.states(1))
		}
		second, err := c.start(1)
		require.NoError(t, err)
		require.NotEqual(t, first.ID(), second.ID(), "the first claim was refused")
		require.Contains(t, c.states(1), fmt.Sprintf("node-%v.state", second.ID()))
		require.NotContains(t, c.states(1), fmt.Sprintf("node-%v.state", first.ID()))
	})
}

// The ids of configured peers are not free, also before those are heard.
func TestANodeChoosesNoIDOfItsPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failaware.DrawIDs(t, func() uint64 { return 1 })
		c := newChoosing(t, 1)
		c.dirs[0] = t.TempDir()
		cfg := failaware.Config{Transport: c.net.Transport(), Listen: c.addr(0), StateDir: c.dirs[0]}
		for id := failaware.NodeID(1); id < 10; id++ {
			cfg.Peers = append(cfg.Peers, failaware.Peer{ID: id, Addr: c.addr(int(id))})
		}
		cfg.Peers = append(cfg.Peers, failaware.Peer{Addr: c.addr(10)})
		n, err := failaware.Start(t.Context(), cfg)
		require.NoError(t, err)
		require.Greater(t, n.ID(), failaware.NodeID(9))
		require.NoError(t, n.Close())
	})
}

// oneView checks that the nodes, and no others, share a view that is up to date.
func oneView(t *testing.T, nodes []*failaware.Node) {
	t.Helper()
	first := nodes[0].View()
	for _, n := range nodes {
		v := n.View()
		require.True(t, v.UpToDate, "node %v", n.ID())
		require.Equal(t, first.View.ID, v.View.ID)
		require.Equal(t, len(nodes), v.View.Set.Len())
		require.True(t, v.View.Set.Has(n.ID()))
	}
}
