package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
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

// The pieces of a snapshot whose first source has refused can come before the reports of the
// members, to a node that is behind. They come only once. (Campaign state-change-memory, seed
// 563, where three nodes waited for ever.)
func piecesBeforeReports(t testing.TB) {
	w := newWorld(3, Config{})
	w.install(0, 1)
	w.op(0, "a")
	w.nodes[0].refuses = true
	behind := lane{2, broadcast.ClassOrdered}
	w.tardy = []lane{behind}
	w.install(0, 1, 2)
	w.op(0, "b")
	w.run(10 * time.Millisecond)
	require.Positive(t, w.nodes[1].chunks)
	require.Equal(t, Reporting, w.nodes[2].r.Situation())
	w.catchUp(behind)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 1, 2)
}

func TestPiecesOvertakeTheReports(t *testing.T) { piecesBeforeReports(t) }
