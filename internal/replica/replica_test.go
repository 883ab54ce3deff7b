package replica

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// all requires that nodes have the same state and apply operations.
func all(t testing.TB, w *world, want string, is ...int) {
	t.Helper()
	for _, i := range is {
		require.True(t, w.nodes[i].r.Current(), "node %d", i+1)
		require.Equal(t, want, w.nodes[i].app, "node %d", i+1)
	}
}

func TestJoinersGetTheStateOfTheViewsBegin(t *testing.T) {
	w := newWorld(3, Config{ChunkBytes: 64})
	w.install(0, 1)
	text := strings.Repeat("abc", 100)
	w.op(0, text)
	w.nodes[0].lazy, w.nodes[1].lazy = true, true
	w.install(0, 1, 2)
	w.op(1, "x") // while the snapshot is made
	require.False(t, w.nodes[2].r.Current())
	require.Positive(t, w.nodes[2].r.Queued())
	w.answer(0)
	w.answer(1)
	w.run(100 * time.Millisecond)
	all(t, w, text+"x", 0, 1, 2)
	e, ok := w.nodes[2].has(EventRestored)
	require.True(t, ok)
	require.Equal(t, timed.NodeID(1), e.Member)
	require.Equal(t, uint64(300), e.Total)
	require.Empty(t, w.nodes[0].r.held, "a snapshot that all have is dropped")
}

func TestBranchesMergeTheSameWayEverywhere(t *testing.T) {
	w := newWorld(5, Config{})
	w.install(0, 1, 2, 3)
	w.op(0, "a")
	w.install(1, 2)
	w.install(0, 3)
	w.op(1, "b")
	w.op(3, "c")
	w.install(0, 1, 2, 3, 4)
	w.op(2, "d")
	w.run(10 * time.Millisecond)
	all(t, w, "(ac|ab|)d", 0, 1, 2, 3, 4)
}

// A split in which no more than one part wrote needs no merge.
func TestWhatHasNotChangedIsNotMerged(t *testing.T) {
	w := newWorld(2, Config{})
	w.install(0, 1)
	w.op(0, "a")
	w.install(0)
	w.install(1)
	w.install(0, 1)
	w.install(0)
	w.install(1)
	w.op(1, "b")
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 1)
	quiet(t, w)
	w.install(0)
	w.op(0, "c")
	w.install(1)
	w.op(1, "d")
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	all(t, w, "(abc|abd|)", 0, 1)
}

// The leader is in a view that is followed by another before the others are in it, because a
// member that was killed comes back. It has the same state as they.
func skippedView(t testing.TB) {
	w := newWorld(4, Config{Quorum: majority(1, 2, 3, 4)})
	w.install(0, 1, 2, 3)
	w.op(0, "a")
	w.restart(3, 1)
	w.install(0)
	for i := range 3 {
		w.nodes[i].lazy = true // the state takes long to come
	}
	w.install(0, 1, 2, 3)
	w.op(1, "b")
	all(t, w, "ab", 0, 1, 2)
	w.perform(0, []Effect{{Kind: Broadcast, Options: broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity},
		Payload: AppendOp(nil, []byte("c"))}})
	require.True(t, w.nodes[0].last.Lasting)
}

func TestAViewThatOthersSkipChangesNoState(t *testing.T) { skippedView(t) }

func TestAnInterruptedMergeBeginsAnewFromWhatThereIs(t *testing.T) {
	w := newWorld(3, Config{})
	w.install(0)
	w.install(1)
	w.op(0, "a")
	w.op(1, "b")
	w.hold = func(from int, p []byte) bool { return kind(p[0]) == kindReady && from == 1 }
	w.install(0, 1)
	w.op(0, "x")
	require.False(t, w.nodes[0].r.Settled())
	w.hold = nil
	w.install(0, 1, 2)
	w.run(10 * time.Millisecond)
	all(t, w, "(ax|bx|)", 0, 1, 2)
}

// interrupted lets the source of a transfer die in the middle of it.
func interrupted(w *world, text string) {
	w.install(0, 1)
	w.op(0, text)
	w.install(0, 1, 2)
	w.op(1, "x")
	w.run(100 * time.Millisecond)
}

func TestATransferGoesOnFromAnotherMember(t *testing.T) { transferFromAnother(t) }

// transferFromAnother has the source of a transfer leave in the middle.
func transferFromAnother(t testing.TB) {
	text := strings.Repeat("abcd", 2500)
	w := newWorld(3, Config{ChunkBytes: 100, Rate: 50_000})
	interrupted(w, text)
	p, waits := w.nodes[2].r.Progress()
	require.True(t, waits)
	require.Equal(t, uint64(len(text)), p.Total)
	require.Equal(t, timed.NodeID(1), p.From)
	require.Positive(t, p.Bytes)
	w.nodes[0].view = nil // it has left
	w.install(1, 2)
	w.op(1, "y")
	w.run(time.Second)
	all(t, w, text+"xy", 1, 2)
	told := uint64(0)
	for _, e := range w.nodes[2].events {
		if e.Kind == EventProgress {
			require.Equal(t, uint64(len(text)), e.Total)
			require.Greater(t, e.Bytes, told)
			told = e.Bytes
		}
	}
	require.Equal(t, uint64(len(text)), told)
	require.Less(t, w.nodes[1].chunks, 2*(len(text)-int(p.Bytes))+ChunkOverhead, "received pieces are not sent again")
}

// piecesOfAnotherSnapshot has the second source encode the state differently.
func piecesOfAnotherSnapshot(t testing.TB) {
	w := newWorld(3, Config{ChunkBytes: 100, Rate: 50_000})
	interrupted(w, strings.Repeat("abcd", 2500))
	h := &w.nodes[1].r.held[0]
	h.state = w.content(strings.Repeat("dcba", 2500))
	h.digest = h.state.Digest()
	w.nodes[0].view = nil
	w.install(1, 2)
	w.run(2 * time.Second)
	require.True(t, w.nodes[2].r.Current())
	require.Empty(t, w.nodes[2].r.incoming)
}

func TestPiecesOfAnotherSnapshotAreOfNoUse(t *testing.T) { piecesOfAnotherSnapshot(t) }

// Deliveries before the last report are kept even if the view ends first.
func tentative(t testing.TB) {
	w := newWorld(2, Config{})
	w.hold = func(from int, p []byte) bool { return kind(p[0]) == kindReport && from == 1 }
	w.install(0, 1)
	w.op(0, "a")
	require.False(t, w.nodes[0].r.Settled())
	w.hold = nil
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	all(t, w, "a", 0, 1)
}

func TestWhatIsDeliveredBeforeAViewSettlesIsKept(t *testing.T) { tentative(t) }

// A joiner whose first view ends early is still a joiner, and not a branch.
func TestAJoinerWhoseViewEndsEarlyIsNoBranch(t *testing.T) {
	w := newWorld(2, Config{})
	w.install(0)
	w.op(0, "a")
	w.hold = func(from int, p []byte) bool { return kind(p[0]) == kindReport && from == 1 }
	w.install(0, 1)
	w.op(0, "b")
	w.hold = nil
	w.install(0, 1)
	w.run(10 * time.Millisecond)
	all(t, w, "ab", 0, 1)
	_, merged := w.nodes[0].has(EventMerged)
	require.False(t, merged)
}

func TestAQueueThatIsFullStartsOver(t *testing.T) {
	w := newWorld(2, Config{MaxQueued: 1024})
	w.install(0)
	w.op(0, "a")
	w.nodes[0].lazy = true
	w.install(0, 1)
	want := "a"
	for range 20 {
		w.op(0, strings.Repeat("z", 30))
		want += strings.Repeat("z", 30)
		require.LessOrEqual(t, w.nodes[1].r.Queued(), 1024)
	}
	w.answer(0)
	w.op(0, "end")
	w.run(10 * time.Millisecond)
	all(t, w, want+"end", 0, 1)
	_, over := w.nodes[1].has(EventStartedOver)
	require.True(t, over)
}

// A queue may get full before the last report says what it waits for.
func TestAQueueMayBeFullWhenTheViewSettles(t *testing.T) { fullAtOnce(t) }

func fullAtOnce(t testing.TB) {
	w := newWorld(2, Config{MaxQueued: 1024})
	w.install(0)
	w.op(0, "a")
	var late []Effect
	w.hold = func(from int, p []byte) bool {
		if from != 0 || kind(p[0]) != kindReport {
			return false
		}
		late = append(late, Effect{Kind: Broadcast, Options: marker, Payload: p})
		return true
	}
	w.install(0, 1)
	for range 40 {
		w.op(0, strings.Repeat("z", 30))
	}
	w.hold = nil
	w.perform(0, late)
	_, over := w.nodes[1].has(EventStartedOver)
	require.True(t, over)
	w.run(10 * time.Millisecond)
	all(t, w, "a"+strings.Repeat("z", 1200), 0, 1)
}

// A piece may come before the marker that requests its snapshot.
func earlyPiece(t testing.TB) {
	w := newWorld(2, Config{MaxQueued: 1024})
	w.install(0)
	w.op(0, "a")
	w.nodes[0].lazy = true
	var late []Effect
	w.hold = func(from int, p []byte) bool {
		if kind(p[0]) == kindAsk {
			late = append(late, Effect{Kind: Broadcast, Options: marker, Payload: p})
		}
		return kind(p[0]) == kindAsk
	}
	v := w.install(0, 1)
	w.op(0, strings.Repeat("z", 1000))
	require.Len(t, late, 1)
	state := []byte("whole")
	c := message{kind: kindChunk, name: Name{Label: w.nodes[0].r.lineage.Label, View: v.ID, Position: w.nodes[0].position + 1},
		digest: w.content(string(state)).Digest(), size: 5, body: state}
	w.deliver(0, Effect{Kind: Broadcast, Options: unordered, Payload: encode(&c)})
	require.False(t, w.nodes[1].r.Current())
	w.hold = nil
	w.deliver(1, late[0])
	require.Equal(t, "whole", w.nodes[1].app)
}

func TestPiecesMayOvertakeTheirMarker(t *testing.T) { earlyPiece(t) }

func TestARefusedSnapshotIsMadeByAnother(t *testing.T) {
	for _, branches := range []bool{false, true} {
		w := newWorld(3, Config{})
		w.install(0, 1)
		w.op(0, "a")
		w.nodes[0].refuses = true
		if branches {
			w.install(2)
			w.op(2, "c")
		}
		w.install(0, 1, 2)
		w.op(0, "b")
		w.run(10 * time.Millisecond)
		want := "ab"
		if branches {
			want = "(a|c|)b"
		}
		all(t, w, want, 0, 1, 2)
		e, ok := w.nodes[2].has(EventRefused)
		require.True(t, ok)
		require.Equal(t, timed.NodeID(1), e.Member)
	}
}

// The queue for the refused snapshot is part of the other snapshot.
func laterSnapshot(t testing.TB) {
	w := newWorld(3, Config{})
	w.install(0, 1)
	w.op(0, "a")
	w.nodes[0].refuses, w.nodes[0].lazy = true, true
	w.install(0, 1, 2)
	w.op(0, "b")
	w.answer(0)
	w.op(0, "c")
	w.run(10 * time.Millisecond)
	all(t, w, "abc", 0, 1, 2)
}

func TestAnotherSnapshotIsOfALaterPosition(t *testing.T) { laterSnapshot(t) }

func TestNobodyLeftToMakeASnapshotIsTold(t *testing.T) {
	w := newWorld(2, Config{MaxSnapshot: 3})
	w.install(0)
	w.op(0, "long")
	w.install(0, 1)
	e, ok := w.nodes[0].has(EventRefused)
	require.True(t, ok)
	require.ErrorIs(t, e.Err, ErrSnapshotTooLarge)
	_, ok = w.nodes[1].has(EventStuck)
	require.True(t, ok)
	require.False(t, w.nodes[1].r.Current())
}

// A snapshot that was damaged on its way is never used, and comes again.
func damagedComesAgain(t testing.TB) {
	for _, branches := range []bool{false, true} {
		w := newWorld(2, Config{})
		w.install(0)
		w.op(0, "a")
		if branches {
			w.install(1)
			w.op(1, "b")
		}
		damaged := 0
		w.hold = func(from int, p []byte) bool {
			if kind(p[0]) == kindChunk && from == 0 && damaged < 2 {
				p[len(p)-1] ^= 1
				damaged++
			}
			return false
		}
		w.install(0, 1)
		w.run(time.Second)
		e, ok := w.nodes[1].has(EventCorrupt)
		require.True(t, ok)
		require.Equal(t, timed.NodeID(1), e.Member)
		want := "a"
		if branches {
			want = "(a|b|)"
		}
		all(t, w, want, 0, 1)
	}
}

func TestADamagedSnapshotIsNotUsed(t *testing.T) { damagedComesAgain(t) }

// An application that could not make a snapshot is asked again, in the same view.
func refusalEnds(t testing.TB) {
	for _, branches := range []bool{false, true} {
		w := newWorld(3, Config{})
		w.install(0, 1)
		w.op(0, "a")
		if branches {
			w.install(2)
			w.op(2, "c")
		}
		w.nodes[0].refuses, w.nodes[1].refuses = true, true
		w.install(0, 1, 2)
		w.op(0, "b")
		w.run(2500 * time.Millisecond)
		_, stuck := w.nodes[2].has(EventStuck)
		require.True(t, stuck)
		require.False(t, w.nodes[2].r.Current())
		refusals := 0
		for _, e := range w.nodes[0].events {
			if e.Kind == EventRefused && e.Member == 1 {
				refusals++
			}
		}
		require.InDelta(t, 2, refusals, 1, "at first after a second, and then after two")
		w.nodes[1].refuses = false
		w.run(4 * time.Second) // it waits so long after its third refusal
		want := "ab"
		if branches {
			want = "(a|c|)b"
		}
		all(t, w, want, 0, 1, 2)
	}
}

func TestARefusalEnds(t *testing.T) { refusalEnds(t) }

// However often an application could not make a snapshot, it is asked again a minute later.
func TestRefusalsStayRare(t *testing.T) {
	w := newWorld(2, Config{})
	w.install(0)
	w.op(0, "a")
	w.nodes[0].refuses = true
	w.install(0, 1)
	w.nodes[0].r.refusals = 1000
	w.run(10*mostRetry - time.Second)
	require.Equal(t, 1010, w.nodes[0].r.refusals)
}

func keepsRate(t testing.TB) {
	w := newWorld(2, Config{ChunkBytes: 100, Rate: 10_000})
	w.install(0)
	w.op(0, strings.Repeat("r", 20_000))
	w.install(0, 1)
	w.run(time.Second)
	require.InDelta(t, 10_000, w.nodes[0].chunks, 500)
}

func TestATransferKeepsItsRate(t *testing.T) { keepsRate(t) }

func keepsWindow(t testing.TB) {
	w := newWorld(2, Config{ChunkBytes: 100, Window: 1000})
	w.install(0)
	w.op(0, strings.Repeat("r", 20_000))
	w.hold = func(_ int, p []byte) bool { return kind(p[0]) == kindGot }
	w.install(0, 1)
	w.run(time.Second)
	require.LessOrEqual(t, w.nodes[0].chunks, 11*(100+ChunkOverhead))
	require.Positive(t, w.nodes[0].chunks)
}

func TestATransferKeepsItsWindow(t *testing.T) { keepsWindow(t) }

func divergenceIsTold(t testing.TB) {
	w := newWorld(3, Config{HashEvery: 7})
	w.install(0, 1, 2)
	w.nodes[1].wrong = true
	w.op(0, "a") // position 7, after three reports and the settings
	e, ok := w.nodes[0].has(EventDiverged)
	require.True(t, ok)
	require.Equal(t, Event{Kind: EventDiverged, View: w.nodes[0].view.ID, Member: 2,
		At: Point{w.nodes[0].view.ID, 7}, Ours: 1, Theirs: 2}, e)
	for _, n := range w.nodes {
		for _, e := range n.events {
			require.False(t, e.Kind == EventDiverged && n != w.nodes[1] && e.Member != 2)
		}
	}
}

func TestDivergenceIsTold(t *testing.T) { divergenceIsTold(t) }

func TestQuorumsAreOneLine(t *testing.T) {
	for _, more := range []bool{false, true} {
		w := newWorld(3, Config{Quorum: majority(1, 2, 3)})
		w.install(0, 1, 2)
		w.op(0, "a")
		if more {
			w.only(2, "x")
		}
		w.install(2)
		require.False(t, w.nodes[2].r.Accepting())
		w.install(0, 1)
		w.op(0, "b")
		w.install(0, 1, 2)
		w.run(10 * time.Millisecond)
		all(t, w, "ab", 0, 1, 2)
		_, ok := w.nodes[2].has(EventDiscarded)
		require.Equal(t, more, ok, "what the others have not is discarded")
	}
}

func TestAcceptingBoundsWhatWaitsForAMerge(t *testing.T) {
	w := newWorld(2, Config{MaxQueued: 1024})
	w.install(0)
	w.install(1)
	w.op(0, "a")
	w.op(1, "b")
	w.nodes[0].lazy = true
	w.install(0, 1)
	for range 100 {
		if w.nodes[1].r.Accepting() {
			w.op(1, "c")
		}
	}
	require.InDelta(t, 1024, w.nodes[0].r.Queued(), 100)
	w.answer(0)
	w.run(10 * time.Millisecond)
	require.True(t, w.nodes[1].r.Accepting())
	require.Equal(t, w.nodes[0].app, w.nodes[1].app)
}
