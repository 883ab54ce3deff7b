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
