package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/leftover"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// told returns the events of a kind, of which there is one at least.
func (c *cluster) told(t testing.TB, kind EventKind) (list []Event) {
	for i := range c.events {
		if c.events[i].Kind == kind {
			list = append(list, c.events[i])
		}
	}
	require.NotEmpty(t, list, "%v", kind)
	return list
}

// Events about a peer say which one it is, and how fresh the knowledge of it is.
func TestEventsAboutPeersAreWhole(t *testing.T) {
	const stopped, leaves = 2, 3
	c := newCluster(3, leader.Stable)
	for range 300 {
		c.step(nil)
	}
	for _, e := range c.told(t, EventPeerAlive) {
		require.NotZero(t, e.Peer)
		require.Positive(t, e.Bound)
		require.Less(t, e.Bound, datagram.Unknown)
	}
	for _, e := range c.told(t, EventElected) {
		require.True(t, e.Support.Has(e.Peer))
	}
	c.events = nil
	for range 300 {
		c.step(c.stacks[stopped-1])
	}
	for _, e := range c.told(t, EventPeerSilent) {
		require.EqualValues(t, stopped, e.Peer)
		require.Greater(t, e.Age, timed.LAN().Expires/2)
		require.Positive(t, e.Bound)
		require.Less(t, e.Bound, datagram.Unknown)
	}
	c.events = nil
	c.take(c.stacks[leaves-1].Leave(c.now, nil))
	for range 10 {
		c.step(nil)
	}
	for _, e := range c.told(t, EventPeerLeaving) {
		require.EqualValues(t, leaves, e.Peer)
		require.Equal(t, c.stacks[leaves-1].Self().Boot, e.Boot)
	}
}

// Events about the clock pass on all that the clock says.
func TestEventsAboutTheClockAreWhole(t *testing.T) {
	for kind, want := range map[clocksync.Kind]struct {
		kind      EventKind
		utc, peer bool
	}{
		clocksync.Adopted: {kind: EventClockAdopted}, clocksync.Stepped: {kind: EventClockStepped}, clocksync.UTCChanged: {kind: EventUTCChanged, utc: true},
		clocksync.Falseticker: {kind: EventFalseticker, peer: true}, clocksync.Truechimer: {kind: EventTruechimer, peer: true},
	} {
		var e clocksync.Effect
		leftover.Fill(&e)
		e.Kind, e.Peer = kind, 8
		x := Event{Kind: want.kind, Peer: e.Timeline.Leader, Timeline: e.Timeline, Parent: e.Parent, Step: e.Step}
		if want.utc {
			x.UTC = e.State
		}
		if want.peer {
			x.Peer, x.Source = e.Peer, e.Source
		}
		s := newCluster(1, leader.Stable).stacks[0]
		s.notifyClock(&e)
		require.Equal(t, []Event{x}, s.events)
	}
}

// Events about peers that differ, or whose clocks do, say how.
func TestEventsAboutDifferencesAreWhole(t *testing.T) {
	c, lead, other := follow()
	last := func() Event { return lead.events[len(lead.events)-1] }

	p := c.packetOf(t, other, lead, 0)
	p.MaxDrift++
	p.FastThreshold--
	lead.HandlePacket(c.now, c.now, &p, nil)
	require.Equal(t, Event{Kind: EventMismatch, Peer: other.Self().Node, Group: lead.cfg.Group, MaxDrift: p.MaxDrift, FastThreshold: p.FastThreshold}, last())

	id := leader.QuorumID{Epoch: 9, Digest: 8}
	lead.performElection(c.now, []leader.Effect{{Kind: leader.OtherQuorum, Peer: other.Self().Node, Quorum: id}})
	require.Equal(t, Event{Kind: EventOtherQuorum, Peer: other.Self().Node, Boot: other.Self().Boot, Quorum: id}, last())

	lead.suspect = true // the incarnation has asked for another one
	lead.suspectClocks(c.now, other.Self(), datagram.Delay{Bound: time.Second})
	require.Equal(t, Event{Kind: EventClockFault, Peer: other.Self().Node, Boot: other.Self().Boot, Bound: time.Second}, last())
}

// Between two incarnations a node knows what it knew, and claims nothing.
func TestBetweenIncarnationsNothingIsClaimed(t *testing.T) {
	self, e := timed.Incarnation{Node: 3, Boot: 9}, &epoch.State{Epoch: 4}
	require.Equal(t, Snapshot{Self: self, Epoch: e}, Between(self, e, nil))
	var last Snapshot
	leftover.Fill(&last)
	want := Snapshot{Self: self, Epoch: e, Clock: last.Clock.Unclaimed(), View: last.View}
	require.Equal(t, want, Between(self, e, &last))
}

// An answer about this node names it.
func TestLeadsAreWhole(t *testing.T) { leadsAreWhole(t) }

func leadsAreWhole(t testing.TB) {
	self := timed.Incarnation{Node: 3, Boot: 9}
	s := Snapshot{Self: self, Leading: true, Expiration: 10, Support: timed.SetOf(3, 4), Global: true, GlobalUntil: 8,
		Stamps: &leader.QuorumStamp{Epoch: 1, Stamps: []leader.Stamp{{Node: 3}, {Node: 200}}}}
	require.Equal(t, Lead{Leader: self, Leads: true, UpToDate: true, Until: 10, Support: s.Support}, s.Lead(5))
	require.Equal(t, Lead{Leader: self, Leads: true, UpToDate: true, Until: 8, Support: timed.SetOf(3, 200)}, s.GlobalLead(5), "whose votes count")
	s = Snapshot{Self: self, Following: timed.Incarnation{Node: 4, Boot: 1}, LockedUntil: 10, Globally: 4}
	require.Equal(t, Lead{Leader: s.Following, UpToDate: true, Until: 10}, s.Lead(5))
	require.Equal(t, Lead{Leader: timed.Incarnation{Node: 4}}, s.GlobalLead(5))
}

// The stack hands its configuration on to the layers.
func TestAConfigurationIsPassedOn(t *testing.T) {
	majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	var cfg Config
	leftover.Fill(&cfg, "Quorum", "Epochs", "Broadcast", "Ordered", "OrderByEpoch")
	cfg.Timing, cfg.Quorum, cfg.Tentative, cfg.Broadcast = timed.WAN(), majority, true, &broadcast.Config{}
	s := New(cfg, timed.Set{}, timed.Instant(time.Hour), 0)
	for layer, want := range map[any]int{s.datagrams: 2, s.election: 10, s.views: 3, s.clock: 7, s.broadcast: 2} {
		except := []string{"Quorum"} // of the broadcast, which orders in all views
		if layer == any(s.election) {
			except = nil
		}
		apart, shared := leftover.Apart(&cfg, leftover.Field(layer, "cfg"), except...)
		require.Empty(t, apart, "%T", layer)
		require.Equal(t, want, shared, "%T", layer)
	}
}
