package loop

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/admit"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// odd returns a packet of node 2 to node 1 with the given settings.
func odd(t testing.TB, l *Loop, s Settings, from netip.AddrPort) udp.Packet {
	p := wire.Packet{Header: datagram.Header{Version: wire.Version, Group: s.Group, Source: 2, Destination: 1, Boot: 9,
		Stamp: l.driver.clock.now, Echo: datagram.Echo{Heard: datagram.NotHeard}},
		MaxDrift: s.MaxDrift, FastThreshold: s.FastThreshold}
	e := wire.Encoder{MaxPacket: wire.MaxPacket}
	b, err := e.Append(nil, &p)
	require.NoError(t, err)
	wire.FinishWhole(b, p.Header.Stamp, 1)
	return udp.Packet{Buf: b, N: len(b), Addr: from, Received: l.driver.clock.now}
}

var oddAddr = netip.MustParseAddrPort("127.0.0.1:9")

// Packets of nodes with other settings end nothing, neither in a starting node nor
// later, and cause few events.
func mismatchEndsNothing(t testing.TB) {
	l, c := newLoop(nil)
	d := l.driver
	step(l, c)
	own := Settings{Group: d.cfg.Group, MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}
	group, slow := own, own
	group.Group, slow.FastThreshold = 99, own.FastThreshold+1
	group.MaxDrift, group.FastThreshold = 1, 1
	take := func(s Settings) {
		d.turn([]udp.Packet{odd(t, l, s, oddAddr)}, l.cfg.Clock.Read())
		require.False(t, d.life.Over())
		require.NoError(t, d.failure)
	}
	count := func() (n int) { return l.cfg.Sink.(*recorder).count(stack.EventMismatch) }
	take(slow)
	require.Equal(t, 1, count())
	require.Equal(t, slow, *d.status().Peers[0].Mismatch)
	for range 100 {
		take(slow)
		take(group)
	}
	require.Equal(t, 1, count(), "the settings change too often")
	c.advance(changePeriod)
	take(slow)
	require.Equal(t, 1, count(), "the settings are the same")
	take(group)
	require.Equal(t, 1, count(), "the values may come")
	c.advance(d.patience())
	step(l, c)
	require.Equal(t, 2, count(), "they do not")
	require.Equal(t, Settings{Group: 99}, *d.status().Peers[0].Mismatch)
	c.advance(mismatchPeriod - 1)
	take(group)
	require.Equal(t, 2, count())
	c.advance(1 + d.patience())
	take(group)
	c.advance(d.patience())
	take(group)
	require.Equal(t, 3, count(), "it repeats")
	c.advance(mismatchPeriod + 1)
	step(l, c)
	require.Nil(t, d.mismatches.ofPeer(2, &route{Way: wayTo(oddAddr)}, d.clock.now), "it is no longer heard")
}

func TestMismatchEndsNothing(t *testing.T) { mismatchEndsNothing(t) }

func TestDamagedAndInsecurePacketsAccuseNobody(t *testing.T) {
	l, c := newLoop(nil)
	d := l.driver
	step(l, c)
	damaged := odd(t, l, Settings{Group: 99}, oddAddr)
	damaged.Buf[10] ^= 1
	far := odd(t, l, Settings{Group: 99}, netip.MustParseAddrPort("192.0.2.1:9"))
	d.turn([]udp.Packet{damaged, far}, l.cfg.Clock.Read())
	require.Empty(t, d.mismatches)
	require.Equal(t, uint64(2), d.count.foreign)
}

func wayTo(addr netip.AddrPort) admit.Way[netip.AddrPort] {
	return admit.Way[netip.AddrPort]{Addr: addr}
}

// aStrangerHasThePeersID has a node of another group send with the id of a silent peer, from
// elsewhere. The peer stays silent, and the stranger has a row of its own.
func aStrangerHasThePeersID(t testing.TB) {
	l, o := newOutside(nil, peers.Peer{ID: 2, Addr: oddAddr.String()})
	d := l.driver
	s, from := Settings{Group: 99, MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}, at(99)
	take := func(from netip.AddrPort) (list []PeerStatus) {
		d.turn([]udp.Packet{odd(t, l, s, from)}, l.cfg.Clock.Read())
		o.advance(d.patience())
		step(l, o.fakeConn)
		return d.status().Peers
	}
	list := take(from)
	require.Len(t, list, 2)
	require.Equal(t, timed.NodeID(2), list[0].ID)
	require.Nil(t, list[0].Mismatch)
	require.Equal(t, timed.NodeID(timed.NoNode), list[1].ID)
	require.Equal(t, from, list[1].Addr)
	require.NotNil(t, list[1].Mismatch)
	require.True(t, l.cfg.Sink.(*recorder).stranger)

	list = take(oddAddr)
	require.Len(t, list, 1, "it is the peer")
	require.NotNil(t, list[0].Mismatch)
	o.advance(mismatchPeriod)
	take(oddAddr)
	require.False(t, l.cfg.Sink.(*recorder).stranger)
}

func TestAStrangerWithThePeersIDIsNotThePeer(t *testing.T) { aStrangerHasThePeersID(t) }

func TestARowIsFoundByItsAddress(t *testing.T) {
	l := mismatches{3: {settings: Settings{Group: 9}, from: oddAddr, lastPacket: timed.Instant(time.Second)}}
	now := timed.Instant(2 * time.Second)
	require.Equal(t, uint64(9), l.ofPeer(2, &route{Way: wayTo(oddAddr)}, now).Group, "the node at the address has another id than listed")
	require.Nil(t, l.ofPeer(2, &route{}, now))
	l.forget(3)
	require.Nil(t, l.ofAddr(oddAddr, now))
}

// What users were told of a peer's settings stays as it is when the peer changes them.
func TestWhatWasToldOfSettingsStays(t *testing.T) {
	l, _ := newTestLoop(t)
	d := l.driver
	theirs := wire.Settings{Group: "theirs"}
	other := Settings{Group: 9, Told: theirs}
	d.noteMismatch(3, other, oddAddr, false)
	told, byID, byAddr := d.report.events[0].Settings, d.mismatches.ofPeer(3, &route{}, d.clock.now), d.mismatches.ofAddr(oddAddr, d.clock.now)
	other.Told.Group = "another"
	d.noteMismatch(3, other, oddAddr, false)
	require.Equal(t, "another", d.mismatches.ofAddr(oddAddr, d.clock.now).Told.Group)
	require.Equal(t, theirs, *told)
	require.Equal(t, theirs, byID.Told)
	require.Equal(t, theirs, byAddr.Told)
}

// Settings that a peer has told are those of one group.
func TestSettingsThatWereToldAreOfOneGroup(t *testing.T) {
	l, _ := newTestLoop(t)
	d := l.driver
	told := func() wire.Settings { return d.mismatches.ofPeer(3, &route{}, d.clock.now).Told }
	d.noteMismatch(3, Settings{Group: 9, Told: wire.Settings{Group: "theirs"}}, oddAddr, false)
	d.noteMismatch(3, Settings{Group: 9}, oddAddr, false)
	require.Equal(t, "theirs", told().Group)
	d.noteMismatch(3, Settings{Group: 10}, oddAddr, false)
	require.Equal(t, wire.Settings{}, told())
}

// A listed peer is not silent while packets come from its address, whatever they are.
func TestRefusedPacketsFromAListedAddressHaveAReason(t *testing.T) {
	l, c := newLoop(func(cfg *Config) {
		cfg.Peers = peers.NewResolver(peers.Options{Self: 1, Changed: func() {}}, []peers.Peer{{ID: 2, Addr: oddAddr.String()}})
	})
	d := l.driver
	step(l, c)
	good := Settings{Group: d.cfg.Group, MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}
	packet := func(change func(b []byte)) udp.Packet {
		p := odd(t, l, good, oddAddr)
		change(p.Buf)
		return p
	}
	for why, change := range map[string]func([]byte){
		refusedVersion + ": 7, and not 3 to 6": func(b []byte) { b[2]++ },
		refusedMalformed:                       func(b []byte) { b[0]++ },
		refusedDamaged:                         func(b []byte) { b[len(b)-1]++ },
		refusedSettings:                        func(b []byte) { b[8]++ },
		refusedSealed + ": KeyFile is not set here and has [00000000] there": func(b []byte) { b[3]++ },
		refusedUnheard: func([]byte) {},
	} {
		d.turn([]udp.Packet{packet(change)}, l.cfg.Clock.Read())
		p := d.status().Peers[0]
		require.Equal(t, why, p.Refused)
		require.Equal(t, strings.HasPrefix(why, refusedVersion) || strings.HasPrefix(why, refusedSealed), p.Incompatible, why)
	}
	far := odd(t, l, good, netip.MustParseAddrPort("192.0.2.1:9"))
	d.turn([]udp.Packet{far}, l.cfg.Clock.Read())
	require.Len(t, d.routes.refusals, 1, "only listed addresses are noted")
	c.advance(mismatchPeriod + 1)
	step(l, c)
	require.Empty(t, d.status().Peers[0].Refused)
	for why, brief := range map[string]string{refusedVersion: "versions differ", refusedSealed: "keys differ", refusedUnsealed: "keys differ", refusedKey: "keys differ"} {
		d.routes.refuse(oddAddr, refusal{why: why, at: d.clock.now})
		require.True(t, d.status().Peers[0].Incompatible, why)
		require.Equal(t, brief, d.status().Peers[0].Ignored)
	}
	d.routes.refuse(oddAddr, refusal{why: refusedOther, at: d.clock.now})
	require.Equal(t, refusedOther, d.status().Peers[0].Refused)
	require.Equal(t, "does not count", d.status().Peers[0].Ignored)
	d.routes.refuse(oddAddr, refusal{why: d.refusalOf(datagram.Delivered, &d.in.packet), at: d.clock.now})
	require.Empty(t, d.status().Peers[0].Refused)
}

// A peer whose constants of the model differ is a mistake of a person. Its packets contradict
// nothing.
func TestPacketsWithOtherConstantsHaveOtherSettings(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"MaxDrift":      func(s *Settings) { s.MaxDrift++ },
		"FastThreshold": func(s *Settings) { s.FastThreshold++ },
	} {
		t.Run(name, func(t *testing.T) {
			l, c := newLoop(func(cfg *Config) {
				cfg.Peers = peers.NewResolver(peers.Options{Self: 1, Changed: func() {}}, []peers.Peer{{ID: 2, Addr: oddAddr.String()}})
			})
			d := l.driver
			step(l, c)
			s := Settings{Group: d.cfg.Group, MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}
			change(&s)
			d.turn([]udp.Packet{odd(t, l, s, oddAddr)}, l.cfg.Clock.Read())
			p := d.status().Peers[0]
			require.Equal(t, refusedSettings, p.Refused)
			require.NotNil(t, p.Mismatch)
		})
	}
}

// To open packets of other groups is work that anybody can cause, so it is limited.
func foreignIsLimited(t testing.TB) {
	r := rings(t)["with keys"]
	l, o := newOutside(r)
	group := func(number uint64) { l.driver.cfg.Group = number }
	own := l.driver.cfg.Group
	take := func(s *seal.Sealer, counter uint64) bool {
		group(99)
		b := sealedPacket(t, l, s, counter, nothing)
		group(own)
		l.driver.receive([]udp.Packet{{Buf: b, N: len(b), Addr: oddAddr, Received: o.instant()}})
		return l.driver.mismatches[7] != nil
	}
	forger := sealerOf(rings(t)["with keys"])
	for counter := range uint64(1000) {
		require.False(t, take(forger, counter+1))
	}
	require.False(t, take(sealerOf(r), 1), "the limit is reached")
	o.run(l, time.Second)
	require.True(t, take(sealerOf(r), 2))
}

func TestPacketsOfOtherGroupsAreLimited(t *testing.T) { foreignIsLimited(t) }

// recordingsNameOnce repeats a packet of another group under the same key.
func recordingsNameOnce(t testing.TB) {
	r := rings(t)["with keys"]
	l, o := newOutside(r)
	d := l.driver
	own := d.cfg.Group
	d.cfg.Group = 99
	b := sealedPacket(t, l, sealerOf(r), 1, nothing)
	d.cfg.Group = own
	for range 3 {
		d.turn([]udp.Packet{{Buf: bytes.Clone(b), N: len(b), Addr: oddAddr, Received: o.instant()}}, l.cfg.Clock.Read())
		o.run(l, 2*mismatchPeriod)
	}
	require.Equal(t, 1, l.cfg.Sink.(*recorder).count(stack.EventMismatch))
}

func TestARecordedPacketOfAnotherGroupNamesItsSenderOnce(t *testing.T) { recordingsNameOnce(t) }

// heardAreNotAccused has a packet of another group come from where a peer is. While the peer is
// heard, the packet is none of its own.
func heardAreNotAccused(t testing.TB) {
	w := newWorld(t, 1, 2, nil)
	w.run(2*time.Second, false)
	n := w.nodes[0]
	d := n.l.driver
	take := func() bool {
		w.way = append(w.way, onTheWay{w.now, at7(1), odd(t, n.l, Settings{Group: 99, MaxDrift: 1, FastThreshold: 1}, at7(2))})
		w.run(10*time.Millisecond, false)
		return d.mismatches[2] != nil
	}
	require.True(t, d.pub.current.Alive.Has(2))
	require.False(t, take())
	w.cut[[2]timed.NodeID{2, 1}] = true
	w.run(2*time.Second, false)
	require.False(t, d.pub.current.Alive.Has(2))
	require.True(t, take())
}

func TestAPeerThatIsHeardIsNotAccused(t *testing.T) { heardAreNotAccused(t) }

// newestIsShown has a node send packets that do not count for one reason after another, from a
// listed address and from another one. The newest reason is shown.
func newestIsShown(t testing.TB) {
	theirs, err := seal.NewRing(seal.NewKey())
	require.NoError(t, err)
	for _, list := range [][]peers.Peer{nil, {{Addr: oddAddr.String()}}, {{ID: 2, Addr: oddAddr.String()}}} {
		l, o := newOutside(nil, list...)
		d := l.driver
		other := Settings{Group: 99, MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}
		for range 2 {
			d.turn([]udp.Packet{odd(t, l, other, oddAddr)}, l.cfg.Clock.Read())
			require.Len(t, d.status().Peers, 1)
			require.NotNil(t, d.status().Peers[0].Mismatch)
			require.NotContains(t, d.status().Peers[0].Refused, refusedSealed)
			require.Equal(t, "settings differ", d.status().Peers[0].Ignored)
			o.advance(time.Millisecond)
			b := sealedPacketOf(t, l, seal.NewSealer(theirs), 9, 1, nothing)
			d.turn([]udp.Packet{{Buf: b, N: len(b), Addr: oddAddr, Received: o.instant()}}, l.cfg.Clock.Read())
			require.Len(t, d.status().Peers, 1)
			require.Nil(t, d.status().Peers[0].Mismatch, "its group is that of this node by now")
			require.Contains(t, d.status().Peers[0].Refused, refusedSealed)
			require.Equal(t, "keys differ", d.status().Peers[0].Ignored)
			o.advance(time.Millisecond)
		}
	}
}

func TestTheNewestReasonIsShown(t *testing.T) { newestIsShown(t) }
