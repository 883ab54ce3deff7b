package demo

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// wire is a relay with a plain socket in place of each node.
type wire struct {
	t     *testing.T
	relay *Relay
	nodes [MaxNodes + 1]*net.UDPConn
}

func newWire(t *testing.T, count int) *wire {
	w := &wire{t: t}
	var err error
	w.relay, err = NewRelay(count)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.relay.Close()) })
	for id := failaware.NodeID(1); int(id) <= count; id++ {
		conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		w.nodes[id] = conn
		w.relay.SetHome(id, netip.MustParseAddrPort(conn.LocalAddr().String()))
	}
	return w
}

func (w *wire) send(from, to failaware.NodeID, text string) {
	_, err := w.nodes[from].WriteToUDPAddrPort([]byte(text), w.relay.Address(from, to))
	require.NoError(w.t, err)
}

// receive returns the next packet at a node, and the peer of the socket that it came
// from.
func (w *wire) receive(at failaware.NodeID) (string, failaware.NodeID) {
	buf := make([]byte, 2000)
	require.NoError(w.t, w.nodes[at].SetReadDeadline(time.Now().Add(30*time.Second)))
	n, from, err := w.nodes[at].ReadFromUDPAddrPort(buf)
	require.NoError(w.t, err)
	for id := failaware.NodeID(1); id <= MaxNodes; id++ {
		if id != at && w.nodes[id] != nil && w.relay.Address(at, id) == from {
			return string(buf[:n]), id
		}
	}
	require.Fail(w.t, "from an unknown socket")
	return "", 0
}

func (w *wire) expect(at, from failaware.NodeID, text string) {
	w.t.Helper()
	got, sender := w.receive(at)
	require.Equal(w.t, text, got)
	require.Equal(w.t, from, sender)
}

// lost waits until a direction has dropped so many packets.
func (w *wire) lost(from, to failaware.NodeID, count uint64) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.relay.Link(from, to).Dropped == count }, 30*time.Second, time.Millisecond)
}

func TestRelayCarriesBothWaysAndShowsTheSender(t *testing.T) {
	w := newWire(t, 3)
	w.send(1, 2, "hello")
	w.expect(2, 1, "hello")
	w.send(2, 1, "back")
	w.expect(1, 2, "back")
	w.send(3, 1, "me too")
	w.expect(1, 3, "me too")
	require.Eventually(t, func() bool { return w.relay.Link(1, 2) == Link{Carried: 1} }, 30*time.Second, time.Millisecond)
}

func TestRelayCutsOneDirection(t *testing.T) {
	w := newWire(t, 2)
	w.relay.Cut(1, 2, true)
	w.send(1, 2, "lost")
	w.lost(1, 2, 1)
	w.send(2, 1, "the other way")
	w.expect(1, 2, "the other way")
	w.relay.Cut(1, 2, false)
	w.send(1, 2, "again")
	w.expect(2, 1, "again")
}

func TestRelayDelaysInOrderAndLosesPacketsOfACutLink(t *testing.T) {
	w := newWire(t, 2)
	const delay = 50 * time.Millisecond
	w.relay.Slow(1, 2, delay)
	began := time.Now()
	w.send(1, 2, "first")
	w.send(1, 2, "second")
	w.expect(2, 1, "first")
	require.GreaterOrEqual(t, time.Since(began), delay)
	w.expect(2, 1, "second")

	w.relay.Slow(1, 2, 10*time.Minute)
	w.send(1, 2, "never")
	require.Eventually(t, func() bool { return w.relay.Link(1, 2).Waiting == 1 }, 30*time.Second, time.Millisecond)
	w.relay.Slow(1, 2, 0)
	w.send(1, 2, "overtakes") // and Close does not wait for the other one
	w.expect(2, 1, "overtakes")

	w.relay.Slow(2, 1, delay)
	w.send(2, 1, "cut off")
	w.relay.Cut(2, 1, true)
	w.lost(2, 1, 1)
}

func TestRelayLimitsDelayedPackets(t *testing.T) {
	w := newWire(t, 2)
	w.relay.Slow(1, 2, 10*time.Minute)
	for i := 0; w.relay.Link(1, 2).Dropped == 0; i++ {
		require.Less(t, i, 100*maxHeld)
		w.send(1, 2, "one of many")
	}
}

func TestRelayDropsForeignAndLongPacketsAndThoseOfStoppedNodes(t *testing.T) {
	w := newWire(t, 3)
	_, err := w.nodes[3].WriteToUDPAddrPort([]byte("I am 1"), w.relay.Address(1, 2))
	require.NoError(t, err)
	w.lost(1, 2, 1)
	w.send(1, 2, string(make([]byte, maxPacket+1)))
	w.lost(1, 2, 2)
	w.relay.SetHome(2, netip.AddrPort{})
	w.send(1, 2, "no receiver")
	w.lost(1, 2, 3)
	w.send(2, 1, "from a stopped node")
	w.lost(2, 1, 1)
}
