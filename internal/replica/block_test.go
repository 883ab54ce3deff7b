package replica

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// letters returns a text without repetitions.
func letters(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = 'A' + byte(r.IntN(26))
	}
	return string(b)
}

// transferInPart has node 0 write a text beside node 1, and node 2 lose both in the middle of its
// transfer, when so many bytes of pieces have been sent.
func (w *world) transferInPart(text string, sent int) {
	w.install(0, 1)
	w.op(0, text)
	w.install(0, 1, 2)
	for w.nodes[0].chunks < sent {
		w.run(time.Millisecond)
	}
	w.install(0, 1)
}

// cutOff has a joiner lose the others in the middle of a transfer, and come back when they
// have another state: at its end, and with a letter in front of it. It returns how many
// bytes were sent again.
func cutOff(t testing.TB, front string, again func(w *world)) int {
	text := letters(50_000)
	w := newWorld(3, Config{ChunkBytes: 100, Rate: 50_000, BlockBytes: 256})
	w.transferInPart(text, 70_000)
	for _, n := range w.nodes[:2] {
		n.app = front + n.app
	}
	w.op(1, "x")
	w.install(2)
	w.nodes[0].chunks, w.nodes[1].chunks = 0, 0
	again(w)
	w.install(0, 1, 2)
	w.run(20 * time.Second)
	all(t, w, front+text+"x", 0, 1, 2)
	return w.nodes[0].chunks + w.nodes[1].chunks
}

func sendsTheRest(t testing.TB) {
	for _, front := range []string{"", "front"} {
		require.Less(t, cutOff(t, front, func(*world) {}), 35_000)
	}
}

// namesFit has a joiner receive a state of which it has more blocks than a message can name.
func namesFit(t testing.TB) {
	text := letters(50_000)
	w := newWorld(3, Config{ChunkBytes: MinChunkBytes, Rate: 50_000, BlockBytes: 64, Window: 1 << 20})
	w.transferInPart(text, 100_000)
	w.op(1, "x")
	w.install(2)
	require.NotPanics(t, func() {
		w.install(0, 1, 2)
		w.run(20 * time.Second)
	})
	all(t, w, text+"x", 0, 1, 2)
}

func TestNamesOfBlocksFitIntoAMessage(t *testing.T) { namesFit(t) }

func TestATransferOfALaterStateSendsTheRest(t *testing.T) { sendsTheRest(t) }

// spareIsGone has the joiner lack blocks that it has announced.
func spareIsGone(t testing.TB) {
	cutOff(t, "", func(w *world) {
		w.nodes[2].r.spare.blocks[20].id++
		spare := w.nodes[2].r.spare
		w.hold = func(from int, p []byte) bool {
			if kind(p[0]) == kindBlocks {
				spare.blocks[30].id, spare.named = 7, nil
			}
			return false
		}
	})
}

func TestBlocksThatAreNotThereAreSent(t *testing.T) { spareIsGone(t) }

// longerBlock has the joiner announce a block that has the name of another one and is longer
// than the rest of the snapshot. It is not taken, and the bytes come instead.
func longerBlock(t testing.TB) {
	cutOff(t, "", func(w *world) {
		spare := w.nodes[2].r.spare
		spare.blocks = spare.blocks[len(spare.blocks)-1:] // of all bytes up to its end
	})
}

func TestABlockLongerThanTheRestIsNotTaken(t *testing.T) { longerBlock(t) }

func TestASnapshotIsCutByItsContent(t *testing.T) {
	w := newWorld(1, Config{BlockBytes: 1024})
	text := letters(200_000)
	one, other := w.content(text), w.content("front"+text[:100_000]+"middle"+text[100_000:])
	found := 0
	for i, b := range other.blocks {
		if got, ok := one.read(b.id); ok {
			require.Equal(t, uint64(len(got)), b.end-other.begin(i))
			found += len(got)
		}
	}
	require.Greater(t, found, 180_000)
	require.InDelta(t, 200_000/1280, len(one.blocks), 40)
	for i := range one.blocks {
		require.Equal(t, i, one.blockFrom(one.begin(i)))
		require.Equal(t, i+1, one.blockFrom(one.begin(i)+1))
	}
}
