package loop

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
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

// A node that is known from a packet, but has not shown that it receives, may be greeted
// when others introduce it: without that, two such nodes could wait for each other for ever.
func unprovedAreGreeted(t testing.TB) {
	r := routes{limit: 9}
	a := netip.MustParseAddrPort("127.0.0.1:7002")
	r.learn(2, a, false, 1)
	require.True(t, r.known.Has(2))
	require.True(t, r.reached().Empty())
	r.learn(3, a, true, 1)
	require.Equal(t, timed.SetOf(3), r.reached())
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
	require.True(t, o.introduced[at(70)])
}

func TestIntroductionsLeaveBesideTheBroadcast(t *testing.T) { introducesBesideBroadcast(t) }
