package replica

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cramped is room for a snapshot, which is full at some size until there is more.
type cramped struct {
	Memory
	most *int
}

var errCramped = errors.New("no room")

func (c *cramped) Append(p []byte) error {
	if len(c.Memory)+len(p) > *c.most {
		return errCramped
	}
	return c.Memory.Append(p)
}

// roomComesLate has a receiver run out of room in the middle of a transfer.
func roomComesLate(t testing.TB) {
	text, most := strings.Repeat("abcd", 2500), 4321
	w := newWorld(2, Config{ChunkBytes: 100, Rate: 50_000, Window: 1000})
	w.cfg.NewBytes = func() Bytes { return &cramped{most: &most} }
	w.restart(1, 1)
	w.install(0)
	w.op(0, text)
	w.install(0, 1)
	w.run(5 * time.Second)
	joiner := w.nodes[1]
	disk, ok := joiner.has(EventDisk)
	require.True(t, ok)
	require.ErrorIs(t, disk.Err, errCramped)
	require.ErrorIs(t, joiner.r.Full(), errCramped)
	require.False(t, joiner.withdrawn, "there may be room later")
	require.False(t, joiner.r.Current())
	p, _ := joiner.r.Progress()
	require.Equal(t, uint64(4300), p.Bytes)
	most, joiner.events = len(text), nil
	w.run(2 * time.Second)
	require.True(t, text == joiner.app)
	disk, ok = joiner.has(EventDisk)
	require.True(t, ok)
	require.NoError(t, disk.Err)
	require.NoError(t, joiner.r.Full())
	require.Less(t, w.nodes[0].chunks, 2*len(text)*(100+ChunkOverhead)/100+10*1000, "received pieces are not sent again")
}

func TestATransferGoesOnWhenThereIsRoom(t *testing.T) { roomComesLate(t) }

// dropsWithoutRoom has a receiver without room go on without the snapshot. It needs no room then.
func dropsWithoutRoom(t testing.TB) {
	most := 50
	w := newWorld(2, Config{ChunkBytes: 100})
	w.cfg.NewBytes = func() Bytes { return &cramped{most: &most} }
	w.restart(1, 1)
	w.install(0)
	w.op(0, strings.Repeat("abcd", 100))
	w.install(0, 1)
	joiner := w.nodes[1]
	require.ErrorIs(t, joiner.r.Full(), errCramped)
	w.install(1)
	require.NoError(t, joiner.r.Full())
}

func TestANodeThatNeedsNoSnapshotNeedsNoRoom(t *testing.T) { dropsWithoutRoom(t) }

// broken is room for a snapshot on a disk that has failed.
type broken struct{ Memory }

func (broken) Append([]byte) error { return &BrokenError{errCramped} }

// endsWithItsDisk has the disk of a receiver fail. It does not wait for room that never comes.
func endsWithItsDisk(t testing.TB) {
	w := newWorld(2, Config{})
	w.cfg.NewBytes = func() Bytes { return new(broken) }
	w.restart(1, 1)
	w.install(0)
	w.op(0, "a")
	w.install(0, 1)
	require.True(t, w.nodes[1].withdrawn)
	_, waits := w.nodes[1].has(EventDisk)
	require.False(t, waits)
	require.ErrorIs(t, new(broken).Append(nil), errCramped)
}

func TestAReceiverEndsWithItsDisk(t *testing.T) { endsWithItsDisk(t) }

// refuserReceives has a member that refused to make the snapshot of its branch run out of room
// when another member makes it. The source comes back to what it lacks, as for all others.
func refuserReceives(t testing.TB) {
	text, most := strings.Repeat("abcd", 2500), 4321
	w := newWorld(3, Config{ChunkBytes: 100, Rate: 50_000, Window: 1000})
	w.cfg.NewBytes = func() Bytes { return &cramped{most: &most} }
	w.restart(0, 1)
	w.install(0, 1)
	w.op(0, text)
	w.install(2)
	w.op(2, "c")
	w.nodes[0].refuses = true
	w.install(0, 1, 2)
	w.run(5 * time.Second)
	_, full := w.nodes[0].has(EventDisk)
	require.True(t, full)
	require.False(t, w.nodes[0].r.Current())
	most = 2 * len(text)
	w.run(2 * time.Second)
	all(t, w, "("+text+"|c|)", 0, 1, 2)
}

func TestWhoRefusedASnapshotOfAMergeReceivesIt(t *testing.T) { refuserReceives(t) }
