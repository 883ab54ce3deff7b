package statedir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// refusedIsFree opens directories that are refused. They are nobody's afterwards: a process
// that tries again after somebody has restored them is not refused because of itself.
func refusedIsFree(t testing.TB) {
	open := func(dir string) error {
		d, err := begin(dir, 1, time.Second)
		if err == nil {
			require.NoError(t, d.Close())
		}
		return err
	}
	assigned := func(dir string) error {
		a, err := OpenAssigned(dir)
		if err == nil {
			require.NoError(t, a.Close())
		}
		return err
	}
	for _, x := range []struct {
		file string
		open func(dir string) error
	}{{"node-1.state", open}, {"node-1.epoch", open}, {"node-id.state", assigned}} {
		for _, damage := range []func(path string) error{
			func(path string) error { return os.WriteFile(path, []byte("no record"), 0o600) },
			func(path string) error { return os.Mkdir(path, 0o700) },
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, x.file)
			require.NoError(t, damage(path))
			require.Error(t, x.open(dir), x.file)
			for range 2 {
				require.NotErrorIs(t, x.open(dir), ErrInUse, x.file)
			}
			require.NoError(t, os.Remove(path))
			require.NoError(t, x.open(dir), x.file)
		}
	}
}

func TestARefusedDirectoryIsNobodys(t *testing.T) { refusedIsFree(t) }
