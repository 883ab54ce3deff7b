package stack

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// A node that has removed a peer knows nothing of it: if the peer comes back, it may be
// another incarnation with another rank.
func TestARemovedPeerIsForgotten(t *testing.T) { removedIsForgotten(t) }

func removedIsForgotten(t testing.TB) {
	w := newWired(3, nil)
	w.pass(500 * time.Millisecond)
	s := w.nodes[1]
	require.NotEqual(t, leader.State{}, s.Election().Peer(1))
	s.RemovePeer(w.now, 1)
	require.Equal(t, leader.State{}, s.Election().Peer(1))
	require.Equal(t, timed.SetOf(3), s.Datagram().Alive(w.now))
	w.pass(500 * time.Millisecond)
	require.False(t, s.Membership().View().Set.Has(1))
	s.AddPeer(w.now, 1)
	w.perform(1, s.HandleTimeout(w.now, nil))
	w.pass(500 * time.Millisecond)
	require.Equal(t, timed.SetOf(1, 2, 3), s.Membership().View().Set)
}

// A refusal that others pass on says that the voter runs, and not that it may be counted on: a
// node that is not ready refuses too.
func TestARelayedRefusalKeepsNobodyAlive(t *testing.T) { relayedRefusal(t) }

func relayedRefusal(t testing.TB) {
	const voter = timed.NodeID(7) // a leaf of the tree
	w := collating(t, 7)
	relayed, tm := 0, timed.LAN()
	end := timed.Never // begins behind a packet of the voter itself, on top of which others count
	for limit := w.now.Add(time.Second); w.now < min(end, limit); w.now = w.now.Add(200 * time.Microsecond) {
		for i := 0; i < len(w.flight); {
			p := new(wire.Packet)
			require.NoError(t, new(wire.Decoder).Decode(w.flight[i], p))
			if p.Header.Destination != 1 {
				i++
				continue
			}
			w.flight, w.to = slices.Delete(w.flight, i, i+1), slices.Delete(w.to, i, i+1)
			if p.Header.Source == voter {
				if end != timed.Never {
					continue
				}
				end = w.now.Add(tm.Expires + 2*tm.KeepalivePeriod)
			}
			if p.Has(wire.FrameCollated) && end != timed.Never {
				for k := range p.Collated.Replies {
					if r := &p.Collated.Replies[k]; r.Voter.Node == voter {
						r.Reply = leader.Reply{Number: r.Reply.Number, LockedTo: incarnationOf(2)}
						relayed++
					}
				}
			}
			w.perform(0, w.nodes[0].HandlePacket(w.now, w.now, p, nil))
		}
		w.turn()
	}
	require.Positive(t, relayed)
	require.Equal(t, timed.SetOf(2, 3, 4, 5, 6), w.nodes[0].Datagram().Alive(w.now))
}

// A refusal is not passed on: the state of the node matters then, which only its own packets
// have.
func TestARefusalGoesDirectly(t *testing.T) { directRefusal(t) }

func directRefusal(t testing.TB) {
	w := collating(t, 7)
	p := w.catchFrame(t, 7, wire.FrameTree)
	p.Request.LockTime = timed.LAN().MaxLockTime + 1
	out := w.nodes[6].HandlePacket(w.now, w.now, p, nil)
	require.Zero(t, forwarded(out))
	require.True(t, repliesTo(out, 1, false))
}

// A candidate that names no quorum system has none, and nodes that have one follow others.
func TestWhoNamesNoQuorumHasNone(t *testing.T) { unnamedQuorum(t) }

func unnamedQuorum(t testing.TB) {
	system, err := quorum.Parse("majority:1,2,3")
	require.NoError(t, err)
	for i, others := range []timed.Set{timed.SetOf(2, 3), timed.SetOf(1, 3), timed.SetOf(1, 2)} {
		w := newWiredOf(3, Config{Quorum: system})
		w.nodes[i] = newWiredOf(3, Config{}).nodes[i]
		w.pass(time.Second)
		require.Equal(t, timed.SetOf(timed.NodeID(i+1)), w.nodes[i].Election().Support())
		first := w.nodes[others.Min()-1]
		require.Equal(t, others, first.Election().Support())
		require.True(t, first.LeadsGlobally(w.now))
	}
}

// What a former incarnation has said of its votes says nothing of the one that is accepted.
func acceptedIsNew(t testing.TB) {
	c, lead, other := follow()
	id := leader.QuorumID{Epoch: 9, Digest: 9}
	require.Len(t, lead.Election().HandleQuorum(c.now, other.Self().Node, id, nil), 1)
	require.Empty(t, lead.Election().HandleQuorum(c.now, other.Self().Node, id, nil))
	p := c.packetOf(t, other, lead, 0)
	c.now = c.now.Add(2 * timed.LAN().Expires)
	p.Header.Boot, p.Frames, p.Header.Stamp = 99, 0, c.now
	p.Header.Echo.Latest = c.now.Add(-time.Millisecond)
	lead.HandlePacket(c.now, c.now, &p, nil)
	kind, _ := lead.LastPacket()
	require.Equal(t, datagram.Accepted, kind)
	require.Len(t, lead.Election().HandleQuorum(c.now, other.Self().Node, id, nil), 1, "it is news of this one")
}

func TestAnAcceptedIncarnationIsNew(t *testing.T) { acceptedIsNew(t) }

// A reply that comes too late for its round still tells which views were proposed, so that the
// next proposal is a later one.
func lateReplyTells(t testing.TB) {
	c, lead, other := follow()
	p := c.packetOf(t, other, lead, wire.FrameReply)
	p.Reply.Number--
	p.Report.Sequence = lead.Sequence() + 5
	lead.HandlePacket(c.now, c.now, &p, nil)
	require.Equal(t, p.Report.Sequence, lead.Sequence())
}

func TestALateReplyTellsOfViews(t *testing.T) { lateReplyTells(t) }

// A node whose replies go through the tree tells the requester itself when its state changes,
// because they do not say it.
func collatedNews(t testing.TB) {
	w := collating(t, 7)
	require.False(t, w.nodes[0].Election().Peer(7).Late)
	w.nodes[6].Election().NoteLate(w.now)
	w.pass(timed.LAN().KeepalivePeriod + 2*timed.LAN().ElectionPeriod)
	require.True(t, w.nodes[0].Election().Peer(7).Late)
}

func TestCollatedNodesTellTheirNews(t *testing.T) { collatedNews(t) }
