package failaware

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/seal"
)

// patience is how long tests wait for events that surely come: machines that run
// tests may be busy with other things.
const patience = 60 * time.Second

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
		if time.Now().After(end) {
			require.FailNow(t, "in vain: "+what)
		}
	}
}

// startNode starts a node on loopback that ends with the test.
func startNode(t testing.TB, cfg Config) *Node {
	t.Helper()
	if cfg.Timing == (Timing{}) {
		cfg.Timing = Local()
	}
	n, err := Start(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			for e := range n.kept() {
				t.Log(cfg.ID, e.Head().Time.Format("05.000000"), e)
			}
		}
		_ = n.Close()
	})
	return n
}

// startGroup starts nodes 1 to count; each lists those before it, which learn
// the others.
func startGroup(t testing.TB, count int) []*Node {
	t.Helper()
	var nodes []*Node
	var peers []Peer
	for i := range count {
		n := startNode(t, Config{ID: NodeID(i + 1), Peers: peers})
		nodes = append(nodes, n)
		peers = append(peers[:len(peers):len(peers)], Peer{n.ID(), n.Addr().String()})
	}
	return nodes
}

// inOneView reports whether the nodes, and nobody else, share an up-to-date view.
func inOneView(nodes ...*Node) bool {
	first := nodes[0].View()
	if !first.UpToDate || len(first.View.Members) != len(nodes) {
		return false
	}
	for _, n := range nodes {
		if v := n.View(); !v.UpToDate || v.View.ID != first.View.ID || !v.View.Set.Has(n.ID()) {
			return false
		}
	}
	return true
}

// leaderOf returns the one of the nodes that leads, or nil.
func leaderOf(nodes ...*Node) *Node {
	for _, n := range nodes {
		if n.Leads() {
			return n
		}
	}
	return nil
}

func without(nodes []*Node, n *Node) (rest []*Node) {
	for _, m := range nodes {
		if m != n {
			rest = append(rest, m)
		}
	}
	return rest
}

// kept iterates over the events that are kept, without waiting.
func (n *Node) kept() func(yield func(event.Event) bool) {
	return func(yield func(event.Event) bool) {
		for seq := uint64(0); ; {
			e, at, missed, ok := n.events.After(seq)
			if !ok || missed == 0 && !yield(e) {
				return
			}
			seq = at
		}
	}
}

func TestGroupElectsAgreesAndSurvivesItsLeader(t *testing.T) {
	nodes := startGroup(t, 3)
	eventually(t, "one view", func() bool { return inOneView(nodes...) })
	eventually(t, "a leader that all follow", func() bool {
		l := leaderOf(nodes...)
		for _, n := range nodes {
			if a := n.Leader(); l == nil || a.Leader != l.ID() || !a.UpToDate || a.AtMost <= 0 {
				return false
			}
		}
		return true
	})
	old := leaderOf(nodes...)
	require.NotNil(t, old)
	require.NoError(t, old.Close())
	require.False(t, old.Leads())
	require.False(t, old.View().UpToDate)
	require.NoError(t, old.Err())
	require.NoError(t, old.Close(), "again")

	rest := without(nodes, old)
	eventually(t, "a view of the others", func() bool { return inOneView(rest...) && leaderOf(rest...) != nil })
	s := rest[0].Status()
	require.Equal(t, rest[0].ID(), s.ID)
	require.Len(t, s.Peers, 2)
	require.True(t, s.View.UpToDate || s.View.View != nil)
	require.NotZero(t, s.Lateness.Timers)
	require.True(t, old.Status().Stopped)
	require.ErrorIs(t, old.Resign(t.Context()), ErrClosed)
}

func TestLeaveHandsOver(t *testing.T) {
	nodes := startGroup(t, 3)
	eventually(t, "one view", func() bool { return inOneView(nodes...) && leaderOf(nodes...) != nil })
	old := leaderOf(nodes...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, old.Leave(ctx))
	require.NoError(t, old.Err())
	require.False(t, old.Leads())
	rest := without(nodes, old)
	eventually(t, "a view of the others", func() bool { return inOneView(rest...) && leaderOf(rest...) != nil })
	for e := range rest[0].EventsSince(ctx, 0) {
		if l, ok := e.(event.PeerLeaving); ok {
			require.Equal(t, old.ID(), l.Peer)
			break
		}
	}
	require.NoError(t, ctx.Err())
}

func TestLeaveStopsAtOnceWhenItsContextEnds(t *testing.T) {
	n := startNode(t, Config{ID: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Leave(ctx); err != nil { // nothing bound anybody, so it may have been quicker
		require.ErrorIs(t, err, context.Canceled)
	}
	<-n.Done()
	_, err := n.WaitLeader(t.Context())
	require.ErrorIs(t, err, ErrClosed)
}

func TestStartsContextStopsTheNode(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n, err := Start(ctx, Config{ID: 1, Timing: Local()})
	require.NoError(t, err)
	cancel()
	<-n.Done()
	require.NoError(t, n.Err())
	_, err = Start(ctx, Config{ID: 1, Timing: Local()})
	require.ErrorIs(t, err, context.Canceled)
}

// A program that starts one node after the other under one context keeps none that has stopped.
func TestAContextKeepsNoStoppedNode(t *testing.T) {
	n := func() weak.Pointer[Node] {
		n, err := Start(t.Context(), Config{ID: 1, Timing: Local()})
		require.NoError(t, err)
		require.NoError(t, n.Close())
		return weak.Make(n)
	}()
	eventually(t, "the node is gone", func() bool {
		runtime.GC()
		return n.Value() == nil
	})
}

func TestDuplicateIDStopsExactlyOne(t *testing.T) {
	nodes := startGroup(t, 2)
	eventually(t, "one view", func() bool { return inOneView(nodes...) })
	twin := startNode(t, Config{ID: 2, Peers: []Peer{{1, nodes[0].Addr().String()}}})
	stopped, other := twin, nodes[1]
	select {
	case <-twin.Done():
	case <-nodes[1].Done():
		stopped, other = nodes[1], twin
	case <-time.After(patience):
		require.Fail(t, "nobody stopped")
	}
	require.ErrorIs(t, stopped.Err(), ErrDuplicateID)
	var dup *DuplicateIDError
	require.ErrorAs(t, stopped.Err(), &dup)
	require.Equal(t, NodeID(2), dup.ID)
	require.Equal(t, other.Status().Boot, dup.Rival)
	eventually(t, "one view", func() bool { return inOneView(nodes[0], other) })
	require.NoError(t, other.Err())
}

func TestPeerByNameAndWithoutID(t *testing.T) {
	for name, id := range map[string]NodeID{"with id": 1, "without id": NoNode} {
		t.Run(name, func(t *testing.T) {
			a := startNode(t, Config{ID: 1})
			port := a.Addr().Port()
			b := startNode(t, Config{ID: 2, Peers: []Peer{{id, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port).String()}}})
			c := startNode(t, Config{ID: 3, Peers: []Peer{
				{id, fmt.Sprintf("localhost:%d", port)}, {2, b.Addr().String()}}})
			eventually(t, "one view", func() bool { return inOneView(a, b, c) })
			require.Equal(t, fmt.Sprintf("localhost:%d", port), c.Status().Peers[0].Listed)
		})
	}
}

func TestSetPeersFindsAndForgets(t *testing.T) {
	a := startNode(t, Config{ID: 1, MaxPeers: 1})
	b := startNode(t, Config{ID: 2, MaxPeers: 1})
	require.Error(t, b.SetPeers([]Peer{{1, "nowhere"}}))
	require.NoError(t, b.SetPeers([]Peer{{1, a.Addr().String()}}))
	eventually(t, "one view", func() bool { return inOneView(a, b) })
	c := startNode(t, Config{ID: 3, Peers: []Peer{{1, a.Addr().String()}}})
	eventually(t, "too many peers counted", func() bool { return counter(a, "peers_over_limit") > 0 })
	require.Len(t, a.Status().Peers, 1)
	require.NoError(t, c.Close())
}

func counter(n *Node, name string) uint64 {
	for _, c := range n.Status().Counters {
		if c.Name == name {
			return c.Value
		}
	}
	return 0
}

// The end of an incarnation voids everything that rested on it.
func TestRestartVoidsEverything(t *testing.T) {
	nodes := startGroup(t, 2)
	eventually(t, "one view", func() bool { return inOneView(nodes...) && leaderOf(nodes...) != nil })
	n := leaderOf(nodes...)
	lead, cancel, err := n.Lead(t.Context())
	require.NoError(t, err)
	defer cancel()
	boot := n.Status().Boot
	restart(n)
	<-lead.Done()
	require.ErrorIs(t, context.Cause(lead), ErrNotLeader)
	for e := range n.EventsSince(t.Context(), 0) {
		if r, ok := e.(event.Restarted); ok {
			require.Equal(t, event.ClockRate, r.Reason)
			require.Equal(t, boot, r.Previous)
			require.Equal(t, n.Status().Boot, r.Boot)
			break
		}
	}
	eventually(t, "one view", func() bool { return inOneView(nodes...) })
	require.Equal(t, 2, n.Status().Incarnations)
}

// restart ends the incarnation of a node, and lets another begin.
func restart(n *Node) {
	n.loop.JudgeRate(hwclock.RateFaulty)
	n.loop.JudgeRate(hwclock.RateFine)
}

func TestRateFaultHoldsTheNodeBack(t *testing.T) {
	n := startNode(t, Config{ID: 1})
	waitElected(t, n)
	n.loop.JudgeRate(hwclock.RateFaulty)
	eventually(t, "waiting", func() bool { return n.Status().Waiting == event.ClockRate })
	require.False(t, n.Leads())
	n.loop.JudgeRate(hwclock.RateFine)
	waitElected(t, n)
	require.Equal(t, 2, n.Status().Incarnations)
}

// Over UDP, callers mostly send messages with pauses between them by themselves.
func TestCallersTakeTurnsOverUDP(t *testing.T) {
	nodes := startCast(t, 2, BroadcastConfig{}, WAN())
	for sent := 0; counter(nodes[0], "turns_lent") == 0; sent++ {
		require.Less(t, sent, 10_000, "no caller took a turn")
		time.Sleep(time.Millisecond)
		_, err := nodes[0].Broadcast(bounded(t), []byte("a word"), loose)
		require.NoError(t, err)
		nextMessage(t, nodes[1])
	}
}

// waitElected waits until a node leads.
func waitElected(t testing.TB, n *Node) {
	t.Helper()
	_, cancel, err := n.Lead(t.Context())
	cancel()
	require.NoError(t, err)
}

// A node whose packets are sealed may have peers on other hosts.
func TestAPeerOnAnotherHostIsAllowedWithKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	ring, err := seal.NewRing(seal.NewKey())
	require.NoError(t, err)
	require.NoError(t, ring.CreateFile(file))
	const elsewhere = "192.0.2.1:7001" // to which a socket of loopback sends nothing
	for _, cfg := range []Config{{KeyFile: file}, {Insecure: true}} {
		cfg.ID, cfg.Peers = 1, []Peer{{2, elsewhere}}
		n := startNode(t, cfg)
		eventually(t, "its address is known", func() bool { return n.Status().Peers[0].Addr.String() == elsewhere })
		require.Empty(t, n.Status().Peers[0].Problem)
	}
}

// A peer that has told its labels and no name is called by its id.
func TestAPeerWithoutANameHasOne(t *testing.T) {
	a := startNode(t, Config{ID: 1})
	b := startNode(t, Config{ID: 2, Tags: map[string]string{"zone": "a"}, Peers: []Peer{{1, a.Addr().String()}}})
	eventually(t, "its labels are known", func() bool { return a.TagsOf(2)["zone"] == "a" })
	require.Equal(t, "node-2", a.NameOf(2))
	require.Equal(t, b.Name(), a.Status().Peers[0].Name)
}
