package failaware

import (
	"net/netip"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// What carries messages is encoded once for all members, and the memory that it
// was encoded from may hold something else by the next handler.
func TestPacketsToAllShareTheirMessages(t *testing.T) {
	var o outgoing
	var c counts
	o.encoder.MaxPacket = 1200
	cast := &broadcast.Packet{Runs: []broadcast.Run{{Sender: 1, Boot: 7, Begins: true, Ends: true, First: 1, Count: 1, Size: 4,
		Payload: []byte("same")}}}
	packet := func(to NodeID) *stack.Packet {
		return &stack.Packet{Header: datagram.Header{Version: datagram.Version, Source: 1, Destination: to, Boot: 7, Stamp: 5, Echo: datagram.Echo{Heard: datagram.NotHeard}},
			MaxDrift: 1, FastThreshold: 1, Frames: stack.FrameBroadcast, Broadcast: cast}
	}
	addr := netip.MustParseAddrPort("127.0.0.1:9")
	decode := func(p *udp.Packet) stack.Packet {
		var d stack.Decoder
		var got stack.Packet
		require.NoError(t, d.Decode(append(append([]byte(nil), p.Buf[:p.N]...), p.Tail...), &got))
		return got
	}
	d := driver{post: o, cfg: stack.Config{Self: timed.Incarnation{Node: 1, Boot: 7}}, published: &state{}}
	d.routes.to[2].addr, d.routes.to[3].addr = addr, addr
	d.perform([]stack.Effect{{Kind: stack.Send, To: 2, Packet: packet(2)}, {Kind: stack.Send, To: 3, Packet: packet(3)}})
	cast.Runs[0].Payload = []byte("else")
	d.perform([]stack.Effect{{Kind: stack.Send, To: 2, Packet: packet(2)}})
	cast.Runs = nil // nothing is worth being shared
	d.perform([]stack.Effect{{Kind: stack.Send, To: 3, Packet: packet(3)}})

	require.Equal(t, 4, d.post.n)
	require.Equal(t, c, d.count)
	pkts := d.post.pkts
	require.Same(t, unsafe.SliceData(pkts[0].Tail), unsafe.SliceData(pkts[1].Tail))
	for i, want := range []struct {
		to      NodeID
		payload string
	}{{2, "same"}, {3, "same"}, {2, "else"}} {
		got := decode(&pkts[i])
		require.Equal(t, want.to, got.Header.Destination)
		require.Equal(t, want.payload, string(got.Broadcast.Runs[0].Payload))
	}
	require.Empty(t, pkts[3].Tail)
	require.Empty(t, decode(&pkts[3]).Broadcast.Runs)
}
