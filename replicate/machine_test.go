package replicate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/leftover"
)

// What a user configures reaches the machine. Fields that are forgotten on the way would have
// their defaults there, and most tests would not see that.
func TestAConfigurationReachesTheMachine(t *testing.T) {
	var cfg Config
	leftover.Fill(&cfg)
	node := failaware.Config{ID: 3, StateDir: "state", Broadcast: &failaware.BroadcastConfig{MaxPayload: 9, RequireQuorum: true}}
	c := cfg.machine(&node)
	apart, shared := leftover.Apart(&cfg, &c)
	require.Empty(t, apart)
	require.Equal(t, 6, shared)
	require.Equal(t, node.ID, c.Self.Node)
	require.Equal(t, node.Broadcast.MaxPayload, c.MaxPayload)
	require.NotZero(t, c.Epoch)
	node.StateDir = ""
	require.Zero(t, cfg.machine(&node).Epoch)
}
