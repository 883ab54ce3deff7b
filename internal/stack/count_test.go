package stack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/wire"
)

// Two packets of one incarnation with one counter, sent at two instants, come from two
// processes. The peer is reported, and the packet is counted among those of faulty peers.
func TestTwinsAreReportedAndCounted(t *testing.T) {
	c, lead, other := follow()
	p := c.packetOf(t, other, lead, 0)
	p.Header.Counter++ // neither packet is a repeated one
	lead.HandlePacket(c.now, c.now, &p, nil)
	before := lead.Dropped
	p.Header.Stamp++
	var twins int
	for _, e := range lead.HandlePacket(c.now, c.now, &p, nil) {
		if e.Kind == Notify && e.Event.Kind == EventTwins {
			require.Equal(t, other.Self().Node, e.Event.Peer)
			twins++
		}
	}
	require.Equal(t, 1, twins)
	before.Faulty++
	require.Equal(t, before, lead.Dropped)
}

// A node without the broadcast ignores messages, which only a damaged or forged packet can
// bring: the settings of the group include the broadcast.
func TestMessagesToANodeWithoutBroadcastAreIgnored(t *testing.T) {
	c, lead, other := follow()
	p := c.packetOf(t, other, lead, 0)
	p.Header.Counter++
	p.Frames |= wire.FrameBroadcast
	p.Broadcast = &broadcast.Packet{}
	lead.HandlePacket(c.now, c.now, &p, nil)
	require.True(t, lead.Leads(c.now))
}
