package replica

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A snapshot that nobody could make is sent after an offer in the order, which its pieces
// can overtake. They come only once. (Campaign state-disks, seed 490.)
func TestPiecesOvertakeTheOfferToMakeASnapshot(t *testing.T) {
	n := Name{Label: Label{1}}
	m := &Replica{phase: merging}
	require.False(t, m.wants(n))
	m.stuck = []service{{name: n}}
	require.True(t, m.wants(n))
}
