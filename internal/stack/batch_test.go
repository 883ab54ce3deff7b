package stack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/timed"
)

// stalled lets the leader of three nodes stop after a request, and returns it when its
// next look at its timers is overdue, with the packets that wait in its socket and when
// each was received.
func stalled(t testing.TB) (p *cluster, s *Stack, waiting []wire.Packet, received []timed.Instant) {
	p = newCluster(3, leader.Stable)
	for s == nil {
		p.step(nil)
		s = p.leader()
	}
	requested := s.Election().LastRequest()
	for s.Election().LastRequest() == requested { // the next request leaves
		p.step(nil)
	}
	for p.now <= s.Deadline().Add(40*time.Millisecond) {
		for _, q := range p.step(s) {
			waiting, received = append(waiting, q), append(received, p.now)
		}
	}
	require.Equal(t, p.now.Sub(s.Election().LastRequest()) < 80*time.Millisecond, s.Leads(p.now))
	return p, s, waiting, received
}

// Timers wait until all packets of a batch are handled: the votes that came in time win
// their round, and the peers that sent them are not silent.
func batchBeforeTimers(t testing.TB) {
	p, s, waiting, received := stalled(t)
	round := s.Election().LastRequest()
	won := false
	for i := range waiting {
		handle := s.HandleBatched
		if i == len(waiting)-1 {
			handle = s.HandlePacket
		}
		for _, e := range handle(p.now, received[i], &waiting[i], nil) {
			require.False(t, e.Kind == Notify && e.Event.Kind == EventPeerSilent)
			if e.Kind == Send && i < len(waiting)-1 {
				require.False(t, e.Packet.Has(wire.FrameRequest), "a timer fired in the middle of the batch")
			}
		}
		if i < len(waiting)-1 {
			require.Equal(t, p.now, s.Deadline(), "what is due is done after the batch")
		}
	}
	vote, ok := s.Election().Vote(timed.NodeID(1 + s.Self().Node%3))
	won = ok && vote.Number == round
	require.True(t, won, "the votes of the batch count")
	require.Equal(t, 3, s.Election().Support().Len())
}

func TestTimersWaitForTheWholeBatch(t *testing.T) { batchBeforeTimers(t) }

// A keepalive that is due leaves after the whole batch, and says of each peer that it was
// heard when its packet came. Otherwise a node that wakes up to send keepalives is deaf to
// the peers whose packets it has slept through.
func keepaliveAfterBatch(t testing.TB) {
	c, lead := atRest()
	s := c.stacks[lead.Self().Node%3]
	var waiting []wire.Packet
	var received []timed.Instant
	for c.now < s.Datagram().Deadline().Add(10*time.Millisecond) || len(waiting) < 4 {
		for _, q := range c.step(s) {
			waiting, received = append(waiting, q), append(received, c.now)
		}
	}
	latest := make(map[timed.NodeID]timed.Instant)
	for i := range waiting {
		latest[waiting[i].Header.Source] = received[i]
		handle := s.HandleBatched
		if i == len(waiting)-1 {
			handle = s.HandlePacket
		}
		for _, e := range handle(c.now, received[i], &waiting[i], nil) {
			if e.Kind != Send {
				continue
			}
			if i < len(waiting)-1 {
				require.NotZero(t, e.Packet.Frames, "a keepalive in the middle of the batch")
				continue
			}
			require.Equal(t, latest[e.Peer], e.Packet.Header.Echo.Heard)
			delete(latest, e.Peer)
		}
	}
	require.Empty(t, latest, "each peer has got one")
}

func TestKeepalivesLeaveAfterTheWholeBatch(t *testing.T) { keepaliveAfterBatch(t) }
