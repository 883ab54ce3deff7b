package failaware

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/loop/statedir"
	"github.com/failaware/failaware/timed"
)

// The members that are kept are those that are heard, and then others, once for each id and
// each address.
func TestKeptMembers(t *testing.T) {
	at := func(port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.IPv6Loopback(), port) }
	heard := []PeerStatus{{ID: 2, Addr: at(2), Alive: true}, {ID: 3, Addr: at(3)}, {ID: 4, Alive: true}}
	former := []statedir.Member{{ID: 2, Addr: at(20)}, {ID: 5, Addr: at(2)}, {ID: 3, Addr: at(30)}}
	require.Equal(t, []statedir.Member{{ID: 2, Addr: at(2)}, {ID: 3, Addr: at(30)}}, mergeMembers(heard, former))
	for id := range NodeID(200) {
		former = append(former, statedir.Member{ID: 10 + id, Addr: at(100 + uint16(id))})
	}
	require.Len(t, mergeMembers(heard, former), statedir.MaxMembers)
}

// Members are kept as soon as the loop says where they are and the disk takes them, also if
// nothing has changed since. An error is told once.
func TestKeepingMembersIsTriedAgain(t *testing.T) { keepsTrying(t) }

func keepsTrying(t testing.TB) {
	var k keptMembers
	s := Status{Age: -1}
	full := errors.New("the disk is full")
	var written [][]statedir.Member
	update := func(alive Set) error {
		return k.update(alive, func() Status { return s }, func(list []statedir.Member) error {
			if full == nil {
				written = append(written, list)
			}
			return full
		})
	}
	alive := timed.SetOf(2)
	require.NoError(t, update(alive))
	s = Status{Peers: []PeerStatus{{ID: 2, Addr: netip.AddrPortFrom(netip.IPv6Loopback(), 2), Alive: true}}}
	require.NoError(t, update(Set{}), "nobody is heard")
	require.Equal(t, full, update(alive))
	require.NoError(t, update(alive), "it was told")
	require.Empty(t, written)
	disk := full
	full = nil
	require.NoError(t, update(alive))
	require.Len(t, written, 1, "there is room")
	require.NoError(t, update(alive))
	require.NoError(t, update(timed.SetOf(2, 3)), "its address is not known yet")
	require.Equal(t, [][]statedir.Member{{{ID: 2, Addr: s.Peers[0].Addr}}}, written)
	s.Peers[0].Addr, full = netip.AddrPortFrom(netip.IPv6Loopback(), 3), disk
	require.Equal(t, disk, update(alive), "another failure is told")
}

// A node that has no time to leave has stopped when Leave returns.
func TestANodeWithoutTimeToLeaveHasStopped(t *testing.T) {
	late := errors.New("there is no time")
	for range 5 {
		n, err := Start(t.Context(), Config{ID: 1})
		require.NoError(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(late)
		if err := n.Leave(ctx); err != nil { // nothing bound anybody, so it may have been quick enough
			require.ErrorIs(t, err, late)
		}
		require.True(t, isClosed(n.Done()))
	}
}

// A node that leads its part promises nothing of the group.
func TestAPromiseOfAPartIsNoneOfTheGroup(t *testing.T) {
	n, err := Start(t.Context(), Config{ID: 1})
	require.NoError(t, err)
	defer n.Close()
	eventually(t, "a promise of the lead", func() bool {
		v, err := n.Verify(t.Context(), 1)
		require.NoError(t, err)
		require.Zero(t, v.GlobalValidFor())
		return v.ValidFor() > 0
	})
	_, err = n.HoldGlobally(t.Context())
	var no *NotLeaderError
	require.ErrorAs(t, err, &no)
	require.True(t, no.Global)
}

// A node that will choose its id counts all peers that are listed without one.
func TestPeersWithoutIdsAreCounted(t *testing.T) {
	_, err := Config{StateDir: "x", MaxPeers: 1, Peers: []Peer{{Addr: "localhost:1"}, {Addr: "localhost:2"}}}.Validate()
	require.ErrorContains(t, err, "Peers: 2 are more than MaxPeers = 1")
}
