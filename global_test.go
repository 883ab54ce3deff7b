package failaware

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// startGlobalGroup starts nodes 1 to count, whose majorities are quorums.
func startGlobalGroup(t testing.TB, count int) (nodes []*Node) {
	t.Helper()
	var all Set
	for id := range count {
		all.Add(NodeID(id + 1))
	}
	q, err := quorum.Majority(all)
	require.NoError(t, err)
	var peers []Peer
	dir := t.TempDir()
	for i := range count {
		n := startNode(t, Config{ID: NodeID(i + 1), Peers: peers, Quorum: q, StateDir: dir, Timing: LAN()})
		nodes = append(nodes, n)
		peers = append(peers[:len(peers):len(peers)], Peer{n.ID(), n.Addr().String()})
	}
	return nodes
}

// majorityOf returns the quorum system of the majorities of a group.
func majorityOf(t testing.TB, ids ...NodeID) quorum.System {
	t.Helper()
	q, err := quorum.Majority(timed.SetOf(ids...))
	require.NoError(t, err)
	return q
}

// globalLeaderOf returns the one of the nodes that leads globally, or nil.
func globalLeaderOf(nodes ...*Node) *Node {
	for _, n := range nodes {
		if n.LeadsGlobally() {
			return n
		}
	}
	return nil
}

func TestGlobalLeader(t *testing.T) {
	nodes := startGlobalGroup(t, 3)
	eventually(t, "one leads globally, and all know it", func() bool {
		l := globalLeaderOf(nodes...)
		if l == nil || !inOneView(nodes...) {
			return false
		}
		for _, n := range nodes {
			if n.GlobalLeader().Leader != l.ID() {
				return false
			}
		}
		return true
	})
	a, err := nodes[2].WaitGlobalLeader(t.Context())
	require.NoError(t, err)
	l := nodes[a.Leader-1]
	other := nodes[a.Leader%3]

	lead, cancel, err := l.GlobalLeaderContext(t.Context())
	require.NoError(t, err)
	defer cancel()
	again, cancelAgain, err := l.LeadGlobally(t.Context())
	require.NoError(t, err)
	defer cancelAgain()
	require.NoError(t, again.Err())
	own, heard := l.GlobalLeader(), other.GlobalLeader()
	require.True(t, own.Leads && own.UpToDate && own.Since > 0 && own.AtMost > 0)
	require.Equal(t, LeaderAnswer{Leader: l.ID(), AsOf: heard.AsOf}, heard, "hearsay")
	_, cancelOther, err := other.GlobalLeaderContext(t.Context())
	cancelOther()
	require.ErrorIs(t, err, ErrNotLeader)

	checkTimestamps(t, l, other)
	checkVerification(t, l, other)

	for _, n := range []*Node{l, other} {
		itself := n.HandOver(t.Context(), n.ID())
		require.ErrorIs(t, itself, ErrSuccessor)
		require.ErrorContains(t, itself, "cannot hand over")
	}
	require.ErrorIs(t, other.HandOver(t.Context(), l.ID()), ErrNotLeader)
	require.ErrorContains(t, l.HandOver(t.Context(), 9), "node 9 is not known")
	require.NoError(t, l.HandOver(t.Context(), other.ID()))
	<-lead.Done()
	var lost *NotLeaderError
	require.ErrorAs(t, context.Cause(lead), &lost)
	require.True(t, lost.Global)
	eventually(t, "somebody else leads globally", func() bool { return globalLeaderOf(nodes...) != nil })
}

// checkTimestamps has the global leader l make timestamps, and another node try to.
func checkTimestamps(t *testing.T, l, other *Node) {
	first, err := l.Timestamp()
	require.NoError(t, err)
	second, err := l.Timestamp()
	require.NoError(t, err)
	require.Equal(t, first.Counter+1, second.Counter)
	require.Equal(t, uint64(1), first.Quorum.Epoch)
	require.GreaterOrEqual(t, len(first.Quorum.Stamps), 2)
	for _, s := range first.Quorum.Stamps {
		require.Equal(t, uint64(1), s.Counter, "each voter has started once")
	}
	_, err = other.Timestamp()
	require.ErrorContains(t, err, "does not lead globally")
}

// A caller that waits for another one makes its decision when it goes on, and reads the clock then:
// its lead may be over.
func TestATimestampIsMadeByTheLastReading(t *testing.T) {
	n := startNode(t, Config{ID: 1, Quorum: majorityOf(t, 1)})
	_, cancel, err := n.LeadGlobally(t.Context())
	require.NoError(t, err)
	defer cancel()
	n.stamping.Lock()
	made := make(chan error, 1)
	go func() {
		_, err := n.Timestamp()
		made <- err
	}()
	eventually(t, "the caller waits for the other one", func() bool { return waitsIn("(*Node).Timestamp(") })
	require.NoError(t, n.Close())
	n.stamping.Unlock()
	require.ErrorIs(t, <-made, ErrClosed)
}

// waitsIn reports whether a goroutine waits for a mutex in a function.
func waitsIn(function string) bool {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	for g := range bytes.SplitSeq(all, []byte("\n\n")) {
		if bytes.Contains(g, []byte("[sync.Mutex.Lock")) && bytes.Contains(g, []byte(function)) {
			return true
		}
	}
	return false
}

// Two callers at a time never get one timestamp, or a store would take two decisions for one.
func TestTimestampsOfManyCallersDiffer(t *testing.T) {
	q, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	n := startNode(t, Config{ID: 1, Quorum: q})
	_, cancel, err := n.LeadGlobally(t.Context())
	require.NoError(t, err)
	defer cancel()
	const callers, calls = 8, 2000
	made := make([][]uint64, callers)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			for range calls {
				if stamp, err := n.Timestamp(); err == nil { // or a busy machine has lost the lead
					made[i] = append(made[i], stamp.Counter)
				}
			}
		})
	}
	all.Wait()
	seen := map[uint64]bool{}
	for _, list := range made {
		require.True(t, slices.IsSorted(list), "later calls get later ones")
		for _, counter := range list {
			require.False(t, seen[counter], "%d", counter)
			seen[counter] = true
		}
	}
	require.NotEmpty(t, seen)
}

// checkVerification has the global leader l and another node ask each other.
func checkVerification(t *testing.T, l, other *Node) {
	v, err := other.Verify(t.Context(), l.ID())
	require.NoError(t, err)
	require.Equal(t, l.ID(), v.By.Node)
	require.GreaterOrEqual(t, v.ValidFor(), v.GlobalValidFor())
	v, err = l.Verify(t.Context(), other.ID())
	require.NoError(t, err)
	require.Zero(t, v.GlobalValidFor(), "who does not lead assures nothing")
	v, err = l.Verify(t.Context(), l.ID())
	require.NoError(t, err)
	require.Equal(t, l.ID(), v.By.Node)
}

// A node without a quorum system does not wait for a global lead that never comes.
func TestLeadGloballyWithoutAQuorum(t *testing.T) {
	n := startNode(t, Config{ID: 1})
	ctx, cancel, err := n.LeadGlobally(t.Context())
	cancel()
	require.ErrorIs(t, err, ErrNotLeader)
	require.ErrorContains(t, err, "it has no quorum system")
	require.Error(t, ctx.Err())
}

// A leader that loses the quorum leads on locally, and knows that it is not global.
func TestAMinorityLeadsLocallyOnly(t *testing.T) {
	nodes := startGlobalGroup(t, 3)
	eventually(t, "one leads globally", func() bool { return globalLeaderOf(nodes...) != nil && inOneView(nodes...) })
	var last *Node
	eventually(t, "one leads globally", func() bool { last = globalLeaderOf(nodes...); return last != nil })
	for _, n := range nodes {
		if n != last {
			require.NoError(t, n.Close())
		}
	}
	eventually(t, "it leads alone", func() bool {
		a := last.Leader()
		return a.Leads && a.Support == timed.SetOf(last.ID()) && !last.LeadsGlobally()
	})
	require.Equal(t, NoNode, last.GlobalLeader().Leader)
	eventually(t, "events tell it", func() bool { // the answer changes with the clock, the event follows
		seen := map[string]bool{}
		for e := range last.kept() {
			seen[e.Kind()] = true
		}
		return seen["global-elected"] && seen["global-lost"]
	})
	require.NoError(t, last.Close())
	_, err := last.Timestamp()
	require.ErrorIs(t, err, ErrClosed)
	_, err = last.Verify(t.Context(), 1+last.ID()%3)
	require.ErrorIs(t, err, ErrClosed)
	_, err = last.Verify(t.Context(), NoNode)
	require.ErrorContains(t, err, "1 to 255")
}

// Nodes with different quorum systems say so, and each leads its own kind.
func TestOtherQuorumIsNoticed(t *testing.T) {
	q := func(text string) quorum.System {
		s, err := quorum.Parse(text)
		require.NoError(t, err)
		return s
	}
	a := startNode(t, Config{ID: 1, Quorum: q("majority:1,2,3"), Timing: LAN()})
	b := startNode(t, Config{ID: 2, Quorum: q("explicit:2"), Timing: LAN(), Peers: []Peer{{1, a.Addr().String()}}})
	for _, n := range []*Node{a, b} {
		eventually(t, "the difference is told", func() bool {
			for e := range n.kept() {
				if o, ok := e.(event.OtherQuorum); ok {
					return o.Peer == 3-n.ID() && o.Epoch == 1
				}
			}
			return false
		})
	}
	eventually(t, "both lead, and one of them globally", func() bool {
		return a.Leads() && b.Leads() && b.LeadsGlobally() && !a.LeadsGlobally()
	})
}

func TestQuorumEpochNeedsAQuorum(t *testing.T) {
	_, err := Config{ID: 1, QuorumEpoch: 2}.Validate()
	require.ErrorContains(t, err, "QuorumEpoch: 2 without a Quorum")
	require.Contains(t, (&NotLeaderError{Reason: leader.NoQuorum, Global: true}).Error(), "does not lead globally any more: no quorum")
}
