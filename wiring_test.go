package failaware

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/leftover"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// What a user configures reaches the code that it is meant for. Fields that are forgotten on
// the way would have their defaults there, and most tests would not see that.
func TestAConfigurationReachesTheLoop(t *testing.T) {
	majority, err := quorum.Majority(timed.SetOf(1, 2, 3))
	require.NoError(t, err)
	var c Config
	leftover.Fill(&c, "Quorum", "Broadcast")
	c.Quorum, c.Broadcast = majority, new(BroadcastConfig)
	leftover.Fill(c.Broadcast)
	n := &Node{cfg: c}
	l := n.loopConfig(&epoch.State{Epoch: 9, System: "all:1,2"}, nil, nil)

	whole := func(what string, want int, from, to any, except ...string) {
		t.Helper()
		apart, shared := leftover.Apart(from, to, except...)
		require.Empty(t, apart, what)
		require.Equal(t, want, shared, "fields of %s that are passed on", what)
	}
	whole("Config, for the stack", 5, &c, &l.Stack, "Broadcast", "Group")
	whole("Config.Clock", 5, &c.Clock, &l.Stack)
	whole("Config, for the loop", 3, &c, &l)
	whole("Config.Broadcast", 6, c.Broadcast, l.Stack.Broadcast)
	whole("Config.Broadcast, for the loop", 2, c.Broadcast, &l)
	whole("Config, for peers with others", 2, &c, &l.Settings)
	whole("Config.Broadcast, for peers with others", 4, c.Broadcast, &l.Settings)
	require.Equal(t, c.ID, l.Stack.Self.Node)
	require.Equal(t, leader.Collation{Above: c.CollateAbove, Fanout: c.CollateFanout}, l.Stack.Collation)
	require.Equal(t, c.QuorumEpoch, l.Stack.Epoch)
	require.Equal(t, majority, l.Stack.Broadcast.Quorum)
	require.True(t, l.Stack.OrderByEpoch)
	require.False(t, l.Deliver, "the broadcast is for sending only")
	require.Equal(t, majority.String(), l.Settings.System)
}
