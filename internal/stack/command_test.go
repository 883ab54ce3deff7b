package stack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// A node that leaves stays until nobody is bound to it, and makes no more noise than others
// meanwhile.
func leavesQuietly(t testing.TB) {
	c, lead, other := follow()
	c.take(lead.Leave(c.now, nil))
	require.False(t, lead.Left(c.now), "members count on its view")
	for range 1000 {
		if lead.Left(c.now) {
			break
		}
		c.step(nil)
	}
	require.True(t, lead.Left(c.now))
	require.False(t, lead.Election().Releasing())
	for range 3 { // its last packets are on their way
		c.step(nil)
	}
	to, _ := other.Election().Locked(c.now)
	require.NotEqual(t, lead.Self(), to)

	count := map[timed.NodeID]int{}
	for range 500 {
		for i := range c.sent {
			count[c.sent[i].Header.Source]++
		}
		c.step(nil)
	}
	require.Less(t, count[lead.Self().Node], 2*count[other.Self().Node])
}

func TestALeavingNodeIsNoLouderThanOthers(t *testing.T) { leavesQuietly(t) }

// A peer learns from each packet of a node that leaves whether the node will come back.
func leavingSaysForHowLong(t testing.TB) {
	for forGood, leave := range map[bool]func(*Stack, timed.Instant, []Effect) []Effect{false: (*Stack).Leave, true: (*Stack).LeaveForGood} {
		c, lead, other := follow()
		c.take(leave(lead, c.now, nil))
		told := 0
		for range 20 {
			for i := range c.sent {
				if p := &c.sent[i]; p.Header.Destination == other.Self().Node && p.Has(wire.FrameLeaving) {
					require.Equal(t, forGood, p.Forget)
					told++
				}
			}
			c.step(nil)
		}
		require.NotZero(t, told)
	}
}

func TestALeavingNodeSaysForHowLong(t *testing.T) { leavingSaysForHowLong(t) }

// A keepalive leaves when the driver asks, to the peer that it names.
func keepalivesOnDemand(t testing.TB) {
	c, lead, other := follow()
	c.sent = nil
	c.take(lead.SendKeepalive(c.now, other.Self().Node, nil))
	require.Len(t, c.sent, 1)
	require.Equal(t, other.Self().Node, c.sent[0].Header.Destination)
}

func TestAKeepaliveLeavesOnDemand(t *testing.T) { keepalivesOnDemand(t) }
