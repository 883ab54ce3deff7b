package situation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A situation without a name takes that of the next one, and a campaign then misses another
// than it demands.
func TestEverySituationHasAName(t *testing.T) {
	seen := map[string]Kind{}
	for s := range situationEnd {
		require.NotEmpty(t, s.String(), "situation %d", s)
		require.NotContains(t, seen, s.String())
		seen[s.String()] = s
	}
	require.Equal(t, "one led locally while another led globally", LocalBesideGlobal.String())
	require.Equal(t, "edicts of two epochs were compared", EdictAcrossEpochs.String())
}
