package loop

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/timed"
)

func at(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port)
}

func listed(id timed.NodeID, port uint16) *peers.Entry {
	list := peers.NewResolver(peers.Options{Self: timed.MaxNodes, Local: at(1)}, []peers.Peer{{ID: id, Addr: at(port).String()}}).List()
	return (*list)[0]
}

func TestOnlyTheAcceptedIncarnationMovesAPeer(t *testing.T) {
	r := routes{self: 1, limit: 10}
	added, _ := r.take(&peers.List{listed(2, 20)}, timed.Set{}, 0)
	require.Equal(t, timed.SetOf(2), added)
	h := datagram.Header{Source: 2, Boot: 5, Stamp: 100}

	r.follow(&h, at(21), true, datagram.Challenged, 10, time.Second)
	require.Equal(t, at(20), r.to[2].Addr, "an unaccepted one does not")
	other, ok := r.to[2].Also(11, false)
	require.True(t, ok, "but it is answered")
	require.Equal(t, at(21), other.Addr)
	r.follow(&h, at(22), true, datagram.Dropped, 10, time.Second)
	r.follow(&h, at(22), true, datagram.Faulty, 10, time.Second)
	require.Equal(t, at(20), r.to[2].Addr)

	r.follow(&h, at(21), true, datagram.Accepted, 11, time.Second)
	require.Equal(t, at(21), r.to[2].Addr)
	other, ok = r.to[2].Also(12, false)
	require.True(t, ok, "it may come back to the configured address")
	require.Equal(t, at(20), other.Addr)
	_, ok = r.to[2].Also(12, true)
	require.False(t, ok)
	h.Stamp = 99
	r.follow(&h, at(22), true, datagram.Delivered, 12, time.Second)
	require.Equal(t, at(21), r.to[2].Addr, "an overtaken packet does not move it back")
	h.Stamp = 101
	r.follow(&h, at(22), true, datagram.Delivered, 12, time.Second)
	require.Equal(t, at(22), r.to[2].Addr)
}

// An address moves a peer only when it has shown that it receives. Until then it is
// asked to, beside the old one.
func provedAddressesOnly(t testing.TB) {
	r := routes{self: 1, limit: 10}
	r.take(&peers.List{listed(2, 20)}, timed.Set{}, 0)
	require.True(t, r.to[2].Proved, "it is configured")
	h := datagram.Header{Source: 2, Boot: 5, Stamp: 100}
	r.follow(&h, at(20), true, datagram.Accepted, 10, time.Second)
	h.Stamp = 101
	r.follow(&h, at(21), false, datagram.Delivered, 11, time.Second)
	require.Equal(t, at(20), r.to[2].Addr)
	a, ok := r.to[2].Also(12, true)
	require.True(t, ok, "its incarnation is the accepted one")
	require.Equal(t, at(21), a.Addr)
	require.False(t, a.Proved)
	_, ok = r.to[2].Also(timed.Instant(11+time.Second), true)
	require.False(t, ok, "not for ever")
	h.Boot = 6
	r.follow(&h, at(22), true, datagram.Challenged, 13, time.Second)
	_, ok = r.to[2].Also(14, true)
	require.False(t, ok, "a rival gets refusals")
	_, ok = r.to[2].Also(14, false)
	require.True(t, ok)
	h.Boot, h.Stamp = 5, 102
	r.follow(&h, at(21), true, datagram.Delivered, 15, time.Second)
	require.Equal(t, at(21), r.to[2].Addr)
	require.True(t, r.to[2].Proved)

	r.learn(3, at(30), false, 1)
	r.take(&peers.List{listed(2, 20), listed(3, 31)}, timed.SetOf(2, 3), 16)
	require.Equal(t, at(30), r.to[3].Addr, "it is alive there")
	require.False(t, r.to[3].Proved)
	h.Source = 3
	r.follow(&h, at(30), true, datagram.Challenged, 16, time.Second)
	require.True(t, r.to[3].Proved)
}

func TestProvedAddressesOnly(t *testing.T) { provedAddressesOnly(t) }

func TestAListMovesSilentPeersOnly(t *testing.T) {
	r := routes{self: 1, limit: 10}
	r.take(&peers.List{listed(2, 20), listed(3, 30), listed(1, 10)}, timed.Set{}, 0)
	require.Equal(t, timed.SetOf(2, 3), r.known)
	r.take(&peers.List{listed(2, 21), listed(3, 31)}, timed.SetOf(2), 1)
	require.Equal(t, at(20), r.to[2].Addr, "alive where it is")
	require.Equal(t, at(31), r.to[3].Addr)
	_, removed := r.take(&peers.List{listed(2, 21)}, timed.Set{}, 2)
	require.Equal(t, timed.SetOf(3), removed)
}

// A list comes before what was learnt, where both are too many.
func TestAListTakesThePlaceOfLearntPeers(t *testing.T) { listsCome(t) }

func listsCome(t testing.TB) {
	r := routes{self: 1, limit: 4}
	for id := timed.NodeID(2); id < 6; id++ {
		r.learn(id, at(uint16(10*id)), true, 9-timed.Instant(id))
	}
	added, removed := r.take(&peers.List{listed(7, 70), listed(3, 30), listed(8, 80)}, timed.Set{}, 10)
	require.Equal(t, timed.SetOf(7, 8), added)
	require.Equal(t, timed.SetOf(4, 5), removed, "those that were silent for longest")
	require.Equal(t, timed.SetOf(2, 3, 7, 8), r.known)
	_, removed = r.take(&peers.List{listed(3, 30), listed(7, 70)}, timed.Set{}, 10)
	require.Equal(t, timed.SetOf(8), removed)
}

// A node that another one has replaced at its listed address is forgotten like a learnt one.
func TestAReplacedNodeIsForgotten(t *testing.T) { replacedIsForgotten(t) }

func replacedIsForgotten(t testing.TB) {
	r := routes{self: 1, limit: 3}
	entry, other := listed(timed.NoNode, 20), listed(timed.NoNode, 40)
	r.take(&peers.List{entry, other}, timed.Set{}, 0)
	for id := timed.NodeID(2); id < 9; id++ {
		added, full := r.learn(id, at(20), true, timed.Instant(id))
		require.True(t, added && !full)
		require.Same(t, entry, r.to[id].entry)
		require.Nil(t, r.to[id-1].entry)
		require.False(t, r.to[id-1].Listed.IsValid())
		gone := r.silent(timed.Instant(2*time.Minute), time.Minute)
		require.Equal(t, id > 2, gone.Has(id-1))
		require.False(t, gone.Has(id))
		for old := range gone.All() {
			r.remove(old)
		}
	}
	r.learn(9, at(20), true, 9)
	r.learn(8, at(40), true, 9)
	require.Same(t, other, r.to[8].entry, "it answers at another address of the list")
	require.Equal(t, at(40), r.to[8].Listed)
}

func TestPeersAreLearntUpToALimitAndForgotten(t *testing.T) {
	r := routes{self: 1, limit: 3}
	stranger := listed(timed.NoNode, 20)
	r.take(&peers.List{stranger, listed(3, 30)}, timed.Set{}, 0)
	require.True(t, r.searching(stranger, timed.Set{}))
	added, _ := r.learn(2, at(20), true, 1)
	require.True(t, added)
	require.Equal(t, stranger, r.to[2].entry, "the entry without id was this one")
	require.False(t, r.searching(stranger, timed.SetOf(2)))
	require.True(t, r.searching(stranger, timed.Set{}))

	added, full := r.learn(4, at(40), true, 1)
	require.True(t, added && !full)
	added, full = r.learn(5, at(50), true, 1)
	require.True(t, !added && full)
	added, full = r.learn(1, at(10), true, 1)
	require.True(t, !added && !full, "never itself")

	require.Equal(t, timed.SetOf(4), r.silent(timed.Instant(2*time.Minute), time.Minute), "listed peers stay")
	r.remove(4)
	require.Equal(t, timed.NodeID(255), r.unused())
	require.True(t, r.leaves(2, 7))
	require.False(t, r.leaves(2, 7), "it says so in every packet")
	require.True(t, r.leaves(2, 8))
}

// An address that turns out to be a node's takes no node's place on the list: that keeps the
// entry that names it.
func entriesKeepTheirNode(t testing.TB) {
	r := routes{self: 1, limit: 10}
	own := listed(2, 20)
	r.take(&peers.List{own, listed(timed.NoNode, 30)}, timed.Set{}, 0)
	r.learn(2, at(30), true, 1)
	require.Same(t, own, r.to[2].entry)
	require.Equal(t, at(20), r.to[2].Listed)
	r.learn(3, at(31), true, 1)
	require.Nil(t, r.to[3].entry)
}

func TestEntriesKeepTheirNode(t *testing.T) { entriesKeepTheirNode(t) }

// A packet that only names its sender is for an id that no node has, this one included.
func TestAnUnusedIDIsNobodys(t *testing.T) {
	r := routes{self: timed.MaxNodes, limit: 10}
	require.Equal(t, timed.NodeID(timed.MaxNodes-1), r.unused())
	r.learn(timed.MaxNodes-1, at(30), true, 1)
	require.Equal(t, timed.NodeID(timed.MaxNodes-2), r.unused())
}

// What was noted of addresses ends with the list that they are or are not in.
func TestReasonsEndWithTheirList(t *testing.T) {
	r := routes{self: 1, limit: 10}
	r.take(&peers.List{listed(2, 20)}, timed.Set{}, 0)
	r.refuse(at(20), refusal{why: refusedOther})
	r.refuse(at(21), refusal{why: refusedKey})
	require.Len(t, r.refusals, 1)
	require.Len(t, r.unopened, 1)
	r.take(&peers.List{listed(2, 21)}, timed.Set{}, 0)
	require.Empty(t, r.refusals)
	require.Empty(t, r.unopened)
}

// A listed address is the node's that answers there, until another one shows that it does.
func TestAnAddressIsItsNodesUntilAnotherProvesItself(t *testing.T) {
	r, entry := routes{self: 1, limit: 10}, listed(timed.NoNode, 30)
	r.take(&peers.List{entry}, timed.Set{}, 0)
	for _, p := range []struct {
		id, want timed.NodeID
		proved   bool
	}{{2, 2, true}, {3, 2, false}, {3, 3, true}} {
		r.learn(p.id, at(30), p.proved, 1)
		require.Equal(t, p.want, entry.Node())
	}
}
