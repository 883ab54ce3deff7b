package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// holderOfAnOlderRank has node 4 cut off while the others go on in a view in which b is
// acknowledged. The disk of node 5 has only the beginning of that view, so it gives the rank of the
// view to the state that node 4 still holds. Node 3, which has b, begins another incarnation or
// process, and meets these two, a quorum.
func holderOfAnOlderRank(t testing.TB) {
	for _, voters := range [][]timed.NodeID{{1, 2, 3, 4, 5}, {1, 3, 5}} {
		for _, killed := range []bool{false, true} {
			w := newWorld(5, Config{Stored: true, Quorum: majority(voters...)})
			w.install(0, 1, 2, 3, 4)
			w.opWith(0, "a", strict)
			w.storeAll(0, 1, 2, 3, 4)
			w.install(0, 1, 2, 4)
			beginning := *w.nodes[4]
			w.opWith(0, "b", strict)
			w.storeAll(0, 1, 2)
			requireLasts(t, w)
			w.reboot(4, 2, beginning)
			if killed {
				w.reboot(2, 3, *w.nodes[2])
			} else {
				w.renew(2, 3)
			}
			w.install(2, 3, 4)
			w.run(5 * time.Millisecond)
			for _, i := range []int{2, 3, 4} {
				require.Equal(t, "ab", w.nodes[i].app, "node %d of voters %v, killed: %v", i+1, voters, killed)
			}
			w.install(0, 1, 2, 3, 4)
			w.run(5 * time.Millisecond)
			require.Equal(t, "ab", w.nodes[0].app)
		}
	}
}

func TestAHolderOfAnOlderRankGivesWay(t *testing.T) { holderOfAnOlderRank(t) }

// blankKeepsItsGeneration has nodes 1 and 2 lose what they had, and begin without node 3. Before
// they write anything, node 3 comes with its state, and goes again before they have received it.
// What they acknowledge then stays when it comes back.
func blankKeepsItsGeneration(t testing.TB) {
	for _, stored := range []bool{true, false} {
		store := func(w *world, is ...int) {
			if stored {
				w.storeAll(is...)
				w.storeAll(is...)
			}
		}
		w := newWorld(3, Config{Stored: stored, Quorum: majority(1, 2, 3)})
		w.install(0, 1, 2)
		w.opWith(0, "a", strict)
		store(w, 0, 1, 2)
		w.restart(0, 1)
		w.restart(1, 1)
		w.install(0, 1)
		w.truth.lasting = "" // given up by the operator
		w.bootstrap(0, 0)
		store(w, 0, 1)
		w.renew(2, 1)
		w.nodes[2].r.heard = nil
		w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindChunk }
		w.install(0, 1, 2)
		w.hold = nil
		require.Equal(t, Transferring, w.nodes[0].r.Situation())
		w.install(0, 1)
		require.Equal(t, Working, w.nodes[0].r.Situation())
		w.opWith(0, "b", strict)
		store(w, 0, 1)
		require.Contains(t, w.truth.lasting, "b")
		w.install(0, 1, 2)
		w.run(10 * time.Millisecond)
		all(t, w, "b", 0, 1, 2)
	}
}

func TestABlankNodeThatWaitsKeepsItsGeneration(t *testing.T) { blankKeepsItsGeneration(t) }
