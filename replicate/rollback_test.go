package replicate_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
	"github.com/failaware/failaware/timed"
)

func copyStorage(t *testing.T, to, from string) {
	require.NoError(t, os.Mkdir(to, 0o700))
	files, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(from, f.Name()))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, f.Name()), b, 0o600))
	}
}

// An older copy of a Storage comes back. What was acknowledged with its help is not forgotten: the
// others wait for a node that has it.
func TestAnOlderCopyOfAStorageIsNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, dir := memory.New(memory.Options{Seed: 10}), t.TempDir()
		storage, older := filepath.Join(dir, "state1"), filepath.Join(dir, "older")
		all := onDisks(t, net, dir, true, 1, 2, 3)
		require.True(t, submit(t, all[0], "one").Lasting)
		closeAll(t, all)
		copyStorage(t, older, storage)

		all = onDisks(t, net, dir, true, 1, 2, 3)
		require.True(t, submit(t, all[0], "two").Lasting)
		time.Sleep(time.Second)
		net.Partition([]failaware.NodeID{3})
		require.True(t, submit(t, all[0], "three").Lasting, "on the disks of nodes 1 and 2")
		closeAll(t, all[:2])
		net.Heal()
		require.NoError(t, os.RemoveAll(storage))
		copyStorage(t, storage, older)

		one := onDisks(t, net, dir, true, 1)[0]
		for _, h := range []*holder{one, all[2]} {
			p := h.Progress()
			require.Equal(t, replicate.Recovering, p.Situation)
			require.Equal(t, timed.SetOf(2), p.Absent)
			require.Equal(t, []failaware.Set{timed.SetOf(1)}, h.rolledBack())
		}
		two := onDisks(t, net, dir, true, 2)[0]
		for _, h := range []*holder{one, two, all[2]} {
			require.Equal(t, []string{"one", "two", "three"}, h.latest(t))
		}
		closeAll(t, []*holder{one, two, all[2]})
	})
}
