package engine

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
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
	discard(b.file.(*os.File))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Error(t, b.Append([]byte("x")))
}

// leavesNothing has a process end while it uses files.
func leavesNothing(t testing.TB) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open keeps its name")
	}
	dir := t.TempDir()
	s := NewSpool(dir, 10)
	require.NoError(t, s.Check())
	for range 3 {
		b := s.NewBytes()
		require.NoError(t, b.Append(make([]byte, 11)))
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, "nobody would remove it")
		runtime.KeepAlive(b)
	}
}

func TestAKilledProcessLeavesNoSpool(t *testing.T) { leavesNothing(t) }

// half writes only half, until it is mended.
type half struct {
	storage
	mended bool
}

func (h *half) WriteAt(p []byte, off int64) (int, error) {
	if h.mended {
		return h.storage.WriteAt(p, off)
	}
	n, _ := h.storage.WriteAt(p[:len(p)/2], off)
	return n, io.ErrShortWrite
}

// What could not be written whole is no part of the bytes, and what follows stands in its
// place.
func spoolsOn(t testing.TB) {
	b := NewSpool(t.TempDir(), 1).NewBytes().(*spooled)
	require.NoError(t, b.Append([]byte("begin ")))
	h := &half{storage: b.file}
	b.file = h
	require.ErrorIs(t, b.Append([]byte("lost")), io.ErrShortWrite)
	h.mended = true
	require.NoError(t, b.Append([]byte("end")))
	got, err := io.ReadAll(io.NewSectionReader(b, 0, 100))
	require.NoError(t, err)
	require.Equal(t, "begin end", string(got))
	discard(h.storage.(*os.File))
}

func TestASpoolGoesOnAfterAFault(t *testing.T) { spoolsOn(t) }

func TestASpoolNamesItsDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	err := NewSpool(missing, 1).Check()
	require.ErrorContains(t, err, "replicate: Spool: ")
	require.ErrorContains(t, err, missing)
}
