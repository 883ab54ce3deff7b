package loop

import (
	"net/netip"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/admit"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// slowConn takes 5 µs for every packet that it sends.
type slowConn struct {
	transport.Conn
	now   int64
	calls []int // packets of each
	late  []int64
	names []uint64
}

func (c *slowConn) WriteBatch(pkts []udp.Packet) (int, error) {
	c.calls = append(c.calls, len(pkts))
	for i := range pkts {
		h, _, err := wire.ParseHeader(pkts[i].Buf[:pkts[i].N])
		if err != nil {
			return i, err
		}
		c.late = append(c.late, c.now-int64(h.Stamp))
		c.names = append(c.names, h.Counter)
		c.now += 5000
	}
	return len(pkts), nil
}

func TestStampsAreMadeJustBeforePacketsLeave(t *testing.T) {
	for _, c := range []struct {
		packets, addresses int
		bulk               bool
		calls              int
		latest             int64 // what lies between a stamp and the departure
	}{
		{0, 1, false, 0, 0},
		{1, 1, false, 1, 0},
		{7, 7, false, 7, 0},
		{7, 7, true, 7, 0},
		{7, 6, false, 7, 0},
		{7, 6, true, 1, 30_000},
		{16, 16, true, 16, 0},
		{17, 17, true, 1, 80_000},
		{17, 17, false, 9, 5_000},
		{254, 254, false, 16, 75_000},
	} {
		conn := &slowConn{now: 1e9}
		clock := hwclock.Of(func() int64 { return conn.now })
		o := outbound{bulk: c.bulk}
		o.encoder.MaxPacket = wire.MaxPacket
		var count counts
		for i := range c.packets {
			p := &wire.Packet{Header: datagram.Header{Version: wire.Version, Source: 1, Destination: 2, Boot: 1,
				Echo: datagram.Echo{Heard: datagram.NotHeard}}}
			o.add(p, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(1000+i%c.addresses)), &count)
		}
		o.send(clock, conn)
		require.Zero(t, count.unencoded+count.unresolved)
		require.Len(t, conn.calls, c.calls, "%+v", c)
		require.Len(t, conn.names, c.packets)
		latest := int64(0)
		for i, late := range conn.late {
			latest = max(latest, late)
			require.GreaterOrEqual(t, late, int64(0), "a stamp after the departure would make bounds wrong")
			require.Equal(t, uint64(i+1), conn.names[i])
		}
		require.Equal(t, c.latest, latest, "%+v", c)
		require.Zero(t, o.n)
	}
}

// A group at rest sends mostly keepalives. Those between two other packets leave by one
// system call, and every other packet has a stamp of its own.
func TestQuietKeepalivesLeaveTogether(t *testing.T) { keepalivesLeaveTogether(t) }

func keepalivesLeaveTogether(t testing.TB) {
	const keepalive, loud, reply = 'k', 'l', 'r'
	for _, c := range []struct {
		packets string
		calls   []int
	}{
		{"rkkkkkk", []int{1, 6}},
		{"kkrkkkk", []int{2, 1, 4}},
		{"lkkl", []int{1, 2, 1}},
		{"rrll", []int{1, 1, 1, 1}},
		{"kkkkkkkkkk", []int{8, 2}},
	} {
		conn := &slowConn{now: 1e9}
		var o outbound
		o.encoder.MaxPacket = wire.MaxPacket
		for i, kind := range c.packets {
			p := &wire.Packet{Header: datagram.Header{Version: wire.Version, Source: 1, Destination: 2, Boot: 1,
				Echo: datagram.Echo{Heard: datagram.NotHeard}, Quiet: kind != loud}}
			if kind == reply {
				p.Frames = wire.FrameReply
			}
			require.NoError(t, o.add(p, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(1000+i)), new(counts)))
		}
		o.send(hwclock.Of(func() int64 { return conn.now }), conn)
		require.Equal(t, c.calls, conn.calls, c.packets)
		for i, late := range conn.late {
			require.GreaterOrEqual(t, late, int64(0), "a stamp after the departure would make bounds wrong")
			require.True(t, late == 0 || c.packets[i] == keepalive, "%s: packet %d", c.packets, i)
		}
	}
}

// A packet with messages is encoded once for all members, and the memory that it was
// encoded from may hold something else by the next handler.
func TestPacketsToAllShareTheirMessages(t *testing.T) {
	var o outbound
	var c counts
	o.encoder.MaxPacket = 1200
	cast := &broadcast.Packet{Runs: []broadcast.Run{{Sender: 1, Boot: 7, Options: broadcast.Options{Order: broadcast.Unordered}, Begins: true, Ends: true, First: 1, Count: 1, Size: 4,
		Payload: []byte("same")}}}
	packet := func(to timed.NodeID) *wire.Packet {
		return &wire.Packet{Header: datagram.Header{Version: wire.Version, Source: 1, Destination: to, Boot: 7, Stamp: 5, Echo: datagram.Echo{Heard: datagram.NotHeard}},
			MaxDrift: 1, FastThreshold: 1, Frames: wire.FrameBroadcast, Broadcast: cast}
	}
	addr := netip.MustParseAddrPort("127.0.0.1:9")
	decode := func(p *udp.Packet) wire.Packet {
		var d wire.Decoder
		var got wire.Packet
		require.NoError(t, d.Decode(append(append([]byte(nil), p.Buf[:p.N]...), p.Tail...), &got))
		return got
	}
	d := driver{out: o, cfg: stack.Config{Self: timed.Incarnation{Node: 1, Boot: 7}}, pub: publication{current: &Snapshot{}}}
	d.routes.to[2] = route{Way: admit.Way[netip.AddrPort]{Addr: addr, Proved: true}}
	d.routes.to[3] = d.routes.to[2]
	d.perform([]stack.Effect{{Kind: stack.Send, Peer: 2, Packet: packet(2)}, {Kind: stack.Send, Peer: 3, Packet: packet(3)}})
	cast.Runs[0].Payload = []byte("else")
	d.perform([]stack.Effect{{Kind: stack.Send, Peer: 2, Packet: packet(2)}})
	cast.Runs = nil // nothing is worth being shared
	d.perform([]stack.Effect{{Kind: stack.Send, Peer: 3, Packet: packet(3)}})

	require.Equal(t, 4, d.out.n)
	require.Equal(t, c, d.count)
	d.out.send(hwclock.Of(func() int64 { return 5 }), &slowConn{})
	pkts := d.out.pkts
	require.Same(t, unsafe.SliceData(pkts[0].Tail), unsafe.SliceData(pkts[1].Tail))
	for i, want := range []struct {
		to      timed.NodeID
		payload string
	}{{2, "same"}, {3, "same"}, {2, "else"}} {
		got := decode(&pkts[i])
		require.Equal(t, want.to, got.Header.Destination)
		require.Equal(t, want.payload, string(got.Broadcast.Runs[0].Payload))
	}
	require.Empty(t, pkts[3].Tail)
	require.Empty(t, decode(&pkts[3]).Broadcast.Runs)
}

// A node whose packets cannot be encoded is mute. An event says so, once a minute.
func TestPacketsThatCannotBeEncodedAreReported(t *testing.T) {
	p := &wire.Packet{Header: datagram.Header{Version: wire.Version, Source: 1, Destination: 2, Boot: 7, Stamp: 5, Echo: datagram.Echo{Heard: datagram.NotHeard}},
		MaxDrift: 1, FastThreshold: 1, Frames: wire.FrameLine, Line: clocksync.Line{Timeline: clocksync.TimelineID{Leader: 1, Boot: 7, Sequence: 1}, Shown: 1<<62 + 1}}
	d := driver{cfg: stack.Config{Self: timed.Incarnation{Node: 1, Boot: 7}}, pub: publication{current: &Snapshot{}}}
	d.routes.to[2] = route{Way: admit.Way[netip.AddrPort]{Addr: netip.MustParseAddrPort("127.0.0.1:9"), Proved: true}}
	for i, gap := range []time.Duration{0, 1, alarmPeriod - 1, 1} {
		d.clock.now = d.clock.now.Add(gap + 1)
		d.perform([]stack.Effect{{Kind: stack.Send, Peer: 2, Packet: p}})
		require.Equal(t, uint64(i+1), d.count.unencoded)
	}
	require.Len(t, d.report.events, 2)
	e := &d.report.events[0]
	require.Equal(t, stack.EventUnsent, e.Kind)
	require.Equal(t, timed.NodeID(2), e.Peer)
	require.Equal(t, "wire: frame of type 7: a value is out of range", e.Text)
}
