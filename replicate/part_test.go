package replicate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// killedJoiner has a node with a Storage be killed in the middle of a transfer that takes four
// seconds. It returns how long the next process waits for the state after it has started.
func killedJoiner(t *testing.T) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		const size, rate = 8 << 20, 2 << 20
		net := memory.New(memory.Options{Seed: 7, Buffer: 1 << 13})
		cast := failaware.BroadcastConfig{PacketBytes: 32 << 10, RequireQuorum: true}
		start := func(id int, dir string) (*replicate.Replica, *pages) {
			p := newPages(size)
			cfg := failaware.Config{ID: failaware.NodeID(id), Transport: net.Transport(), Broadcast: &cast, Quorum: majority(t, 3), StateDir: dir}
			return startPages(t, cfg, replicate.Config{Rate: rate, SnapshotMemory: 1 << 16, Storage: filepath.Join(dir, "state")}, p), p
		}
		first, _ := start(1, t.TempDir())
		start(2, t.TempDir())
		last, _ := start(3, t.TempDir())
		b := meet(first.Node())
		_, err := first.Submit(t.Context(), make([]byte, 4))
		require.NoError(t, err)
		require.NoError(t, last.Close())
		disk := t.TempDir() // it has lost its own
		joiner, _ := start(3, disk)
		for joiner.Progress().Bytes < size*5/8 {
			time.Sleep(time.Millisecond)
		}
		image := filepath.Join(t.TempDir(), "image") // as a kill leaves the directory
		require.NoError(t, os.CopyFS(image, os.DirFS(disk)))
		require.NoError(t, filepath.WalkDir(image, func(path string, _ fs.DirEntry, _ error) error { return os.Chmod(path, 0o700) }))
		require.NoError(t, joiner.Close())
		time.Sleep(2 * b.View)
		_, err = first.Submit(t.Context(), []byte{0, 0, 0, 9}) // the state is another one now
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(image, "state", "incoming-1"), make([]byte, 1000), 0o600))
		began := time.Now()
		next, p := start(3, image)
		for p.restored.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		took = time.Since(began)
		for !next.Progress().Accepting || next.Progress().Behind > 0 {
			time.Sleep(time.Millisecond)
		}
		require.EqualValues(t, 1, p.changes[9])
		left, err := filepath.Glob(filepath.Join(image, "state", "incoming-*"))
		require.NoError(t, err)
		require.Empty(t, left, "nobody needs it any more")
	})
	return took
}

func TestATransferGoesOnAfterAKill(t *testing.T) {
	require.Less(t, killedJoiner(t), 2500*time.Millisecond)
}
