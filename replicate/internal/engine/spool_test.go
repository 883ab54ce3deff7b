package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/replica"
)

func TestALargeSnapshotIsInAFile(t *testing.T) {
	dir := t.TempDir()
	b := NewSpool(dir, 100, false).NewBytes().(*spooled)
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
	s := NewSpool(dir, 10, false)
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
	b := NewSpool(t.TempDir(), 1, false).NewBytes().(*spooled)
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

// spoolCutOff has the file of a spool lose bytes at its end. A reader does not take the rest for all.
func spoolCutOff(t testing.TB) {
	b := NewSpool(t.TempDir(), 1, false).NewBytes().(*spooled)
	require.NoError(t, b.Append([]byte("begin ")))
	require.NoError(t, b.Append([]byte("end")))
	f := b.file.(*os.File)
	for size := 9; size >= 0; size-- {
		require.NoError(t, f.Truncate(int64(size)))
		got, err := io.ReadAll(io.NewSectionReader(b, 0, 9))
		require.Equal(t, "begin end"[:size], string(got))
		if size == 9 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.ErrorContains(t, err, "replicate: Spool: ")
	}
	discard(f)
}

func TestASpoolThatIsCutOffIsNoWholeOne(t *testing.T) { spoolCutOff(t) }

// brokenSpools returns how a spool takes its errors for others: one whose directory is that of the
// state ends the node, unless there may be room later. One beside a state in memory waits.
func brokenSpools(t testing.TB) (wrong string) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is a file of Linux")
	}
	broken := func(err error) bool {
		require.Error(t, err)
		_, is := errors.AsType[*replica.BrokenError](err)
		return is
	}
	for _, keeps := range []bool{true, false} {
		missing := NewSpool(filepath.Join(t.TempDir(), "missing"), 1, keeps)
		if err := missing.NewPart().Append([]byte("some")); broken(err) != keeps {
			wrong += fmt.Sprintf("keeps %v: %v; ", keeps, err)
		}
		f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		require.NoError(t, err)
		full := &spooled{spool: missing, file: f}
		if err := full.Append([]byte("some")); broken(err) {
			wrong += fmt.Sprintf("keeps %v: %v; ", keeps, err)
		}
		require.NoError(t, f.Close())
	}
	return wrong
}

func TestASpoolOnABrokenDiskIsBroken(t *testing.T) { require.Empty(t, brokenSpools(t)) }

// spillFails has no file take what was in memory, as on a full disk. Nothing is lost by that, and
// nothing is left of the file.
func spillFails(t testing.TB) {
	dir := t.TempDir()
	b := NewSpool(dir, 100, false).NewBytes().(*spooled)
	require.NoError(t, b.Append([]byte("whole")))
	path := filepath.Join(dir, "full")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	f, err := os.Open(path) // takes no bytes
	require.NoError(t, err)
	require.Error(t, b.move(f))
	require.NoFileExists(t, path)
	require.NoError(t, b.Append(bytes.Repeat([]byte("x"), 100)), "another file takes all")
	got, err := io.ReadAll(io.NewSectionReader(b, 0, 1000))
	require.NoError(t, err)
	require.Equal(t, "whole"+string(bytes.Repeat([]byte("x"), 100)), string(got))
}

func TestASpoolKeepsWhatNoFileTakes(t *testing.T) { spillFails(t) }

// faulty is the bytes of a state that cannot be read to its end.
type faulty struct{ replica.Memory }

var errUnread = errors.New("input/output error")

// ReadAt implements [io.ReaderAt].
func (f *faulty) ReadAt(p []byte, off int64) (int, error) {
	n, _ := f.Memory.ReadAt(p[:min(int64(len(p)), max(0, 7-off))], off)
	return n, errUnread
}

// trusting is an application that takes every error of a read for the end.
type trusting struct{ *words }

func (w trusting) Load(r io.Reader) error {
	w.list, _ = wordsIn(r)
	return nil
}

// stateUnread gives an application a state of which a part cannot be read, and returns what the engine
// makes of it if it does not fail.
func stateUnread(t *testing.T) (goesOn string) {
	cfg := replica.Config{NewBytes: func() replica.Bytes { return new(faulty) }}.WithDefaults()
	state := cfg.NewContent()
	_, err := state.Write([]byte("one two three"))
	require.NoError(t, err)
	app := trusting{&words{}}
	e := &Engine{app: app, appMu: newGate()}
	if err := e.restore(state); !errors.Is(err, errUnread) {
		goesOn = fmt.Sprintf("%v: %v", app.list, err)
	}
	return goesOn
}

// The application need not pass on why it could not read.
func TestAStateThatCannotBeReadIsNoState(t *testing.T) { require.Empty(t, stateUnread(t)) }

func TestASpoolNamesItsDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	err := NewSpool(missing, 1, false).Check()
	require.ErrorContains(t, err, "replicate: Spool: ")
	require.ErrorContains(t, err, missing)
}

// A file whose room was freed is left alone later: another one may have its name.
func TestWhatWasDiscardedIsLeftAlone(t *testing.T) {
	b := NewSpool(t.TempDir(), 1, false).NewBytes().(*spooled)
	require.NoError(t, b.Append([]byte("more than a byte")))
	path := b.file.(*os.File).Name()
	b.Discard()
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	b = nil
	for range 3 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	require.FileExists(t, path)
}
