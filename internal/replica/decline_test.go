package replica

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// limit gives a node another MaxSnapshot. It begins without a memory.
func (w *world) limit(i, most int) {
	was := w.cfg.MaxSnapshot
	w.cfg.MaxSnapshot = most
	w.restart(i, timed.BootID(500+w.views))
	w.cfg.MaxSnapshot = was
}

// requireDeclined requires that a node has said once why it ends, and ends.
func requireDeclined(t testing.TB, n *node, from timed.NodeID, size, limit uint64) {
	var told []Event
	for _, e := range n.events {
		if e.Kind == EventTooLarge {
			told = append(told, Event{Member: e.Member, Bytes: e.Bytes, Total: e.Total})
		}
	}
	require.Equal(t, []Event{{Member: from, Bytes: limit, Total: size}}, told)
	require.True(t, n.withdrawn)
}

// declinesToJoin has two nodes join, of which one does not take the state. It ends, whenever the
// pieces come, and holds nobody up meanwhile: neither the other one nor its own callers.
func declinesToJoin(t testing.TB) {
	for _, system := range []quorum.System{nil, majority(1, 2, 3)} {
		for _, behind := range []bool{false, true} {
			w := newWorld(3, Config{Quorum: system, ChunkBytes: 100, Window: 1000})
			w.limit(2, 4999)
			w.install(0, 1, 2)
			w.install(0, 1)
			w.op(0, strings.Repeat("a", 5000))
			w.restart(1, 1)
			w.limit(2, 4999)
			late := lane{2, broadcast.ClassOrdered}
			if behind {
				w.tardy = []lane{late}
			}
			w.install(0, 1, 2)
			w.run(time.Second)
			w.catchUp(late)
			w.run(time.Second)
			all(t, w, w.nodes[0].app, 0, 1)
			requireDeclined(t, w.nodes[2], 1, 5000, 4999)
			w.op(2, "b")
			require.Equal(t, Skip, w.nodes[2].last.Kind, "nobody waits for what it does not apply")
			require.Zero(t, w.nodes[2].r.Queued())
			require.Empty(t, w.nodes[2].app)
			all(t, w, w.nodes[0].app, 0, 1)
		}
	}
}

func TestAJoinerEndsThatDoesNotTakeTheState(t *testing.T) { declinesToJoin(t) }

// meetsLarger has node 3, whose state is b, meet two others whose state it does not take. c and d
// wait for the merger at node 3 and at node 1.
func meetsLarger(t testing.TB, ready bool) *world {
	w := newWorld(4, Config{ChunkBytes: 100, Window: 1000})
	w.limit(2, 100)
	w.install(0, 1)
	w.op(0, strings.Repeat("a", 5000))
	w.install(2)
	w.op(2, "b")
	w.hold = func(from int, p []byte) bool { return kind(p[0]) == kindChunk && from != 2 && !ready }
	w.tardy = []lane{{0, broadcast.ClassUnordered}} // so that c and d come before the merger
	w.install(0, 1, 2)
	w.op(2, "c")
	w.op(0, "d")
	require.False(t, w.nodes[2].withdrawn, "the others may need its state")
	for i := range 3 {
		require.Equal(t, Merging, w.nodes[i].r.Situation())
	}
	w.catchAllUp()
	w.run(time.Second)
	return w
}

// merged returns how often a node has merged states.
func (n *node) merged() (times int) {
	for _, e := range n.events {
		if e.Kind == EventMerged {
			times++
		}
	}
	return times
}

// missesTheMerger requires that the others merge the state of a member that cannot, and that it ends
// then. If it meets them again, nothing is merged a second time.
func missesTheMerger(t testing.TB) {
	w := meetsLarger(t, true)
	requireDeclined(t, w.nodes[2], w.nodes[2].r.view.Members[0].Node, 5000, 100)
	require.Equal(t, "b", w.nodes[2].app)
	require.Equal(t, Skip, w.nodes[2].last.Kind, "its operation is in the state of the others")
	require.Zero(t, w.nodes[2].merged())
	for range 2 {
		state := w.nodes[0].app
		for _, op := range []string{"b", "c", "d"} {
			require.Equal(t, 1, strings.Count(state, op), "%s", op)
		}
		require.Equal(t, 5000, strings.Count(state, "a"))
		for _, n := range w.nodes[:2] {
			require.Equal(t, Working, n.r.Situation())
			require.Equal(t, state, n.app)
			require.Equal(t, 1, n.merged())
			_, diverged := n.has(EventDiverged)
			require.False(t, diverged)
		}
		w.install(0, 1, 2) // its application hangs, so that it has not ended yet
		w.run(time.Second)
	}
}

func TestOthersMergeTheStateOfAMemberThatCannot(t *testing.T) { missesTheMerger(t) }

// keepsWhatItHad has a member that has missed a merger go on without the others, as one with a
// Storage may: with the state that it had. With a larger limit, it gets what they have merged.
func keepsWhatItHad(t testing.TB) {
	for _, incarnation := range []bool{false, true} {
		w := meetsLarger(t, true)
		require.True(t, w.nodes[2].withdrawn)
		w.cfg.MaxSnapshot = 10_000
		if incarnation {
			w.renew(2, 1)
		}
		w.install(2, 3)
		w.run(time.Second)
		all(t, w, "b", 2, 3)
		if incarnation {
			w.install(0, 1, 2)
			w.run(time.Second)
			all(t, w, w.nodes[0].app, 0, 1, 2)
			require.Equal(t, 1, w.nodes[0].merged())
		}
	}
}

func TestAMemberThatMissesAMergerKeepsWhatItHad(t *testing.T) { keepsWhatItHad(t) }

// A member that declines a state ends where the others merge, and not before: if the view ends
// first, it goes on with what it has.
func TestAMemberGoesOnUntilOthersHaveMerged(t *testing.T) {
	w := meetsLarger(t, false)
	require.False(t, w.nodes[2].withdrawn)
	w.install(0, 1)
	w.install(2)
	require.Equal(t, Working, w.nodes[2].r.Situation())
	require.False(t, w.nodes[2].withdrawn)
	require.Equal(t, "bcd", w.nodes[2].app)
	require.Contains(t, w.nodes[0].app, "acd")
}

// anyLimits has nodes with states and limits of any sizes meet. Some have the merger of all, and
// the others have ended.
func anyLimits(t testing.TB) {
	declined := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		n := 2 + r.IntN(4)
		w := newWorld(n, Config{ChunkBytes: 64, Window: 64 * (1 + r.IntN(4))})
		members := make([]int, n)
		for i := range n {
			size := 1 + r.IntN(400)
			members[i] = i
			w.limit(i, size+r.IntN(300))
			if w.install(i); r.IntN(4) > 0 {
				w.op(i, strings.Repeat(string(rune('a'+i)), size))
			}
		}
		for range r.IntN(4) {
			w.tardy = append(w.tardy, lane{r.IntN(n), broadcast.Class(r.IntN(2))})
		}
		states := ""
		for _, o := range w.nodes {
			states += o.app
		}
		w.install(members...)
		w.run(time.Second)
		w.catchAllUp()
		w.run(time.Second)
		have := ""
		for i, o := range w.nodes {
			if o.withdrawn {
				declined++
				continue
			}
			require.Equal(t, Working, o.r.Situation(), "seed %d: node %d", seed, i+1)
			if have == "" {
				have = o.app
			}
			require.Equal(t, have, o.app, "seed %d: node %d", seed, i+1)
		}
		for i := range n {
			op := string(rune('a' + i))
			require.Equal(t, strings.Count(states, op), strings.Count(have, op), "seed %d: what node %d had", seed, i+1)
		}
	}
	require.Greater(t, declined, 100)
}

func TestSomeHaveTheStateWhateverTheLimits(t *testing.T) { anyLimits(t) }
