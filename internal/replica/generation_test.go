package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bootstrap sends, from the i-th node, an operator's word of a minute that its view need not wait.
func (w *world) bootstrap(i, minute int) {
	w.perform(i, []Effect{{Kind: Broadcast, Options: marker, Payload: AppendBootstrap(nil, w.nodes[i].view.ID, wall(minute))}})
}

// wall returns a minute by the wall clock.
func wall(minute int) time.Time { return time.Unix(1e9, 0).Add(time.Duration(minute) * time.Minute) }

// whatFollowsABeginningStays has two nodes lose their memory and begin anew without the third,
// which has seen more views than they know of. What they acknowledge then is not lost when that
// node comes back.
func whatFollowsABeginningStays(t testing.TB) {
	for views := range 4 {
		w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
		for range 1 + views {
			w.install(0, 1, 2)
			w.run(5 * time.Millisecond)
		}
		w.opWith(1, "a", strict)
		w.restart(0, 5)
		w.restart(1, 5)
		w.truth.lasting = "" // given up by the operator
		w.install(0, 1)
		w.bootstrap(0, 0)
		w.opWith(1, "x", strict)
		w.install(0, 1, 2)
		w.run(10 * time.Millisecond)
		for i, n := range w.nodes {
			require.Equal(t, "x", n.app, "node %d, after %d views", i+1, views)
		}

		w.restart(0, 6) // a second time
		w.restart(1, 6)
		w.truth.lasting = ""
		w.install(0, 1)
		w.bootstrap(1, 1)
		w.opWith(0, "y", strict)
		w.install(0, 1, 2)
		w.run(10 * time.Millisecond)
		for i, n := range w.nodes {
			require.Equal(t, "y", n.app, "node %d, after %d views", i+1, views)
		}
	}
}

func TestWhatFollowsABeginningStays(t *testing.T) { whatFollowsABeginningStays(t) }

// beginsWithTheNewest has a node outside of the quorum system remember more than the voters
// that do: a view that begins without a quorum goes on with what that node has.
func beginsWithTheNewest(t testing.TB) {
	for _, operator := range []bool{false, true} {
		w := newWorld(4, Config{Stored: true, Quorum: majority(1, 2, 3)})
		w.install(0, 1, 2, 3)
		w.opWith(1, "a", strict)
		w.storeAll(0, 1, 2, 3)
		former := *w.nodes[0]
		w.install(1, 2, 3)
		w.opWith(1, "b", strict)
		w.storeAll(1, 2, 3)
		w.reboot(0, 1, former)
		w.restart(1, 5)
		if operator {
			w.install(0, 1, 3)
			w.bootstrap(0, 0)
		} else {
			w.restart(2, 5)
			w.install(0, 1, 2, 3)
		}
		w.run(10 * time.Millisecond)
		require.Equal(t, Working, w.nodes[0].r.Situation())
		require.Equal(t, "ab", w.nodes[0].app, "with an operator: %v", operator)
		require.Equal(t, "ab", w.nodes[3].app)
	}
}

func TestABeginningTakesTheNewestState(t *testing.T) { beginsWithTheNewest(t) }
