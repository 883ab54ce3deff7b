package wire

import (
	"encoding/binary"
	"math"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/timed"
)

var someAddr = netip.MustParseAddrPort("192.0.2.1:7000")

func (g *golden) members(n int) []Member {
	var list []Member
	for range n {
		var ip [16]byte
		binary.BigEndian.PutUint64(ip[:8], 0x2001_0db8<<32|g.uint(0, math.MaxUint32))
		binary.BigEndian.PutUint64(ip[8:], g.uint(0, math.MaxUint64))
		a := netip.AddrFrom16(ip)
		if len(list)%2 == 1 {
			a = netip.AddrFrom4([4]byte{192, 0, 2, ip[15]})
		}
		list = append(list, Member{g.node(), netip.AddrPortFrom(a, uint16(g.uint(1, math.MaxUint16)))})
	}
	return list
}

func drawMembers(t *rapid.T) []Member {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Member {
		ip := rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "ip")
		return Member{drawNode.Draw(t, "member"), netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, ip[1], ip[2], ip[3]}), rapid.Uint16Min(1).Draw(t, "port"))}
	}), 1, MaxMembers).Draw(t, "members")
}

// A packet with the most members is small enough for every network.
func TestMostMembersFit(t *testing.T) {
	p := basePacket()
	p.Frames = FrameMembers
	for range MaxMembers {
		p.Members = append(p.Members, Member{timed.MaxNodes, netip.MustParseAddrPort("[fd00:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535")})
	}
	b, err := new(Encoder).Append(nil, &p)
	require.NoError(t, err)
	require.Less(t, len(b), 700)
	var got Packet
	require.NoError(t, new(Decoder).Decode(b, &got))
	require.Equal(t, p.Members, got.Members)
}

// Nobody receives at some addresses, and others mean something else at another host.
func TestWhoCanBeIntroduced(t *testing.T) {
	for addr, can := range map[string]bool{
		"192.0.2.1:7000": true, "127.0.0.1:7000": true, "[2001:db8::1]:7000": true, "192.0.2.1:0": false, "0.0.0.0:7000": false,
		"[::]:7000": false, "224.0.0.1:7000": false, "[ff02::1]:7000": false, "[fe80::1%eth0]:7000": false, "[::ffff:192.0.2.1]:7000": false,
	} {
		m := Member{1, netip.MustParseAddrPort(addr)}
		require.Equal(t, can, m.introducible(), addr)
	}
}
