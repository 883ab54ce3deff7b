package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
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

// withA returns a group of so many nodes with disks, which have a.
func withA(n int, voters ...timed.NodeID) *world {
	w := newWorld(n, Config{Stored: true, Quorum: majority(voters...)})
	is := make([]int, n)
	for i := range n {
		is[i] = i
	}
	w.install(is...)
	w.opWith(0, "a", strict)
	w.storeAll(is...)
	return w
}

// requireLater requires that all nodes come to have a state.
func (w *world) requireLater(t testing.TB, state string) {
	is := make([]int, len(w.nodes))
	for i := range is {
		is[i] = i
	}
	w.install(is...)
	w.run(10 * time.Millisecond)
	all(t, w, state, is...)
}

// begun returns a group in which node 1 has lost its disk, and an operator has let it begin with
// node 2.
func begun() *world {
	w := withA(3, 1, 2, 3)
	w.restart(0, 5)
	w.install(0, 1)
	w.bootstrap(1, 0)
	w.run(10 * time.Millisecond)
	return w
}

// generationOnOneDisk has the word of an operator come to the disk of one node, whose other member
// is killed before its disk has it, and goes on with a third node.
func generationOnOneDisk(t testing.TB) {
	w := withA(3, 1, 2, 3)
	lagging := *w.nodes[1]
	w.restart(0, 5)
	w.install(0, 1)
	require.Equal(t, Recovering, w.nodes[1].r.Situation())
	w.bootstrap(1, 0)
	w.run(10 * time.Millisecond)
	all(t, w, "a", 0, 1)
	w.store(0)
	w.reboot(1, 6, lagging)
	w.install(1, 2)
	require.Equal(t, Working, w.nodes[1].r.Situation())
	w.opWith(1, "b", strict)
	w.storeAll(1, 2)
	requireLasts(t, w)
	w.requireLater(t, "ab")
}

func TestAGenerationOnOneDiskDoesNotCount(t *testing.T) { generationOnOneDisk(t) }

// TestAWordThatReachesOneMemberIsHarmless has the network split when an operator's word is sent.
func TestAWordThatReachesOneMemberIsHarmless(t *testing.T) {
	w := withA(5, 1, 2, 3, 4, 5)
	w.restart(0, 5)
	w.install(0, 1, 2)
	w.hinder(lane{0, broadcast.ClassOrdered})
	w.hinder(lane{1, broadcast.ClassOrdered})
	w.bootstrap(2, 0)
	w.miss(0)
	w.miss(1)
	require.Equal(t, Working, w.nodes[2].r.Situation())
	require.Equal(t, Recovering, w.nodes[1].r.Situation())
	w.store(2)
	w.install(1, 3, 4)
	w.opWith(1, "b", strict)
	w.storeAll(1, 3, 4)
	requireLasts(t, w)
	w.requireLater(t, "ab")
}

// transferUnderWay has an operator begin with a node whose disk is lost, one that is behind, and
// one that has the state. That one goes while the others receive it, and those come that were
// absent.
func transferUnderWay(t testing.TB) {
	w := withA(5, 1, 2, 3, 4, 5)
	w.install(1, 3, 4)
	w.opWith(1, "b", strict)
	w.storeAll(1, 3, 4)
	w.restart(0, 1)
	w.install(0, 2, 4)
	require.Equal(t, Recovering, w.nodes[4].r.Situation())
	w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindChunk }
	w.bootstrap(4, 0)
	w.store(4)
	w.hold = nil
	w.install(0, 1, 2, 3)
	w.run(10 * time.Millisecond)
	w.opWith(1, "c", strict)
	for range 2 { // their promises, and what they have
		w.storeAll(0, 1, 2, 3)
	}
	requireLasts(t, w)
	w.requireLater(t, "abc")
}

func TestANodeThatGoesDuringATransferTakesNoGenerationAlong(t *testing.T) { transferUnderWay(t) }

// promisedOnDisks has a quorum's disks promise a generation, and an operation last in it. Then
// another quorum meets, of which one disk has the promise only.
func promisedOnDisks(t testing.TB) {
	w := withA(5, 1, 2, 3, 4, 5)
	w.install(1, 3, 4)
	w.opWith(1, "g", strict) // is given up
	w.storeAll(1, 3, 4)
	w.truth.lasting = "a"
	for _, i := range []int{3, 4} {
		w.restart(i, 1)
	}
	w.install(0, 3, 4)
	w.bootstrap(0, 0)
	w.run(10 * time.Millisecond)
	all(t, w, "a", 0, 3, 4)
	promised := *w.nodes[3]
	w.storeAll(0, 3, 4)
	w.opWith(0, "b", strict)
	_, lasts := w.nodes[0].lasting()
	require.False(t, lasts, "no disk has more than the promise")
	w.storeAll(0, 3, 4)
	_, lasts = w.nodes[0].lasting()
	require.True(t, lasts)

	w.install(0, 3, 4)
	w.storeAll(0, 4) // the others have been quick
	w.reboot(3, 2, promised)
	w.install(1, 2, 3)
	require.Equal(t, firstOf(w.nodes[0].place.Rank), w.nodes[3].r.promised)
	require.Equal(t, firstOf(w.nodes[0].place.Rank), w.nodes[1].r.promised)
}

func TestThePromiseOfAGenerationIsOnDisks(t *testing.T) { promisedOnDisks(t) }

// generationBesideAnEarlierBuild has a member that says nothing of generations: its state gets the
// rank at once, and so does that of the others.
func generationBesideAnEarlierBuild(t testing.TB) {
	w := withA(3, 1, 2, 3)
	w.restart(0, 5)
	w.hold = func(from int, p []byte) bool { return from == 0 && kind(p[0]) == kindGeneration }
	w.install(0, 1)
	w.hold = nil
	w.bootstrap(1, 0)
	w.run(10 * time.Millisecond)
	require.NotZero(t, w.nodes[1].place.Rank/generation)
	require.Zero(t, w.nodes[1].place.Promised)
}

func TestAViewWithAnEarlierBuildBeginsAGenerationAtOnce(t *testing.T) {
	generationBesideAnEarlierBuild(t)
}

// earlierGeneration has a node be cut off while the others lose their disks and begin, in state
// directories that know no view. When it comes back, it accuses nobody of lacking what was given
// up, and those whom it tells before the view ends do not either.
func earlierGeneration(t testing.TB) {
	for _, settles := range []bool{true, false} {
		w := withA(5, 1, 2, 3, 4, 5)
		for range 3 {
			w.install(0, 1, 2, 3, 4)
			w.storeAll(0, 1, 2, 3, 4)
		}
		for i := range 3 {
			w.restart(i, 1)
		}
		w.truth.lasting = "" // given up by the operator
		seen := w.views
		w.views = 0
		w.install(0, 1, 2)
		w.bootstrap(0, 0)
		for range 2 { // their promises, and what they have
			w.storeAll(0, 1, 2)
		}
		w.opWith(1, "b", strict)
		w.storeAll(0, 1, 2)
		requireLasts(t, w)
		older := *w.nodes[1]
		w.hold = func(from int, p []byte) bool { return !settles && from == 3 && kind(p[0]) == kindReport }
		w.install(0, 1, 2, 3)
		w.hold = nil
		w.install(0, 1, 2)
		require.Equal(t, Working, w.nodes[0].r.Situation())
		w.views = seen
		w.install(0, 1, 2, 3)
		w.run(10 * time.Millisecond)
		all(t, w, "b", 0, 1, 2, 3)
		for i := range 4 {
			_, accused := w.nodes[i].has(EventRolledBack)
			require.False(t, accused)
		}

		w.opWith(1, "c", strict) // and within the generation it does
		w.storeAll(0, 1, 2, 3)
		w.reboot(1, 2, older)
		w.install(0, 1, 3)
		e, accused := w.nodes[3].has(EventRolledBack)
		require.True(t, accused)
		require.Equal(t, timed.SetOf(2), e.Members)
	}
}

func TestConfirmationsOfAnEarlierGenerationAccuseNobody(t *testing.T) { earlierGeneration(t) }

// earlierGenerationOfADisk has an older disk come back, of the generation before.
func earlierGenerationOfADisk(t testing.TB) {
	w := begun()
	older := *w.nodes[1]
	older.place.Promised = 0
	for range 2 {
		w.storeAll(0, 1)
	}
	require.NotZero(t, w.nodes[0].r.heard[0].in)
	w.reboot(1, 6, older)
	w.install(0, 1)
	_, accused := w.nodes[0].has(EventRolledBack)
	require.True(t, accused)
}

func TestAnOlderDiskOfAnEarlierGenerationIsAccused(t *testing.T) { earlierGenerationOfADisk(t) }

// flushedHasNoPlace has the disks of a quorum promise a generation after the end of the view has
// flushed an operation: the state behind it has a name of its own, under the rank of before.
func flushedHasNoPlace(t testing.TB) {
	w := begun()
	before := w.nodes[0].place.Rank
	w.flushed(0, "x")
	w.storeAll(0, 1)
	require.Equal(t, before, w.nodes[0].place.Rank)
	require.Equal(t, "ax", w.nodes[0].app)
	require.Zero(t, w.nodes[0].place.Position)
}

func TestWhatIsFlushedHasNoPlaceInAGeneration(t *testing.T) { flushedHasNoPlace(t) }
