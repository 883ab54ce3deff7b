package loop

import (
	"net/netip"
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

// Members are greeted where they can be reached from here.
func whoIsGreeted(t testing.TB) {
	for _, c := range []struct {
		addr, from       string
		insecure, sealed bool
		may              bool
	}{
		{addr: "127.0.0.2", from: "127.0.0.1", may: true},
		{addr: "127.0.0.2", from: "192.0.2.1", sealed: true},
		{addr: "192.0.2.2", from: "192.0.2.1"},
		{addr: "192.0.2.2", from: "192.0.2.1", insecure: true, may: true},
		{addr: "192.0.2.2", from: "192.0.2.1", sealed: true, may: true},
		{addr: "2001:db8::1", from: "192.0.2.1", sealed: true},
	} {
		l, conn := newLoop(func(cfg *Config) { cfg.Insecure = c.insecure })
		if c.sealed {
			l.cfg.Ring = new(seal.Ring)
		}
		conn.local = netip.MustParseAddrPort("0.0.0.0:7000")
		require.Equal(t, c.may, l.driver.mayGreet(netip.MustParseAddr(c.addr), netip.MustParseAddr(c.from)), "%+v", c)
	}
}

func TestMembersAreGreetedWhereTheyCanBeReached(t *testing.T) { whoIsGreeted(t) }

// A node that is known from a packet, but has not shown that it receives, is greeted when
// others introduce it: without that, two such nodes could wait for each other for ever. So is
// one that others have heard elsewhere.
func unprovedAreGreeted(t testing.TB) {
	r := routes{limit: 9}
	a, elsewhere := netip.MustParseAddrPort("127.0.0.1:7002"), netip.MustParseAddrPort("127.0.0.1:7003")
	r.learn(2, a, false, 1)
	require.True(t, r.known.Has(2))
	require.False(t, r.leadTo(&wire.Member{Node: 2, Addr: a}))
	mapped := netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port())
	r.learn(3, mapped, true, 1)
	require.True(t, r.leadTo(&wire.Member{Node: 3, Addr: a}))
	require.False(t, r.leadTo(&wire.Member{Node: 3, Addr: elsewhere}))
	require.False(t, r.leadTo(&wire.Member{Node: 4, Addr: a}))
}

func TestNodesThatHaveShownNothingAreGreeted(t *testing.T) { unprovedAreGreeted(t) }

// Every packet of a node with the broadcast has a frame of it. Its introductions leave all
// the same.
func introducesBesideBroadcast(t testing.TB) {
	l, o := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
	d := l.driver
	o.takes(t, l, nil, at(70), 1, nothing)
	d.routes.known.Add(8)
	d.routes.to[8].Addr, d.routes.to[8].Proved = at(80), true
	d.tell(7, timed.SetOf(8))
	o.run(l, time.Millisecond)
	require.NotEmpty(t, o.introduced[at(70)])
}

func TestIntroductionsLeaveBesideTheBroadcast(t *testing.T) { introducesBesideBroadcast(t) }

// All members are introduced that a peer can reach, in as many packets as that takes, and
// none that has not shown that it receives.
func introducesAll(t testing.TB) {
	l, o := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
	d := l.driver
	o.takes(t, l, nil, at(70), 1, nothing)
	var members timed.Set
	for id := timed.NodeID(8); id < 8+2*wire.MaxMembers+1; id++ {
		members.Add(id)
		d.routes.learn(id, at(uint16(id)), true, d.clock.now)
	}
	d.routes.learn(200, at(200), false, d.clock.now)
	d.tell(7, members.With(200))
	o.run(l, time.Millisecond)
	var told timed.Set
	for _, m := range o.introduced[at(70)] {
		require.Equal(t, at(uint16(m.Node)), m.Addr)
		told.Add(m.Node)
	}
	require.Equal(t, members, told)
}

func TestAllMembersAreIntroduced(t *testing.T) { introducesAll(t) }

// The loopback addresses of this machine mean other nodes on another one, so only nodes of this
// machine are told them.
func loopbackStaysHere(t testing.TB) {
	far, other := netip.MustParseAddrPort("192.0.2.7:70"), netip.MustParseAddrPort("192.0.2.9:70")
	l, o := newOutside(nil)
	d := l.driver
	for id, addr := range map[timed.NodeID]netip.AddrPort{6: at(60), 7: far, 8: at(80), 9: other} {
		d.routes.learn(id, addr, true, d.clock.now)
		d.stack.AddPeer(d.clock.now, id)
	}
	for to, want := range map[timed.NodeID]timed.Set{6: timed.SetOf(8, 9), 7: timed.SetOf(9)} {
		d.tell(to, timed.SetOf(8, 9))
		o.run(l, time.Millisecond)
		var told timed.Set
		for _, m := range o.introduced[d.routes.to[to].Addr] {
			told.Add(m.Node)
		}
		require.Equal(t, want, told, "node %v", to)
	}
}

func TestLoopbackAddressesStayOnTheirMachine(t *testing.T) { loopbackStaysHere(t) }

// Who is at an address is not known, nor which build.
func greetsAllBuilds(t testing.TB) {
	l, o := newOutside(nil)
	l.driver.greetAt(9, at(90))
	o.run(l, time.Millisecond)
	require.ElementsMatch(t, []uint8{wire.Oldest, wire.Version}, o.versions[at(90)])
}

func TestNodesOfAllBuildsAreGreeted(t *testing.T) { greetsAllBuilds(t) }

// What a process says of itself and of others counts when it is accepted: a recorded
// packet says it as well.
func onlyAcceptedAreBelieved(t testing.TB) {
	l, o := newOutside(nil)
	d := l.driver
	says := func(counter uint64, e datagram.Echo) {
		p := wire.Packet{Header: datagram.Header{Version: wire.Version, Group: d.cfg.Group, Source: 7, Destination: 1, Boot: 77, Stamp: o.instant(), Echo: e},
			MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold,
			Frames: wire.FrameLabels | wire.FrameMembers, Labels: &wire.Labels{Name: "seven"}, Members: []wire.Member{{Node: 9, Addr: at(90)}}}
		b := encoded(t, nil, counter, &p)
		d.turn([]udp.Packet{{Buf: b, N: len(b), Addr: at(70), Received: o.instant()}}, l.cfg.Clock.Read())
		o.run(l, 5*time.Millisecond)
	}
	says(1, nothing)
	require.True(t, d.routes.known.Has(7))
	require.Nil(t, l.Labels(7))
	require.Zero(t, o.bytes[at(90)])
	seen := header(t, o.last[at(70)])
	says(2, datagram.Echo{Boot: d.cfg.Self.Boot, Sent: seen.Stamp, Received: seen.Stamp, Latest: seen.Stamp, Heard: datagram.NotHeard})
	require.Equal(t, "seven", l.Labels(7).Name)
	require.NotZero(t, o.bytes[at(90)])
}

func TestOnlyAcceptedProcessesAreBelieved(t *testing.T) { onlyAcceptedAreBelieved(t) }
