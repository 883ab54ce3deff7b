package api

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/trust"
)

func TestTheDefaultSocketIsInADirectoryOfTheUser(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(dir, "run"))
	path := DefaultSocket()
	require.Equal(t, filepath.Join(dir, "run", "failaware.sock"), path)
	l, err := ListenUnix(path)
	require.NoError(t, err)
	defer l.Close()
	info, err := os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())

	squat := filepath.Join(dir, "squat")
	require.NoError(t, os.Mkdir(squat, 0o777))
	require.NoError(t, os.Chmod(squat, 0o777))
	t.Setenv("XDG_RUNTIME_DIR", squat)
	_, err = ListenUnix(DefaultSocket())
	require.ErrorIs(t, err, trust.ErrUntrusted)
	require.ErrorContains(t, err, squat)
}
