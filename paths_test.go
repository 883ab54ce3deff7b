package failaware

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The paths of a configuration mean what they meant when the node started, wherever the
// process goes.
func TestPathsStayWhereTheyWere(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, "state"), 0o700))
	}
	t.Chdir(first)
	n := startNode(t, Config{ID: 1, StateDir: "state"})
	waitElected(t, n)
	t.Chdir(second)
	other := startNode(t, Config{ID: 2, Peers: []Peer{{1, n.Addr().String()}}})
	eventually(t, "a view of both, with the addresses of members on the disk", func() bool {
		list, err := filepath.Glob(filepath.Join(first, "state", "*.members"))
		return err == nil && len(list) == 1 && inOneView(n, other)
	})
	require.NoError(t, n.Close())
	there, err := os.ReadDir(filepath.Join(second, "state"))
	require.NoError(t, err)
	require.Empty(t, there)
}
