package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/sim/memory"
)

type ids = []failaware.NodeID

// start starts nodes 1 to count, which end with the test.
func start(t *testing.T, net *memory.Network, count int, cfg failaware.Config) []*failaware.Node {
	t.Helper()
	var nodes []*failaware.Node
	for i := range count {
		cfg.ID, cfg.Transport = failaware.NodeID(i+1), net.Transport()
		n, err := failaware.Start(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.Close() })
		nodes = append(nodes, n)
	}
	return nodes
}

// leaders returns the nodes that lead, having checked that no node supports two.
func leaders(t *testing.T, nodes []*failaware.Node) (lead []*failaware.Node) {
	t.Helper()
	var taken failaware.Set
	for _, n := range nodes {
		if a := n.Leader(); a.Leads {
			require.Equal(t, n.ID(), a.Leader)
			require.True(t, a.Support.Has(n.ID()), "a leader supports itself")
			require.False(t, taken.Intersects(a.Support), "node %v supports two leaders", n.ID())
			taken = taken.Union(a.Support)
			lead = append(lead, n)
		}
	}
	return lead
}

// requireOneView checks that the nodes, and no others, share a fresh view and a
// leader.
func requireOneView(t *testing.T, nodes []*failaware.Node) {
	t.Helper()
	lead := leaders(t, nodes)
	require.Len(t, lead, 1)
	require.Equal(t, len(nodes), lead[0].Leader().Support.Len())
	first := nodes[0].View()
	for _, n := range nodes {
		require.Equal(t, lead[0].ID(), n.Leader().Leader)
		v := n.View()
		require.True(t, v.UpToDate)
		require.Equal(t, first.View.ID, v.View.ID)
		require.Equal(t, len(nodes), v.View.Set.Len())
		require.True(t, v.View.Set.Has(n.ID()))
	}
}

// slack is the largest excess of a bound of one clock when another measures it.
const slack = time.Millisecond

func TestFiveNodesElectWithinTheBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 1})
		nodes := start(t, net, 5, failaware.Config{})
		b := nodes[0].Bounds()
		time.Sleep(b.Ready + b.Elect + slack)
		require.Len(t, leaders(t, nodes), 1)
		time.Sleep(max(b.View-b.Elect, 0))
		requireOneView(t, nodes)
	})
}

func TestPartitionHasTwoLeadersThatShareNobodyAndHealingOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 2})
		nodes := start(t, net, 5, failaware.Config{})
		b := nodes[0].Bounds()
		time.Sleep(b.Ready + b.View + slack)
		requireOneView(t, nodes)

		// The old view is known to be stale in both parts before either has another.
		whole := nodes[0].View().View.ID
		net.Partition(ids{1, 2, 3}, ids{4, 5})
		for range 200 {
			time.Sleep(b.View / 200)
			lead := leaders(t, nodes)
			require.LessOrEqual(t, len(lead), 2)
			for i, n := range nodes {
				for _, m := range nodes[i+1:] {
					v, w := n.View(), m.View()
					if v.UpToDate && w.UpToDate && v.View.ID != w.View.ID {
						require.False(t, v.View.Set.Intersects(w.View.Set), "up-to-date views overlap")
					}
				}
			}
		}
		time.Sleep(slack)
		requireOneView(t, nodes[:3])
		requireOneView(t, nodes[3:])
		require.Len(t, leaders(t, nodes), 2)
		for _, n := range nodes {
			stale := false
			for e := range kept(t, n) {
				s, ok := e.(event.ViewStale)
				stale = stale || ok && s.View == whole
			}
			require.True(t, stale, "node %v was told that the view of all is stale", n.ID())
		}
		require.NotZero(t, net.Stats().Cut)

		net.Heal()
		time.Sleep(b.View + slack)
		requireOneView(t, nodes)
	})
}

// kept iterates over the events that a node has kept, without waiting.
func kept(t *testing.T, n *failaware.Node) func(yield func(event.Event) bool) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	return func(yield func(event.Event) bool) {
		defer cancel()
		n.EventsSince(ctx, 0)(yield)
	}
}

// A leader whose loop stands still says no by the time alone, before anybody else
// leads, and its contexts end.
func TestPausedLeaderKnowsThatItLeadsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 3})
		nodes := start(t, net, 5, failaware.Config{})
		b := nodes[0].Bounds()
		time.Sleep(b.Ready + b.View + slack)
		old := leaders(t, nodes)[0]
		lead, cancel, err := old.LeaderContext(t.Context())
		require.NoError(t, err)
		defer cancel()

		net.Pause(old.ID())
		paused := time.Now()
		left := old.Leader().AtMost
		<-lead.Done()
		require.ErrorIs(t, context.Cause(lead), failaware.ErrNotLeader)
		require.Less(t, time.Since(paused), left, "in time")
		time.Sleep(left - time.Since(paused) + slack)
		require.False(t, old.Leads())
		require.False(t, old.Leader().UpToDate)
		require.False(t, old.View().UpToDate)
		require.Equal(t, time.Duration(-1), old.Status().Age, "the loop stands still")

		time.Sleep(b.View)
		require.Len(t, leaders(t, nodes), 1)
		net.Resume(old.ID())
		time.Sleep(b.View + slack)
		requireOneView(t, nodes)
	})
}

func TestPausedNodesCanBeClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{})
		n := start(t, net, 1, failaware.Config{})[0]
		net.Pause(1)
		synctest.Wait()
		require.NoError(t, n.Close())

		// One that has not begun yet is held up from its first turn on.
		n = start(t, net, 1, failaware.Config{})[0]
		time.Sleep(time.Second)
		require.False(t, n.Leads())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, n.Leave(ctx), context.DeadlineExceeded)
	})
}

// Whatever way a node ends, it leaves nothing behind: the bubble would not end
// otherwise, and with it the test.
func TestNothingOutlivesTheNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{})
		ctx, stop := context.WithCancel(t.Context())
		dir := t.TempDir()
		var nodes []*failaware.Node
		for id := failaware.NodeID(1); id <= 3; id++ {
			n, err := failaware.Start(ctx, failaware.Config{ID: id, Transport: net.Transport(), StateDir: dir})
			require.NoError(t, err)
			nodes = append(nodes, n)
		}
		b := nodes[0].Bounds()
		time.Sleep(b.Ready + b.Elect + slack)
		require.Len(t, leaders(t, nodes), 1)
		lead, cancel, err := leaders(t, nodes)[0].LeaderContext(context.Background())
		require.NoError(t, err)
		defer cancel()
		require.NoError(t, nodes[0].Close())
		require.NoError(t, nodes[1].Leave(context.Background()))
		stop()
		<-nodes[2].Done()
		<-lead.Done()
		require.NoError(t, nodes[2].Close(), "again")
		require.ErrorIs(t, nodes[2].Resign(t.Context()), failaware.ErrClosed)
	})
}

// Two processes with one id: one of them finds out.
func TestDuplicateIDInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{})
		nodes := start(t, net, 3, failaware.Config{})
		b := nodes[0].Bounds()
		time.Sleep(b.Ready + b.View + slack)
		twin, err := failaware.Start(t.Context(), failaware.Config{ID: 2, Transport: net.Transport()})
		require.NoError(t, err)
		defer twin.Close()
		require.NotEqual(t, nodes[1].Addr(), twin.Addr())
		select {
		case <-twin.Done():
			require.ErrorIs(t, twin.Err(), failaware.ErrDuplicateID)
		case <-nodes[1].Done():
			require.ErrorIs(t, nodes[1].Err(), failaware.ErrDuplicateID)
		case <-time.After(time.Minute):
			require.Fail(t, "both run")
		}
	})
}

// A node that starts again is another incarnation at the same address.
func TestRestartInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 4})
		nodes := start(t, net, 3, failaware.Config{})
		b := nodes[0].Bounds()
		time.Sleep(b.Ready + b.View + slack)
		boot, addr := nodes[0].Status().Boot, nodes[0].Addr()
		require.NoError(t, nodes[0].Close())
		again, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: net.Transport()})
		require.NoError(t, err)
		defer again.Close()
		nodes[0] = again
		time.Sleep(b.View + b.Rejoin + slack)
		require.NotEqual(t, boot, again.Status().Boot)
		require.Equal(t, addr, again.Addr())
		requireOneView(t, nodes)
	})
}

// A minute of a hostile network: promises hold, and at the end the group is whole.
func TestHostileNetworkInVirtualTime(t *testing.T) {
	const steps, step = 300, 100 * time.Millisecond
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 5, Buffer: 16})
		nodes := start(t, net, 5, failaware.Config{})
		b := nodes[0].Bounds()
		net.Loss(0.05)
		net.Duplicate(0.05)
		net.Late(0.02, 500*time.Millisecond)
		random := rand.New(rand.NewPCG(5, 0))
		for range steps {
			a, c := failaware.NodeID(1+random.IntN(5)), failaware.NodeID(1+random.IntN(5))
			switch random.IntN(8) {
			case 0:
				net.Partition(ids{a})
			case 1:
				net.Heal()
			case 2:
				net.Cut(a, c)
			case 3:
				net.Mend(a, c)
			case 4:
				net.Pause(a)
			case 5, 6:
				net.Resume(a)
			case 7:
				net.Link(a, c).Delay(0, 30*time.Millisecond)
			}
			time.Sleep(step)
			leaders(t, nodes)
		}
		net.Heal()
		net.Loss(0)
		net.Duplicate(0)
		net.Late(0, 0)
		net.Delay(memory.DefaultMinDelay, memory.DefaultMaxDelay)
		for id := failaware.NodeID(1); id <= 5; id++ {
			net.Resume(id)
		}
		time.Sleep(b.View + time.Second)
		requireOneView(t, nodes)
		s := net.Stats()
		for _, count := range []uint64{s.Lost, s.Cut, s.Late, s.Duplicated, s.Overflow} {
			require.NotZero(t, count, "%+v", s)
		}
	})
	t.Logf("%v in %v", steps*step, time.Since(began))
}

// A program that lets its nodes come to rest before it changes the network runs
// the same way every time.
func TestRunsAreReproducible(t *testing.T) {
	trace := func(seed uint64) (lines []string) {
		synctest.Test(t, func(t *testing.T) {
			net := memory.New(memory.Options{Seed: seed})
			nodes := start(t, net, 5, failaware.Config{})
			synctest.Wait()
			net.Loss(0.05)
			net.Late(0.05, 100*time.Millisecond)
			for i := range 10 {
				if net.Heal(); i%2 == 0 {
					net.Partition(ids{1, 2})
				}
				time.Sleep(time.Second)
			}
			for _, n := range nodes {
				for e := range kept(t, n) {
					lines = append(lines, fmt.Sprint(n.ID(), e.Head().Time, e))
				}
			}
			lines = append(lines, fmt.Sprint(net.Stats()))
		})
		return lines
	}
	first := trace(6)
	require.Greater(t, len(first), 100)
	require.Equal(t, first, trace(6))
	require.NotEqual(t, first, trace(7))
}

// The same program works outside of bubbles, in real time.
func TestRealTime(t *testing.T) {
	net := memory.New(memory.Options{})
	nodes := start(t, net, 2, failaware.Config{Timing: failaware.WAN()})
	for e := range nodes[1].EventsSince(t.Context(), 0) {
		if v, ok := e.(event.ViewInstalled); ok && len(v.View.Members) == 2 {
			return
		}
	}
	require.Fail(t, "the node stopped", "%v", nodes[1].Err())
}
