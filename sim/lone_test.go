package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A node without peers does what an election period asks of it, and else rests.
func TestLoneNodeRests(t *testing.T) {
	w, err := New(1, Options{Nodes: 1, Calm: true})
	require.NoError(t, err)
	require.NoError(t, w.Run(10*time.Second))
	periods := uint64(10 * time.Second / w.opt.Timing.ElectionPeriod)
	require.Less(t, w.Result().Counters.Timeouts, 4*periods)
}
