package loop

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// wholeConn keeps what leaves.
type wholeConn struct {
	transport.Conn
	sent [][]byte
}

func (c *wholeConn) WriteBatch(pkts []udp.Packet) (int, error) {
	for i := range pkts {
		c.sent = append(c.sent, append(bytes.Clone(pkts[i].Buf[:pkts[i].N]), pkts[i].Tail...))
	}
	return len(pkts), nil
}

// What leaves sealed, all members open, however long the part that they share is.
func sealedAreOpened(t testing.TB) {
	r := rings(t)["with keys"]
	suites := map[uint8]int{}
	for _, size := range []int{1, sharedFrom / 2, sharedFrom, 2 * sharedFrom} {
		payload := bytes.Repeat([]byte{7}, size)
		cast := &broadcast.Packet{Runs: []broadcast.Run{{Sender: 1, Boot: 7, Options: broadcast.Options{Order: broadcast.Unordered},
			Begins: true, Ends: true, First: 1, Count: 1, Size: uint32(size), Payload: payload}}}
		o := outbound{counter: 40, random: func() uint64 { return 5 }}
		o.encoder.MaxPacket = wire.MaxPacket
		o.takeRing(r)
		for to := timed.NodeID(2); to <= 4; to++ {
			p := &wire.Packet{Header: datagram.Header{Version: wire.Version, Source: 1, Destination: to, Boot: 7, Echo: datagram.Echo{Heard: datagram.NotHeard}},
				MaxDrift: 1, FastThreshold: 1, Frames: wire.FrameBroadcast, Broadcast: cast}
			require.NoError(t, o.add(p, netip.MustParseAddrPort("127.0.0.1:9"), new(counts)))
		}
		conn := &wholeConn{}
		o.send(hwclock.Of(func() int64 { return 1e9 }), conn)
		require.Len(t, conn.sent, 3)
		for _, b := range conn.sent {
			h, _, err := wire.ParseHeader(b)
			require.NoError(t, err)
			in := opening{opener: seal.NewOpener(r)}
			frames, _, err := in.frames(b, &h, originOf(&h))
			require.NoError(t, err, "%d bytes", size)
			require.Contains(t, string(frames), string(payload))
			suites[h.Suite]++
		}
	}
	require.Equal(t, map[uint8]int{wire.SuiteXAES256GCM: 6, wire.SuiteSharing: 6}, suites)
}

// A packet says which keys its sender has, all of them: a key that one does not use any more
// may be removed.
func allKeysKnown(t testing.TB) {
	r, err := seal.NewRing(seal.NewKey(), seal.NewKey(), seal.NewKey())
	require.NoError(t, err)
	o := outbound{counter: 40, random: func() uint64 { return 5 }}
	o.encoder.MaxPacket = wire.MaxPacket
	o.takeRing(r)
	p := &wire.Packet{Header: datagram.Header{Version: wire.Version, Source: 2, Destination: 1, Boot: 7, Echo: datagram.Echo{Heard: datagram.NotHeard}},
		MaxDrift: 1, FastThreshold: 1}
	require.NoError(t, o.add(p, netip.MustParseAddrPort("127.0.0.1:9"), new(counts)))
	conn := &wholeConn{}
	o.send(hwclock.Of(func() int64 { return 1e9 }), conn)
	require.Len(t, conn.sent, 1)
	h, _, err := wire.ParseHeader(conn.sent[0])
	require.NoError(t, err)
	l, _ := newLoop(func(*Config) {})
	l.driver.takeRing(r)
	_, refused := l.driver.open(&udp.Packet{Buf: conn.sent[0], N: len(conn.sent[0])}, &h)
	require.Empty(t, refused)
	require.Equal(t, r.IDs(), l.driver.opening.rings[2].list())
}

// recordedKeys repeats a packet that a peer sealed with a former key before it was started again.
func recordedKeys(t testing.TB) {
	former, now := seal.NewKey(), seal.NewKey()
	before, err := seal.NewRing(former, now)
	require.NoError(t, err)
	after, err := seal.NewRing(now, former)
	require.NoError(t, err)
	l, o := newOutside(after, peers.Peer{ID: 7, Addr: at(7).String()})
	d := l.driver
	packet := func(r *seal.Ring, boot timed.BootID, e datagram.Echo) {
		b := sealedPacketOf(t, l, seal.NewSealer(r), boot, 1+uint64(o.instant()), e)
		d.turn([]udp.Packet{{Buf: b, N: len(b), Addr: at(7), Received: o.instant()}}, l.cfg.Clock.Read())
		o.advance(time.Millisecond)
	}
	packet(after, 2, nothing)
	for range 20 {
		o.run(l, 5*time.Millisecond)
		seen, _, err := wire.ParseHeader(o.last[at(7)])
		require.NoError(t, err)
		packet(after, 2, datagram.Echo{Boot: d.cfg.Self.Boot, Sent: seen.Stamp, Received: seen.Stamp, Latest: seen.Stamp, Heard: seen.Stamp})
	}
	require.True(t, d.pub.current.Alive.Has(7))
	require.Equal(t, after.IDs(), d.opening.rings[7].list())
	packet(before, 1, nothing)
	require.Equal(t, after.IDs(), d.opening.rings[7].list())
	o.run(l, time.Minute)
	packet(before, 3, nothing)
	require.Equal(t, before.IDs(), d.opening.rings[7].list(), "it may have been started again with older keys")
}

func TestARecordedPacketSaysNothingOfKeys(t *testing.T) { recordedKeys(t) }

func TestAllKeysOfAPeerAreKnown(t *testing.T) { allKeysKnown(t) }

func TestWhatLeavesSealedIsOpened(t *testing.T) { sealedAreOpened(t) }
