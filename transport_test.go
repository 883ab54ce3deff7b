package failaware_test

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/sim/memory"
)

type peers = []failaware.Peer

func TestValidateWithATransport(t *testing.T) {
	net := memory.New(memory.Options{}).Transport()
	for want, c := range map[string]failaware.Config{
		`Listen: "localhost:7000": with a Transport, only an IP address`:              {ID: 1, Listen: "localhost:7000"},
		`Listen: ":7000": with a Transport, only an IP address`:                       {ID: 1, Listen: ":7000"},
		`Listen: "0.0.0.0:7000": with a Transport, only an IP address`:                {ID: 1, Listen: "0.0.0.0:7000", Insecure: true},
		`Listen: "192.0.2.1:7000" is not a loopback address`:                          {ID: 1, Listen: "192.0.2.1:7000"},
		`Listen: "127.0.0.1:0": nobody listens at port 0`:                             {ID: 1, Listen: "127.0.0.1:0"},
		`Peers[0] (""): an id from 1 to 255 or an address is needed`:                  {ID: 1, Peers: peers{{}}},
		`Peers[0] (node 2, "example.org:1"): "example.org:1": with a Transport, only`: {ID: 1, Peers: peers{{ID: 2, Addr: "example.org:1"}}},
		`Peers[1] (node 2, "127.0.0.1:7002"): Peers[0] has the same id`:               {ID: 1, Peers: peers{{ID: 2}, {ID: 2}}},
		`Peers[1] (node 3, "127.0.0.1:7002"): Peers[0] has the same address`:          {ID: 1, Peers: peers{{ID: 2}, {ID: 3, Addr: "127.0.0.1:7002"}}},
	} {
		c.Transport = net
		_, err := c.Validate()
		require.ErrorContains(t, err, want)
		_, err = failaware.Start(t.Context(), c)
		require.ErrorContains(t, err, want)
	}
	_, err := failaware.Config{ID: 1, Peers: peers{{ID: 2}}}.Validate()
	require.ErrorContains(t, err, `Peers[0] (node 2, ""): "" is not host:port`, "UDP knows no ids")
	_, err = failaware.Config{ID: 1, Listen: "192.0.2.1:7000", Insecure: true, Transport: net,
		Peers: peers{{ID: 2}, {Addr: "192.0.2.3:7000"}}}.Validate()
	require.NoError(t, err)
}

// Nodes on a transport find each other by ids, by addresses, and by having been
// started before.
func TestNodesFindEachOtherOnATransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{})
		begin := func(c failaware.Config) *failaware.Node {
			c.Transport = net.Transport()
			n, err := failaware.Start(t.Context(), c)
			require.NoError(t, err)
			t.Cleanup(func() { _ = n.Close() })
			return n
		}
		members := func(n *failaware.Node) int {
			time.Sleep(n.Bounds().Ready + n.Bounds().View + time.Millisecond)
			v := n.View()
			require.True(t, v.UpToDate)
			return v.View.Set.Len()
		}
		one := begin(failaware.Config{ID: 1})
		require.Equal(t, 1, members(one))
		require.Equal(t, "127.0.0.1:7001", one.Addr().String())
		begin(failaware.Config{ID: 2, Listen: "127.0.0.5:99"})
		require.Equal(t, 2, members(one), "those that were there are the peers")
		begin(failaware.Config{ID: 3, Peers: peers{{Addr: "127.0.0.5:99"}, {ID: 1}}})
		require.Equal(t, 3, members(one), "by an address without an id")
		alone := begin(failaware.Config{ID: 4, Peers: peers{}})
		require.Equal(t, 3, members(one), "an empty list is one")
		require.NoError(t, alone.SetPeers(peers{{ID: 1}}))
		require.Equal(t, "127.0.0.1:7001", alone.Status().Peers[0].Listed)
		begin(failaware.Config{ID: 5, Peers: peers{{ID: 1}, {ID: 2, Addr: "127.0.0.5:99"}, {ID: 3}, {ID: 4}}})
		time.Sleep(alone.Bounds().View)
		require.Equal(t, 5, members(one))

		_, err := failaware.Start(t.Context(), failaware.Config{ID: 6, Transport: net.Transport(), Listen: "127.0.0.5:99"})
		require.ErrorIs(t, err, syscall.EADDRINUSE)
		for _, want := range []string{"sent_packets", "received_packets", "received_overflow"} {
			found := false
			for _, c := range one.Status().Counters {
				found = found || c.Name == want
			}
			require.True(t, found, want)
		}
	})
}

// A search that its context ends while a node is asked names that node, although the next
// search is due by then.
func TestASearchThatIsGivenUpNamesWhoWasAsked(t *testing.T) {
	require.Zero(t, searchesThatForget(t))
}

// searchesThatForget returns how many of some searches do not name the node that they asked. One
// alone may name it by chance.
func searchesThatForget(t *testing.T) (forgotten int) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{})
		nodes := make([]*failaware.Node, 3)
		for i := range nodes {
			var err error
			nodes[i], err = failaware.Start(t.Context(), failaware.Config{ID: failaware.NodeID(i + 1), Transport: net.Transport()})
			require.NoError(t, err)
			defer nodes[i].Close()
		}
		for range 20 {
			time.Sleep(nodes[0].Bounds().Ready + nodes[0].Bounds().View)
			leader := nodes[0].Leader().Leader
			net.Pause(leader)
			asker := nodes[leader%3]
			ctx, cancel := context.WithTimeout(t.Context(), asker.Config().Timing.ElectionPeriod*3/2)
			_, err := asker.FindLeader(ctx)
			cancel()
			net.Resume(leader)
			var none *failaware.NoLeaderError
			require.ErrorAs(t, err, &none)
			if !slices.Equal(none.Refusals, []failaware.Refusal{{Node: leader, Silent: true}}) {
				forgotten++
			}
		}
	})
	return forgotten
}
