package stack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// A lease rests on the votes of incarnations: that of a former one binds nobody, and says
// nothing of the present one.
func TestALeaseIsOfOneIncarnation(t *testing.T) { leaseOfOneIncarnation(t) }

func leaseOfOneIncarnation(t testing.TB) {
	c, lead := whole()
	c.run(100, nil, 0, nil)
	for _, s := range c.stacks {
		who := s.Self()
		until, request, ok := lead.LeaseOf(who)
		require.True(t, ok, "the vote of %v", who)
		require.Equal(t, lead.Election().LastRequest(), request)
		require.Equal(t, request.Add(timed.LAN().MaxDrift.Trust(timed.LAN().LockTime)), until)
		for _, boot := range []timed.BootID{0, who.Boot - 1, who.Boot + 1} {
			until, request, ok = lead.LeaseOf(timed.Incarnation{Node: who.Node, Boot: boot})
			require.False(t, ok, "the vote of node %d counts for incarnation %d", who.Node, boot)
			require.Zero(t, until)
			require.Zero(t, request)
		}
	}
	_, _, ok := lead.LeaseOf(timed.Incarnation{Node: 99, Boot: 7})
	require.False(t, ok, "a node without a vote")
}
