package engine

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALargeSnapshotIsInAFile(t *testing.T) {
	dir := t.TempDir()
	b := NewSpool(dir, 100).NewBytes().(*spooled)
	var want []byte
	for i := range 10 {
		p := bytes.Repeat([]byte{byte('a' + i)}, 33)
		require.NoError(t, b.Append(p))
		want = append(want, p...)
		require.Equal(t, i >= 3, b.file != nil)
		got, err := io.ReadAll(io.NewSectionReader(b, 0, 1000))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.Empty(t, b.memory)
	discard(b.file)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Error(t, b.Append([]byte("x")))
}

func TestASpoolNamesItsDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	err := NewSpool(missing, 1).Check()
	require.ErrorContains(t, err, "replicate: Spool: ")
	require.ErrorContains(t, err, missing)
}
