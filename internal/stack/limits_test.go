package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// follow returns three nodes at work, their leader, and a follower.
func follow() (c *cluster, lead, other *Stack) {
	c, lead = whole()
	c.run(100, nil, 0, nil)
	for _, s := range c.stacks {
		if s != lead {
			other = s
		}
	}
	return c, lead, other
}

// An incarnation that distrusts its clock relies on nothing any more: its view is not up to
// date, and its last packets neither free votes nor hand them over.
func distrustEndsAll(t testing.TB) {
	for _, leads := range []bool{false, true} {
		c, lead, s := follow()
		if leads {
			s = lead
		}
		snap := s.Snapshot(c.now)
		require.True(t, snap.UpToDate(c.now))
		for _, e := range s.Distrust(c.now, nil) {
			if e.Kind == Send {
				require.Zero(t, e.Packet.Frames&(wire.FrameRelease|wire.FrameSuccessor))
			}
		}
		snap = s.Snapshot(c.now)
		require.False(t, snap.UpToDate(c.now))
		require.False(t, snap.Leading)
	}
}

func TestDistrustEndsAllThatRestsOnTheClock(t *testing.T) { distrustEndsAll(t) }

// A hold of the global lead lasts until the global lease ends, and not as long as the local
// one; every promise is over at its end.
func holdsEndInTime(t testing.TB) {
	s := Snapshot{Self: incarnationOf(1), Leading: true, Expiration: 60, Global: true, GlobalUntil: 50, Following: incarnationOf(2), LockedUntil: 70}
	for now := timed.Instant(48); now < 72; now++ {
		require.Equal(t, now < 60, s.Continues(now, &s), now)
		require.Equal(t, now < 50, s.ContinuesGlobally(now, &s), now)
		require.Equal(t, now < 50, s.GlobalLead(now).Leads, now)
		l := s.Lead(now)
		require.Equal(t, now < 60, l.Leads, now)
		require.Equal(t, now < 70, l.UpToDate, now)
	}
	own := Snapshot{Self: incarnationOf(1), Following: incarnationOf(1), LockedUntil: 70}
	require.Equal(t, Lead{}, own.Lead(5), "a candidate that asks for votes follows nobody yet")
	other := s
	other.Self.Boot++
	require.False(t, s.Continues(1, &other), "another incarnation")
	require.False(t, s.ContinuesGlobally(1, &other))
}

func TestHoldsEndWithTheirLeases(t *testing.T) { holdsEndInTime(t) }

// Without trust in the clock, a reading claims nothing at all.
func claimsNothing(t testing.TB) {
	c, lead, other := follow()
	for _, s := range []*Stack{lead, other} { // nor does a node between two incarnations
		last := s.Snapshot(c.now)
		claims := last.Reading(c.now, true)
		require.NotEqual(t, clocksync.UnknownBound, claims.Deviation)
		require.Equal(t, clocksync.Reading{Time: claims.Time, Deviation: clocksync.UnknownBound, UTCBound: clocksync.UnknownBound,
			Timeline: claims.Timeline}, last.Reading(c.now, false))
		between := Between(timed.Incarnation{Node: s.Self().Node, Boot: 99}, nil, &last)
		require.Equal(t, last.Reading(c.now, false), between.Reading(c.now, true))
		require.Equal(t, []any{last.View, Lead{}, false}, []any{between.View, between.Lead(c.now), between.UpToDate(c.now)})
	}
}

func TestAnUntrustedClockClaimsNothing(t *testing.T) { claimsNothing(t) }

// packetOf returns a packet that a node sends to another one.
func (c *cluster) packetOf(t testing.TB, from, to *Stack, frames wire.Frames) wire.Packet {
	for range 200 {
		for i := range c.sent {
			if p := c.sent[i]; p.Header.Source == from.Self().Node && p.Header.Destination == to.Self().Node && p.Frames&frames == frames {
				return p
			}
		}
		c.step(nil)
	}
	require.Fail(t, "no such packet")
	return wire.Packet{}
}

// The state that a packet tells is that of its sender when it left. One that was overtaken
// tells nothing new.
func overtakenState(t testing.TB) {
	c, lead, other := follow()
	older := c.packetOf(t, lead, other, 0)
	for range 60 {
		c.step(nil)
	}
	now := other.Election().Peer(lead.Self().Node)
	require.True(t, now.Leading)
	older.State = leader.State{Contender: true}
	other.HandlePacket(c.now, c.now, &older, nil)
	require.Equal(t, now, other.Election().Peer(lead.Self().Node))
}

func TestAnOvertakenPacketTellsNoState(t *testing.T) { overtakenState(t) }

// A process with the id of a living node is refused once in a while, however often it asks.
func refusesSeldom(t testing.TB) {
	c, lead, other := follow()
	p := c.packetOf(t, other, lead, 0)
	p.Header.Boot, p.Frames = 99, 0
	refusals := func() (n int) {
		p.Header.Counter, p.Header.Stamp = p.Header.Counter+1, p.Header.Stamp+1
		for _, e := range lead.HandlePacket(c.now, c.now, &p, nil) {
			if e.Kind == SendBack {
				require.Equal(t, p.Header.Source, e.Peer)
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, refusals())
	for range 5 {
		require.Zero(t, refusals())
	}
	c.now = c.now.Add(timed.LAN().FastThreshold - 1)
	require.Zero(t, refusals())
	c.now++
	require.Equal(t, 1, refusals())
	c.now = c.now.Add(timed.LAN().KeepalivePeriod)
	p.Frames, p.InUse = wire.FrameInUse, lead.Self().Boot
	require.Zero(t, refusals(), "or two nodes would refuse each other for ever")
}

func TestARivalIsRefusedSeldom(t *testing.T) { refusesSeldom(t) }

// Collated replies are for the incarnation that asked. Those for the one before it count for
// nothing, although its rounds may have the same number.
func collatedForTheFormer(t testing.TB) {
	w := collating(t, 7)
	p := w.catch(t, 1)
	at := w.nodes[0].Election().LastRequest()
	p.Collated.Leader.Boot--
	for i := range p.Collated.Replies {
		w.nodes[0].election.Forget(p.Collated.Replies[i].Voter.Node)
	}
	w.nodes[0].HandlePacket(w.now, w.now, p, nil)
	for i := range p.Collated.Replies {
		if id := p.Collated.Replies[i].Voter.Node; id != p.Header.Source {
			v, _ := w.nodes[0].Election().Vote(id)
			require.Less(t, v.Number, at)
		}
	}
}

func TestCollatedRepliesAreForOneIncarnation(t *testing.T) { collatedForTheFormer(t) }

// A vote without the frame of its stamp has no stamp, whatever the packet held before.
func stampNeedsItsFrame(t testing.TB) {
	c, lead, other := follow()
	p := c.packetOf(t, other, lead, wire.FrameReply)
	p.Reply.Stamp, p.Stamp = leader.VoteStamp{Counter: 7, At: 7}, leader.VoteStamp{Counter: 8, At: 8}
	lead.HandlePacket(c.now, c.now, &p, nil)
	require.Zero(t, p.Reply.Stamp)
	p.Frames |= wire.FrameStamp
	lead.HandlePacket(c.now, c.now, &p, nil)
	require.Equal(t, p.Stamp, p.Reply.Stamp)
}

func TestAStampNeedsItsFrame(t *testing.T) { stampNeedsItsFrame(t) }

// A node that may vote now, because its caller knows more, has its turn at once.
func settlesAtOnce(t testing.TB) {
	now := timed.Instant(time.Hour)
	s := New(Config{Self: incarnationOf(1), Timing: timed.LAN(), Tentative: true}, timed.Set{}, now, 0)
	for at := s.Deadline(); at < now.Add(time.Second); at = timed.Later(at+1, s.Deadline()) {
		s.HandleTimeout(at, nil)
	}
	now = now.Add(time.Second)
	require.False(t, s.Snapshot(now).Ready)
	s.Settle(now)
	require.LessOrEqual(t, s.Deadline(), now)
	s.HandleTimeout(now, nil)
	require.True(t, s.Snapshot(now).Ready)
}

func TestASettledNodeHasItsTurnAtOnce(t *testing.T) { settlesAtOnce(t) }

// A node whose peer is silent knows which direction is lost: if the peer's packets come and
// say that they hear nothing, it is the other one.
func deafOrSilent(t testing.TB) {
	for _, deaf := range []bool{false, true} {
		c, lead, other := follow()
		var silent *Event
		for range 400 {
			kept := c.sent[:0]
			for _, p := range c.sent {
				to, from := p.Header.Destination, p.Header.Source
				lost := from == other.Self().Node && to == lead.Self().Node
				if deaf {
					lost = to == other.Self().Node && from == lead.Self().Node
				}
				if !lost {
					kept = append(kept, p)
				}
			}
			c.sent = kept
			c.now = c.now.Add(time.Millisecond)
			arriving := c.sent
			c.sent = nil
			note := func(s *Stack, out []Effect) {
				for _, e := range out {
					if s == lead && e.Kind == Notify && e.Event.Kind == EventPeerSilent && e.Event.Peer == other.Self().Node {
						ev := *e.Event
						silent = &ev
					}
				}
				c.take(out)
			}
			for i := range arriving {
				s := c.stacks[arriving[i].Header.Destination-1]
				note(s, s.HandlePacket(c.now, c.now, &arriving[i], nil))
			}
			for _, s := range c.stacks {
				note(s, s.HandleTimeout(c.now, nil))
			}
		}
		require.NotNil(t, silent)
		require.Equal(t, deaf, silent.Deaf)
	}
}

func TestALostDirectionIsNamed(t *testing.T) { deafOrSilent(t) }
