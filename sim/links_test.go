package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/sim/fault"
)

// The links of a process that joins a world are as all others are: without the
// weather they would take no time at all, which no clock can make sense of.
func TestRivalsHaveTheWeather(t *testing.T) {
	w, err := New(1, Options{Calm: true})
	require.NoError(t, err)
	require.NoError(t, w.Run(time.Second))
	require.NoError(t, w.Inject(fault.Fault{Kind: fault.Rival, Node: 2, For: time.Second}))
	require.Len(t, w.Nodes(), 6)
	for i := range w.links {
		for j := range w.links[i] {
			require.Equal(t, w.links[0][1], w.links[i][j], "%d to %d", i, j)
		}
	}
	require.NotZero(t, w.links[0][1].min)
	require.Equal(t, w.nodes[0].slow, w.nodes[5].slow)
}
