package replica

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
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

// holdsNobodyUp has one of two joiners start over in the middle of a transfer to both. The other one
// gets the rest: nobody waits for receipts of the first.
func holdsNobodyUp(t testing.TB) {
	w := newWorld(3, Config{ChunkBytes: 100, Window: 1000, Rate: 20_000})
	w.install(0)
	w.op(0, strings.Repeat("abcd", 2500))
	w.install(0, 1, 2)
	w.run(50 * time.Millisecond)
	m := w.nodes[1].r
	require.NotEmpty(t, m.incoming)
	w.perform(1, m.turn(w.now, nil, m.startOver))
	w.run(5 * time.Second)
	all(t, w, w.nodes[0].app, 0, 1, 2)
	require.Empty(t, w.nodes[0].r.held, "both have it")
}

func TestWhoStartsOverHoldsNobodyUp(t *testing.T) { holdsNobodyUp(t) }

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

// unread is bytes of which those from a place on cannot be read.
type unread struct {
	Memory
	from int64
}

var errUnread = errors.New("input/output error")

// ReadAt implements [io.ReaderAt].
func (u *unread) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= u.from {
		return u.Memory.ReadAt(p, off)
	}
	n, _ := u.Memory.ReadAt(p[:max(0, u.from-off)], off)
	return n, errUnread
}

// readsFail has operations wait in bytes of which fewer and fewer can be read. Those before the
// fault are applied in turn, and no others, and the fault is told.
func readsFail(t testing.TB) {
	var waiting []broadcast.Delivery
	for i := range uint64(10) {
		waiting = append(waiting, broadcast.Delivery{ID: broadcast.ID{Sender: 2, Sequence: i + 1}, Position: i + 1, Payload: make([]byte, i*7)})
	}
	for from, size := 0, 1; from <= size; from++ {
		cfg := (&Config{ChunkBytes: 300, NewBytes: func() Bytes { return &unread{from: int64(from)} }}).WithDefaults()
		b := new(backlog)
		for i := range waiting {
			b.add(&waiting[i], &cfg)
		}
		size = b.size
		require.NotEmpty(t, b.tail)
		var applied []broadcast.Delivery
		var fault error
		for e, err := range (&Replay{from: b}).Effects() {
			if fault = err; err == nil {
				applied = append(applied, e.Delivery)
			}
		}
		require.True(t, slices.EqualFunc(applied, waiting[:len(applied)], func(a, b broadcast.Delivery) bool {
			return a.ID == b.ID && a.Position == b.Position && len(a.Payload) == len(b.Payload)
		}), "%d of %d bytes", from, size)
		if from == size {
			require.NoError(t, fault)
			require.Len(t, applied, len(waiting))
			continue
		}
		require.ErrorContains(t, fault, errUnread.Error(), "%d of %d bytes", from, size)

		content := &Content{bytes: b.bytes, size: uint64(size)}
		piece := Effect{Kind: Broadcast, Piece: &Piece{content, 0, size}}
		_, err := piece.Message()
		require.ErrorIs(t, err, errUnread, "a piece for others")
	}
}

// What cannot be read of the operations that wait, or of a state, is told and not left out.
func TestAFailedReadIsNoEnd(t *testing.T) { readsFail(t) }

// counted is bytes of which only the number is kept.
type counted struct {
	Memory
	n *int
}

// Append implements [Bytes].
func (c *counted) Append(p []byte) error {
	*c.n += len(p)
	return nil
}

// ownInFiles has a node's own operations wait in a file. Of these too nothing large stays in memory.
func ownInFiles(t testing.TB) {
	filed := 0
	cfg := (&Config{Self: incarnation(0), ChunkBytes: 1 << 10, NewBytes: func() Bytes { return &counted{n: &filed} }}).WithDefaults()
	b := new(backlog)
	const operations, size = 100, 10 << 10
	for i := range uint64(operations) {
		id := broadcast.ID{Sender: cfg.Self.Node, Boot: cfg.Self.Boot, Class: broadcast.ClassOrdered, Sequence: i + 1}
		b.add(&broadcast.Delivery{ID: id, Payload: make([]byte, size)}, &cfg)
	}
	require.GreaterOrEqual(t, filed, operations*size)
	memory := len(b.tail)
	for i := range b.own {
		memory += len(b.own[i].Payload)
	}
	require.Len(t, b.own, operations, "callers wait for them")
	require.Less(t, memory, 2*size)
}

func TestOwnOperationsWaitInFilesToo(t *testing.T) { ownInFiles(t) }
