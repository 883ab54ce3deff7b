package failaware

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/transport"
	"github.com/failaware/failaware/internal/udp"
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
		h, _, err := datagram.ParseHeader(pkts[i].Buf[:pkts[i].N])
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
		o := outgoing{bulk: c.bulk}
		o.encoder.MaxPacket = datagram.MaxPacket
		var count counts
		for i := range c.packets {
			p := &stack.Packet{Header: datagram.Header{Version: datagram.Version, Source: 1, Destination: 2, Boot: 1,
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
