package loop

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// outside is the world around a loop: it keeps the latest packet that each address got,
// and how many bytes.
type outside struct {
	*fakeConn
	bytes map[netip.AddrPort]int
	last  map[netip.AddrPort][]byte
	// introduced are the members of the unsealed introductions that each address got.
	introduced map[netip.AddrPort][]wire.Member
	// versions are those of the wire format in which each address got packets.
	versions map[netip.AddrPort][]uint8
	// settings are the unsealed ones that each address got last.
	settings map[netip.AddrPort]*wire.Settings
}

func (o *outside) WriteBatch(pkts []udp.Packet) (int, error) {
	for i := range pkts {
		p := &pkts[i]
		o.bytes[p.Addr] += p.N + len(p.Tail)
		o.last[p.Addr] = append(append([]byte(nil), p.Buf[:p.N]...), p.Tail...)
		if h, _, err := wire.ParseHeader(o.last[p.Addr]); err == nil && !slices.Contains(o.versions[p.Addr], h.Version) {
			o.versions[p.Addr] = append(o.versions[p.Addr], h.Version)
		}
		var got wire.Packet
		if new(wire.Decoder).Decode(append([]byte(nil), o.last[p.Addr]...), &got) == nil {
			if got.Has(wire.FrameMembers) {
				o.introduced[p.Addr] = append(o.introduced[p.Addr], got.Members...)
			}
			if got.Settings != nil {
				o.settings[p.Addr] = got.Settings
			}
		}
	}
	return len(pkts), nil
}

// newOutside returns a loop with the given keys, if any, and the world around it.
func newOutside(ring *seal.Ring, list ...peers.Peer) (*Loop, *outside) {
	var o *outside
	l, _ := newLoop(func(cfg *Config) {
		o = &outside{cfg.Conn.(*fakeConn), map[netip.AddrPort]int{}, map[netip.AddrPort][]byte{}, map[netip.AddrPort][]wire.Member{},
			map[netip.AddrPort][]uint8{}, map[netip.AddrPort]*wire.Settings{}}
		cfg.Conn, cfg.Ring = o, ring
		cfg.Peers = peers.NewResolver(peers.Options{Self: 1, Changed: func() {}}, list)
	})
	step(l, o.fakeConn)
	return l, o
}

// run lets the loop take its turns for a while.
func (o *outside) run(l *Loop, d time.Duration) {
	for end := o.instant().Add(d); o.instant() < end; {
		step(l, o.fakeConn)
	}
}

// takes hands a packet of node 7 to the loop, as it is or sealed, and returns its length.
func (o *outside) takes(t testing.TB, l *Loop, s *seal.Sealer, from netip.AddrPort, counter uint64, e datagram.Echo) int {
	b := sealedPacket(t, l, s, counter, e)
	l.driver.turn([]udp.Packet{{Buf: b, N: len(b), Addr: from, Received: o.instant()}}, l.cfg.Clock.Read())
	return len(b)
}

// sealedPacket returns a packet of node 7 without frames.
func sealedPacket(t testing.TB, l *Loop, s *seal.Sealer, counter uint64, e datagram.Echo) []byte {
	return sealedPacketOf(t, l, s, 77, counter, e)
}

func sealedPacketOf(t testing.TB, l *Loop, s *seal.Sealer, boot timed.BootID, counter uint64, e datagram.Echo) []byte {
	d := l.driver
	p := wire.Packet{Header: datagram.Header{Version: wire.Version, Group: d.cfg.Group, Source: 7, Destination: 1, Boot: boot,
		Stamp: timed.Instant(l.cfg.Clock.Now()), Echo: e}, MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}
	return encoded(t, s, counter, &p)
}

// encoded returns a packet as it leaves, sealed unless s is nil.
func encoded(t testing.TB, s *seal.Sealer, counter uint64, p *wire.Packet) []byte {
	enc := wire.Encoder{}
	if s != nil {
		p.Header.Suite, enc.Room = wire.SuiteXAES256GCM, seal.Head
	}
	b, err := enc.AppendBefore(nil, p, nil)
	require.NoError(t, err)
	if s == nil {
		wire.FinishWhole(b, p.Header.Stamp, counter)
		return b
	}
	wire.FinishSealed(b, p.Header.Stamp, counter, uint32(s.KeyID()))
	return s.Seal(b, wire.HeaderSize, nil, uint64(p.Header.Boot), counter, 1)
}

var nothing = datagram.Echo{Heard: datagram.NotHeard}

func rings(t testing.TB) map[string]*seal.Ring {
	r, err := seal.NewRing(seal.NewKey())
	require.NoError(t, err)
	return map[string]*seal.Ring{"without keys": nil, "with keys": r}
}

func sealerOf(r *seal.Ring) *seal.Sealer {
	if r == nil {
		return nil
	}
	return seal.NewSealer(r)
}

// A hello of an unknown node, of 116 bytes, once got 2,929 packets with
// 595 kB, at whatever address it named. Now an address gets no more bytes than came from
// it.
func reflectsNothing(t testing.TB) {
	for name, r := range rings(t) {
		l, o := newOutside(r)
		victim := at(99)
		came := o.takes(t, l, sealerOf(r), victim, 1, nothing)
		o.run(l, 80*time.Second)
		require.LessOrEqual(t, o.bytes[victim], came, name)
		for counter := range uint64(1000) { // from there, and from elsewhere
			came += o.takes(t, l, sealerOf(r), victim, 2*counter+2, nothing)
			o.takes(t, l, sealerOf(r), at(uint16(100+counter)), 2*counter+3, nothing)
			o.run(l, time.Millisecond)
		}
		require.LessOrEqual(t, o.bytes[victim], came, name)
	}
}

func TestReflectsNothing(t *testing.T) { reflectsNothing(t) }

// The stamp that another address got proves nothing, and the one of the challenge does.
func challengesProve(t testing.TB) {
	for name, r := range rings(t) {
		l, o := newOutside(r, peers.Peer{ID: 7, Addr: at(70).String()})
		s, boot := sealerOf(r), l.driver.cfg.Self.Boot
		elsewhere, counter := at(99), uint64(1)
		o.takes(t, l, s, at(70), counter, nothing)
		for range 20 {
			o.run(l, 5*time.Millisecond)
			seen := header(t, o.last[at(70)])
			counter++
			o.takes(t, l, s, at(70), counter, datagram.Echo{Boot: boot, Sent: seen.Stamp, Received: seen.Stamp, Latest: seen.Stamp, Heard: datagram.NotHeard})
			counter++ // the next one is sent on from elsewhere
			o.advance(time.Millisecond)
			o.takes(t, l, s, elsewhere, counter, datagram.Echo{Boot: boot, Sent: seen.Stamp, Received: seen.Stamp, Latest: seen.Stamp, Heard: datagram.NotHeard})
			require.Equal(t, at(70), l.driver.routes.to[7].Addr, name)
		}
		require.NotEmpty(t, o.last[elsewhere], "it is challenged")
		seen := header(t, o.last[elsewhere])
		o.advance(time.Millisecond)
		counter++
		o.takes(t, l, s, elsewhere, counter, datagram.Echo{Boot: boot, Sent: seen.Stamp, Received: seen.Stamp, Latest: seen.Stamp, Heard: datagram.NotHeard})
		require.Equal(t, elsewhere, l.driver.routes.to[7].Addr, "it has moved: "+name)
	}
}

func TestChallengesProve(t *testing.T) { challengesProve(t) }

func header(t testing.TB, b []byte) datagram.Header {
	h, _, err := wire.ParseHeader(b)
	require.NoError(t, err)
	return h
}

// With keys, nothing that is not authentic and new has any effect, not even an answer to
// a configured address.
func silentlyDrops(t testing.TB) {
	k, old := seal.NewKey(), seal.NewKey()
	r, err := seal.NewRing(k)
	require.NoError(t, err)
	other, err := seal.NewRing(old)
	require.NoError(t, err)
	l, o := newOutside(r)
	d, s := l.driver, seal.NewSealer(r)
	take := func(b []byte) {
		d.turn([]udp.Packet{{Buf: b, N: len(b), Addr: at(99), Received: o.instant()}}, l.cfg.Clock.Read())
	}
	good := sealedPacket(t, l, s, 5, nothing)
	for bit := range 8 * len(good) {
		b := append([]byte(nil), good...)
		b[bit/8] ^= 1 << (bit % 8)
		take(b)
		o.advance(time.Millisecond)
	}
	take(sealedPacket(t, l, nil, 6, nothing))
	take(sealedPacket(t, l, seal.NewSealer(other), 6, nothing))
	require.Equal(t, timed.Set{}, d.routes.known)
	require.Empty(t, o.bytes)
	require.Empty(t, d.mismatches)
	c := &d.count
	require.Equal(t, uint64(8*len(good)+2), c.version+c.malformed+c.foreign+c.unsealed+c.key+c.forged+c.limited)
	require.NotZero(t, c.forged)
	require.Zero(t, c.limited)
	h, _, err := wire.ParseHeader(good)
	require.NoError(t, err)
	require.False(t, d.opening.opener.Knows(originOf(&h), h.Counter), "nothing authentic has come of that process")

	take(good)
	require.Equal(t, timed.SetOf(7), d.routes.known, "the packet itself counts")
	before := *c
	take(good)
	require.Equal(t, before.replayed+1, c.replayed)
	d.takeRing(r)
	take(good)
	require.Equal(t, before.replayed+2, c.replayed, "what has come counts over a change of the keys")
	next := sealedPacketOf(t, l, s, 78, 5, nothing)
	take(next)
	require.Equal(t, before.replayed+2, c.replayed, "another incarnation counts its packets from the beginning")
	take(next)
	require.Equal(t, before.replayed+3, c.replayed)
}

func TestSilentlyDrops(t *testing.T) { silentlyDrops(t) }

// Junk of unknown incarnations is limited, and packets of the known one are not.
func junkIsLimited(t testing.TB) {
	r, err := seal.NewRing(seal.NewKey())
	require.NoError(t, err)
	l, o := newOutside(r, peers.Peer{ID: 7, Addr: at(70).String()})
	s := seal.NewSealer(r)
	o.takes(t, l, s, at(70), 1, nothing)
	junk := sealedPacket(t, l, s, 2, nothing)
	for i := range 10_000 {
		junk[20], junk[21] = byte(i), byte(i>>8) // of the boot id
		l.driver.turn([]udp.Packet{{Buf: junk, N: len(junk), Addr: at(99)}}, l.cfg.Clock.Read())
	}
	restarted := sealedPacketOf(t, l, s, 78, 1, nothing)
	opened := l.driver.count.limited
	l.driver.turn([]udp.Packet{{Buf: restarted, N: len(restarted), Addr: at(70)}}, l.cfg.Clock.Read())
	require.Equal(t, opened, l.driver.count.limited, "junk from elsewhere that claims its id costs it nothing")
	require.Greater(t, l.driver.count.limited, uint64(9000))
	before := l.driver.count.forged
	require.Less(t, before, uint64(1000))
	replayed := l.driver.count.replayed
	o.takes(t, l, s, at(70), 3, nothing)
	o.takes(t, l, s, at(70), 3, nothing)
	require.Equal(t, replayed+1, l.driver.count.replayed, "it was opened")
	limited := l.driver.count.limited
	for counter := range uint64(1000) { // of a broadcast, within the same millisecond
		o.takes(t, l, s, at(70), 4+counter, nothing)
	}
	require.Equal(t, limited, l.driver.count.limited)
}

func TestJunkIsLimited(t *testing.T) { junkIsLimited(t) }

// However many incarnations that are gone are repeated, the accepted one stays known: its
// packets are opened without limit, and none of them counts twice.
func acceptedStaysKnown(t testing.TB) {
	r, err := seal.NewRing(seal.NewKey())
	require.NoError(t, err)
	l, o := newOutside(r, peers.Peer{ID: 7, Addr: at(70).String()})
	s := seal.NewSealer(r)
	o.takes(t, l, s, at(70), 1, nothing)
	o.run(l, 5*time.Millisecond)
	seen := header(t, o.last[at(70)])
	o.takes(t, l, s, at(70), 2, datagram.Echo{Boot: l.driver.cfg.Self.Boot, Sent: seen.Stamp, Received: seen.Stamp, Latest: seen.Stamp, Heard: datagram.NotHeard})
	accepted := l.driver.stack.Datagram().Boot(7)
	require.NotZero(t, accepted)
	for boot := range timed.BootID(20) {
		o.advance(time.Millisecond)
		gone := sealedPacketOf(t, l, s, 100+boot, 1, nothing)
		l.driver.turn([]udp.Packet{{Buf: gone, N: len(gone), Addr: at(99), Received: o.instant()}}, l.cfg.Clock.Read())
	}
	require.Equal(t, accepted, l.driver.stack.Datagram().Boot(7))
	c := &l.driver.count
	limited, replayed := c.limited, c.replayed
	for range 1000 {
		o.takes(t, l, s, at(70), 2, nothing)
	}
	require.Equal(t, limited, c.limited)
	require.Equal(t, replayed+1000, c.replayed)
}

func TestTheAcceptedIncarnationStaysKnown(t *testing.T) { acceptedStaysKnown(t) }
