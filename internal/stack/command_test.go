package stack

import (
	"testing"

	"github.com/stretchr/testify/require"

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
