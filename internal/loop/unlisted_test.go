package loop

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// answeredOnce has a node with other settings send many packets, and one after a keepalive period.
// It requires one answer before that, and returns its length and that of all packets that came.
func answeredOnce(t testing.TB, l *Loop, o *outside, s Settings, from netip.AddrPort) (answer, came int) {
	take := func() {
		p := odd(t, l, s, from)
		came += p.N
		l.driver.turn([]udp.Packet{p}, l.cfg.Clock.Read())
	}
	take()
	answer = o.bytes[from]
	require.Positive(t, answer)
	require.LessOrEqual(t, answer, came)
	for range 50 {
		take()
	}
	require.Equal(t, answer, o.bytes[from], "a period has not passed")
	o.advance(l.driver.cfg.Timing.KeepalivePeriod)
	take()
	return answer, came
}

// strangersHear has a node of another group, which this node does not know, send packets. It
// is answered once a keepalive period, so that it can name the difference, and gets no more
// bytes than came.
func strangersHear(t testing.TB) {
	l, o := newOutside(nil)
	d, from := l.driver, at(99)
	answer, _ := answeredOnce(t, l, o, Settings{Group: 99, MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}, from)
	require.Equal(t, 2*answer, o.bytes[from])
	require.Len(t, d.status().Peers, 1)
	p := d.status().Peers[0]
	require.Equal(t, timed.NodeID(2), p.ID)
	require.Equal(t, from, p.Addr)
	require.NotNil(t, p.Mismatch)
	require.False(t, d.routes.known.Has(2), "it is no peer")
}

func TestANodeOfAnotherGroupIsAnsweredNowAndThen(t *testing.T) { strangersHear(t) }

// movedHear has a listed peer with other constants of the model send from elsewhere. It is
// answered there now and then, with no more bytes than came.
func movedHear(t testing.TB) {
	l, o := newOutside(nil, peers.Peer{ID: 2, Addr: at(50).String()})
	d, from := l.driver, at(99)
	answer, came := answeredOnce(t, l, o, Settings{Group: d.cfg.Group, MaxDrift: d.cfg.Timing.MaxDrift + 1, FastThreshold: d.cfg.Timing.FastThreshold}, from)
	require.Greater(t, o.bytes[from], answer)
	require.LessOrEqual(t, o.bytes[from], came)
}

func TestAMovedNodeWithOtherConstantsIsAnswered(t *testing.T) { movedHear(t) }

// fewUnopened sends packets that cannot be opened from many addresses. Few are noted, for a
// while, and none is answered.
func fewUnopened(t testing.TB) {
	ours, err := seal.NewRing(seal.NewKey())
	require.NoError(t, err)
	theirs, err := seal.NewRing(seal.NewKey())
	require.NoError(t, err)
	l, o := newOutside(ours)
	d := l.driver
	send := func(first uint16) {
		for i := range uint16(2 * maxUnopened) {
			o.takes(t, l, seal.NewSealer(theirs), at(first+i), uint64(i)+1, nothing)
		}
	}
	send(20)
	peers := d.status().Peers
	require.Len(t, peers, maxUnopened)
	for i := range peers {
		require.True(t, peers[i].Incompatible)
	}
	require.Equal(t, fmt.Sprintf("%s: KeyFile has %v here and %v there", refusedKey, ours.IDs(), theirs.IDs()), peers[0].Refused)
	require.Equal(t, at(20), peers[0].Addr)
	o.advance(mismatchPeriod + time.Second)
	step(l, o.fakeConn)
	require.Empty(t, d.status().Peers)
	send(60)
	require.Len(t, d.status().Peers, maxUnopened)
	require.Equal(t, at(60), d.status().Peers[0].Addr)
	d.routes.refuse(at(60), refusal{at: d.clock.now})
	require.Len(t, d.status().Peers, maxUnopened-1, "its packets count now")
	require.Empty(t, o.bytes)
}

func TestFewAddressesOfUnopenedPacketsAreNoted(t *testing.T) { fewUnopened(t) }
