package loop

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// teller is node 7, which differs from the node of a loop.
type teller struct {
	*outside
	t        testing.TB
	l        *Loop
	sealer   *seal.Sealer
	counter  uint64
	settings wire.Settings
	version  uint8
}

func newTeller(t testing.TB, r *seal.Ring, list ...peers.Peer) *teller {
	l, o := newOutside(r, list...)
	return &teller{o, t, l, sealerOf(r), 0, wire.Settings{Group: "theirs", Quorum: leader.QuorumID{Epoch: 1, Digest: 9}, System: "majority:7"}, wire.Version}
}

// says has the loop take a packet of a group, with the settings of the node if they are told. It
// returns how many bytes came, and how many went back.
func (x *teller) says(group uint64, told bool, from netip.AddrPort) (came, went int) {
	x.counter++
	d := x.l.driver
	p := wire.Packet{Header: datagram.Header{Version: x.version, Group: group, Source: 7, Destination: 1, Boot: 77, Stamp: x.instant(), Echo: nothing},
		MaxDrift: d.cfg.Timing.MaxDrift, FastThreshold: d.cfg.Timing.FastThreshold}
	if told {
		p.Settings = &x.settings
	}
	b := encoded(x.t, x.sealer, x.counter, &p)
	before := x.bytes[from]
	d.turn([]udp.Packet{{Buf: b, N: len(b), Addr: from, Received: x.instant()}}, x.l.cfg.Clock.Read())
	return len(b), x.bytes[from] - before
}

func (x *teller) events() *recorder { return x.l.cfg.Sink.(*recorder) }

// strangersAreTold has a node that is not known tell its settings. It is told this node's, in
// no more bytes and once a keepalive period, and one that tells nothing is told nothing.
func strangersAreTold(t testing.TB) {
	for name, r := range rings(t) {
		x := newTeller(t, r)
		from, all := at(99), 0
		take := func(told bool) (went int) {
			came, went := x.says(99, told, from)
			all += came - went
			require.GreaterOrEqual(t, all, 0, name)
			return went
		}
		for range 20 {
			require.Less(t, take(false), 300, name)
			x.advance(x.l.driver.cfg.Timing.KeepalivePeriod)
		}
		require.Equal(t, 1, x.events().count(stack.EventMismatch), name)
		require.Nil(t, x.events().told, name)
		x.advance(changePeriod)
		require.Greater(t, take(true), 1000, name)
		require.Equal(t, 2, x.events().count(stack.EventMismatch), name)
		require.Equal(t, x.settings, *x.events().told, name)
		require.Equal(t, x.settings, x.l.driver.status().Peers[0].Mismatch.Told, name)
		for range 20 {
			require.Less(t, take(true), 300, "a period has not passed")
		}
		x.advance(x.l.driver.cfg.Timing.KeepalivePeriod)
		require.Greater(t, take(true), 1000, name)
		if r == nil {
			require.Equal(t, "ours", x.outside.settings[from].Group)
		}
	}
}

func TestStrangersAreToldTheSettings(t *testing.T) { strangersAreTold(t) }

// strangersAreEchoed has nodes hear of this one that neither lists nor is listed, or not at its
// address. Each answer shows that this node has got their packet: otherwise neither would ever tell
// the other its settings.
func strangersAreEchoed(t testing.TB) {
	strangerIsEchoed(t)
	strangerIsEchoed(t, peers.Peer{ID: 7, Addr: at(70).String()})
}

func strangerIsEchoed(t testing.TB, list ...peers.Peer) {
	for name, r := range rings(t) {
		x := newTeller(t, r, list...)
		clear(x.last)
		stamp := x.instant()
		x.says(99, false, at(99))
		h, _, err := wire.ParseHeader(x.last[at(99)])
		require.NoError(t, err, name)
		require.Equal(t, datagram.Echo{Boot: 77, Sent: stamp, Received: stamp, Latest: stamp, Heard: datagram.NotHeard}, h.Echo, name)
	}
}

func TestAnAnswerToAStrangerEchoesItsPacket(t *testing.T) { strangersAreEchoed(t) }

// unsealedAccusesNobody has settings that are not sealed reach a node with keys. It does not
// note them, nor answer.
func unsealedAccusesNobody(t testing.TB) {
	x := newTeller(t, rings(t)["with keys"])
	x.sealer = nil
	for range 3 {
		_, went := x.says(99, true, at(99))
		require.Zero(t, went)
		x.advance(x.l.driver.cfg.Timing.KeepalivePeriod)
	}
	require.Zero(t, x.events().count(stack.EventMismatch))
	require.Empty(t, x.l.driver.mismatches)
}

func TestUnsealedSettingsAccuseNobody(t *testing.T) { unsealedAccusesNobody(t) }

// A mismatch is shown for a minute after the last packet, of a peer and of a stranger.
func TestAnOldMismatchIsNotShown(t *testing.T) {
	for _, list := range [][]peers.Peer{nil, {{ID: 7, Addr: at(70).String()}}} {
		x := newTeller(t, nil, list...)
		d := x.l.driver
		shown := func() (n int) {
			d.clock.now = x.instant()
			for _, p := range d.status().Peers {
				if p.Mismatch != nil {
					n++
				}
			}
			return n
		}
		require.Zero(t, shown())
		for range 2 {
			x.says(99, true, at(70))
			x.advance(mismatchPeriod)
			require.Equal(t, 1, shown(), list)
		}
		x.advance(time.Millisecond)
		require.Zero(t, shown(), list)
		if list != nil {
			x.says(99, true, at(70))
			s := *d.pub.current
			s.Alive.Add(7)
			d.pub.current = &s
			require.Zero(t, shown(), "other packets of it count")
		}
	}
}

// listedAreAsked has a listed node of another group send packets. It is told the settings
// until it tells its own, or is of an earlier build: then rarely, and the event has no values.
func listedAreAsked(t testing.TB) {
	from := at(70)
	x := newTeller(t, nil, peers.Peer{ID: 7, Addr: from.String()})
	period, told := x.l.driver.cfg.Timing.KeepalivePeriod, 0
	run := func(d time.Duration) (times int) {
		for end := x.instant().Add(d); x.instant() < end; x.advance(period) {
			delete(x.outside.settings, from)
			x.says(99, false, from)
			times += len(x.outside.settings)
		}
		return times
	}
	require.Equal(t, maxAsked, run(maxAsked*period))
	require.Zero(t, x.events().count(stack.EventMismatch), "the values may come")
	told += run(10 * changePeriod)
	require.Equal(t, 1, x.events().count(stack.EventMismatch))
	require.Nil(t, x.events().told)
	require.InDelta(t, 10, told, 1)
	x.says(99, true, from)
	require.Equal(t, x.settings, *x.events().told)
	require.Zero(t, run(10*changePeriod), "nothing is asked any more")
	require.Equal(t, x.settings, *x.events().told)
	require.Equal(t, 2, x.events().count(stack.EventMismatch))
}

func TestListedNodesAreAskedForTheirSettings(t *testing.T) { listedAreAsked(t) }

// otherQuorums has the votes of a peer show another quorum system. The peer is asked which.
func otherQuorums(t testing.TB) {
	from := at(70)
	x := newTeller(t, nil, peers.Peer{ID: 7, Addr: from.String()})
	d, period := x.l.driver, x.l.driver.cfg.Timing.KeepalivePeriod
	differs := func(digest uint64) {
		d.note(&stack.Event{Kind: stack.EventOtherQuorum, Peer: 7, Quorum: leader.QuorumID{Epoch: 1, Digest: digest}})
		d.flush()
	}
	count := func() int { return x.events().count(stack.EventOtherQuorum) }
	differs(8)
	require.NotNil(t, x.outside.settings[from], "it is told first")
	require.Zero(t, count())
	x.says(d.cfg.Group, true, from)
	require.Zero(t, count(), "these are not the settings of those votes")
	x.run(x.l, d.patience()+period)
	require.Equal(t, 1, count())
	require.Nil(t, x.events().told)

	differs(9)
	require.Equal(t, 2, count())
	told, were := x.events().told, x.settings
	require.Equal(t, were, *told, "it has told them before")
	x.advance(period)
	delete(x.outside.settings, from)
	differs(10)
	require.NotNil(t, x.outside.settings[from], "it is asked as often as for the first system")
	x.settings.Quorum.Digest = 10
	x.says(d.cfg.Group, true, at(99))
	require.Equal(t, 2, count(), "they come from elsewhere")
	x.says(d.cfg.Group, true, from)
	require.Equal(t, 3, count())
	require.Equal(t, x.settings, *x.events().told)
	require.Equal(t, were, *told, "an earlier event stays as it is")
	require.Empty(t, d.stack.Datagram().Boot(7), "settings count for nothing else")
}

func TestPeersAreAskedForTheirQuorumSystem(t *testing.T) { otherQuorums(t) }

// Settings of this node itself, for others, and of the same quorum system change nothing.
func TestSettingsThatSayNothingNew(t *testing.T) {
	x := newTeller(t, nil, peers.Peer{ID: 7, Addr: at(70).String()})
	x.settings.Quorum = leader.QuorumID{}
	x.says(x.l.driver.cfg.Group, true, at(70))
	require.Empty(t, x.l.driver.quorums)
	require.Equal(t, timed.SetOf(7), x.l.driver.routes.known)
}

// inEpochs has a teller's loop order messages by the quorums of epochs, and its node be listed.
func inEpochs(t testing.TB) (x *teller, from netip.AddrPort) {
	from = at(70)
	x = newTeller(t, nil, peers.Peer{ID: 7, Addr: from.String()})
	x.l.driver.cfg.OrderByEpoch = true
	x.l.cfg.Settings.Broadcast, x.l.cfg.Settings.RequireQuorum = true, true
	x.settings = x.l.cfg.Settings
	x.settings.System = "majority:7"
	return x, from
}

// latePackets come again and again of a peer whose settings agree, from before a change of the
// quorum system. The peer tells nothing, because it finds no difference, and is not accused.
func latePackets(t testing.TB) {
	x, from := inEpochs(t)
	d := x.l.driver
	for range 100 {
		x.says(99, false, from)
		x.advance(d.cfg.Timing.KeepalivePeriod)
	}
	require.NotNil(t, x.outside.settings[from], "it is asked, because it may be in another group")
	require.Zero(t, x.events().count(stack.EventMismatch))
	require.Nil(t, d.status().Peers[0].Mismatch)
	require.Equal(t, refusedEpoch, d.status().Peers[0].Refused)
	x.settings.Group = "theirs"
	x.says(99, true, from)
	require.Equal(t, x.settings, *x.events().told, "it is in another group")
	require.Equal(t, x.settings, d.status().Peers[0].Mismatch.Told)
	x.says(99, false, from)
	require.Equal(t, x.settings, d.status().Peers[0].Mismatch.Told, "it has told them before")
}

func TestLatePacketsOfAnEpochAccuseNobody(t *testing.T) { latePackets(t) }

// An earlier build tells nothing, even if it is in another group.
func TestAnEarlierBuildIsAccusedInEpochsToo(t *testing.T) {
	x, from := inEpochs(t)
	x.version = wire.WithSettings - 1
	x.says(99, false, from)
	x.run(x.l, x.l.driver.patience()+2*x.l.driver.cfg.Timing.KeepalivePeriod)
	require.Equal(t, 1, x.events().count(stack.EventMismatch))
}

// laggards have not heard of this node's epoch yet, and are asked for their settings.
func laggards(t testing.TB) {
	x, from := inEpochs(t)
	x.says(99, true, from)
	require.Zero(t, x.events().count(stack.EventMismatch), "it will enter the epoch")
	x.settings.Quorum.Epoch++
	x.says(99, true, from)
	require.Zero(t, x.events().count(stack.EventMismatch), "this node will enter the epoch")
	x.settings.Quorum.Epoch--
	x.settings.System += wire.Fixed
	x.says(99, true, from)
	require.Equal(t, 1, x.events().count(stack.EventMismatch), "it never will")
}

func TestWhoHasNotEnteredTheEpochIsNotAccused(t *testing.T) { laggards(t) }

// rivalSystems are two that have the same number: the nodes will never agree, and say so.
func rivalSystems(t testing.TB) {
	x, from := inEpochs(t)
	x.settings.Quorum.Digest++
	x.says(99, true, from)
	require.Equal(t, 1, x.events().count(stack.EventMismatch))
	require.Equal(t, x.settings, x.l.driver.status().Peers[0].Mismatch.Told)
}

func TestTwoQuorumSystemsOfOneEpochAreNamed(t *testing.T) { rivalSystems(t) }
