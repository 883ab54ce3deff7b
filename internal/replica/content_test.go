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
	require.False(t, joiner.r.Current())
	p, _ := joiner.r.Progress()
	require.Equal(t, uint64(4300), p.Bytes)
	most, joiner.events = len(text), nil
	w.run(2 * time.Second)
	require.True(t, text == joiner.app)
	disk, ok = joiner.has(EventDisk)
	require.True(t, ok)
	require.NoError(t, disk.Err)
	require.Less(t, w.nodes[0].chunks, 2*len(text)*(100+ChunkOverhead)/100+10*1000, "received pieces are not sent again")
}

func TestATransferGoesOnWhenThereIsRoom(t *testing.T) { roomComesLate(t) }

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
