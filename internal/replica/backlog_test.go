package replica

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// joining begins the transfer of a state of 10,000 bytes, for which operations wait at the
// joiner, whose files take most bytes each.
func joining(most *int) *world {
	w := newWorld(2, Config{ChunkBytes: 100, Rate: 20_000, MaxQueued: 2000})
	w.install(0)
	w.op(0, strings.Repeat("abcd", 2500))
	w.cfg.NewBytes = func() Bytes { return &cramped{most: most} }
	w.restart(1, 1)
	w.install(0, 1)
	w.run(50 * time.Millisecond)
	return w
}

// waits has so many operations come meanwhile.
func (w *world) waits(count int) {
	for i := range count {
		w.op(0, string(rune('a'+i%26)))
	}
}

// Operations wait in files, or in memory while these take no more, and are applied in turn.
func waitsInOrder(t testing.TB) {
	for _, most := range []int{1 << 20, 10_000, 150} {
		room := most
		w := joining(&room)
		w.waits(25)
		require.NotEmpty(t, w.nodes[1].r.queue)
		room = 1 << 20
		w.run(5 * time.Second)
		all(t, w, w.nodes[0].app, 0, 1)
		_, again := w.nodes[1].has(EventStartedOver)
		require.False(t, again)
	}
}

func TestOperationsWaitInOrder(t *testing.T) { waitsInOrder(t) }

// As many bytes may wait as the snapshot has, but in files.
func waitsInFiles(t testing.TB) {
	for _, room := range []int{1 << 20, 50} {
		w := joining(&room)
		w.waits(100)
		_, again := w.nodes[1].has(EventStartedOver)
		require.Equal(t, room == 50, again, "room %d, %d bytes", room, w.nodes[1].r.Queued())
	}
}

func TestAsMuchMayWaitAsTheSnapshotHas(t *testing.T) { waitsInFiles(t) }
