package durable

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADirectoryIsCheckedWithoutAChange(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, CheckDir(dir))
	require.NoError(t, CheckDir(filepath.Join(dir, "a", "b")))
	require.NoDirExists(t, filepath.Join(dir, "a"))
	require.ErrorIs(t, CheckDir(file), syscall.ENOTDIR)
	require.Error(t, CheckDir(filepath.Join(file, "below")))
}

func TestAnUnwritableDirectoryIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere: see TestAnUnwritableDirectoryIsNamedToNobody")
	}
	namesTheUnwritable(t, closed(t))
}

// closed returns a directory in which nobody but root may create files.
func closed(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "closed")
	require.NoError(t, os.Mkdir(dir, 0o500))
	return dir
}

func namesTheUnwritable(t *testing.T, dir string) {
	for _, path := range []string{dir, filepath.Join(dir, "below")} {
		err := CheckDir(path)
		require.ErrorIs(t, err, fs.ErrPermission)
		require.ErrorContains(t, err, dir)
	}
}
