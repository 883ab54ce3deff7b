package durable

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var kind = Kind{Name: "test", Version: 3}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, MakeDir(dir))
	require.NoError(t, MakeDir(dir), "again")
	path := filepath.Join(dir, "record")
	_, err := Read(path, kind)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, content := range [][]byte{nil, []byte("text\nwith lines\n"), bytes.Repeat([]byte{0, 255}, MaxSize/2)} {
		require.NoError(t, Write(path, kind, content))
		b, err := Read(path, kind)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, b))
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing but the record is left")
}

func TestWhatCannotBeWrittenIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record")
	require.ErrorContains(t, Write(path, kind, make([]byte, MaxSize+1)), "more than")
	for _, name := range []string{"", "two words", "line\n", string(make([]byte, maxKind+1))} {
		require.ErrorContains(t, Write(path, Kind{Name: name}, nil), "names no kind")
	}
	require.ErrorIs(t, Write(filepath.Join(path, "no", "directory"), kind, nil), fs.ErrNotExist)
	require.NoFileExists(t, path)
	require.NoError(t, Write(path, Kind{Name: strings.Repeat("k", maxKind)}, make([]byte, MaxSize)), "the limits are allowed")
	large := Kind{Name: "large", Most: 2 * MaxSize}
	require.NoError(t, Write(path, large, make([]byte, 2*MaxSize)))
	b, err := Read(path, large)
	require.NoError(t, err)
	require.Len(t, b, 2*MaxSize)
	require.ErrorContains(t, Write(path, large, make([]byte, 2*MaxSize+1)), "more than")
}

// damaged requires that a file is refused by an error that names it.
func damaged(t *testing.T, path string, b []byte, k Kind) *DamagedError {
	t.Helper()
	require.NoError(t, os.WriteFile(path, b, fileMode))
	_, err := Read(path, k)
	var d *DamagedError
	require.ErrorAs(t, err, &d, "%q", b)
	require.Equal(t, path, d.Path)
	require.ErrorContains(t, err, path)
	return d
}

func TestEveryDamageIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record")
	require.NoError(t, Write(path, kind, []byte("starts 17 maxlock 80000000\n")))
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for n := range good {
		damaged(t, path, good[:n], kind)
		damaged(t, path, append(bytes.Clone(good[:n]), good[n+1:]...), kind)
		for bit := range 8 {
			b := bytes.Clone(good)
			b[n] ^= 1 << bit
			damaged(t, path, b, kind)
		}
	}
	damaged(t, path, append(bytes.Clone(good), 0), kind)
	damaged(t, path, make([]byte, len(good)), kind)
	require.Contains(t, damaged(t, path, good, Kind{Name: "other", Version: 3}).What, `it holds "test" and not "other"`)
	require.Contains(t, damaged(t, path, good, Kind{Name: "test", Version: 4}).What, "version 3, and only 4")
	require.Contains(t, damaged(t, path, good[:len(good)-1], kind).What, "26 bytes of content, and says that there are 27")
	require.Contains(t, damaged(t, path, append(bytes.Clone(good[:len(good)-1]), 'x'), kind).What, "its checksum is wrong")
	require.Contains(t, damaged(t, path, make([]byte, MaxSize+2<<10), kind).What, "larger than")
	for _, other := range []string{"\n", "not a record\n", "failaware\n", "failaware test 3\nfailaware test 3 0 0"} {
		require.Equal(t, "it is no record of failaware", damaged(t, path, []byte(other), kind).What)
	}
}

// A file of a newer build is not damaged, unless its checksum says so.
func TestAFileOfANewerBuildIsNotDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record")
	newer := Kind{Name: kind.Name, Version: kind.Version + 1}
	require.NoError(t, Write(path, newer, []byte("more")))
	_, err := Read(path, kind)
	require.Equal(t, &LaterError{path, newer.Version, kind.Version}, err)
	require.ErrorContains(t, err, "a newer build of failaware has written "+path+": its format has version 4, and this build knows 3; start the newer build again")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[len(b)-1] ^= 1
	damaged(t, path, b, kind)
}

func FuzzOpen(f *testing.F) {
	f.Add(seal(kind, []byte("content")))
	f.Add([]byte("failaware test 3 0 00000000\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		content, err := open(kind, "record", b)
		if err == nil && !bytes.Equal(seal(kind, content), b) {
			t.Fatalf("%q is read as %q, which is written otherwise", b, content)
		}
	})
}

// forgetful is a disk that keeps, when it crashes, only some of the unflushed bytes of
// every file, and some of the latest changes of its directory.
type forgetful struct {
	names   []map[string]*inode // the directory after each unflushed change
	left    int                 // calls until it crashes
	crashed bool
}

type inode struct {
	disk   *forgetful
	bytes  []byte
	synced int
}

var errCrash = os.ErrClosed

func newForgetful(path string, b []byte, left int) *forgetful {
	d := &forgetful{left: left}
	d.names = []map[string]*inode{{path: {d, b, len(b)}}}
	return d
}

func (d *forgetful) call() error {
	if d.left == 0 {
		d.crashed = true
	}
	d.left--
	if d.crashed {
		return errCrash
	}
	return nil
}

// change notes a new state of the directory.
func (d *forgetful) change(f func(map[string]*inode)) {
	next := map[string]*inode{}
	maps.Copy(next, d.names[len(d.names)-1])
	f(next)
	d.names = append(d.names, next)
}

func (d *forgetful) create(path string) (file, error) {
	if err := d.call(); err != nil {
		return nil, err
	}
	i := &inode{disk: d}
	d.change(func(m map[string]*inode) { m[path] = i })
	return i, nil
}

func (d *forgetful) rename(from, to string) error {
	if err := d.call(); err != nil {
		return err
	}
	d.change(func(m map[string]*inode) { m[to] = m[from]; delete(m, from) })
	return nil
}

func (d *forgetful) remove(path string) error {
	if err := d.call(); err != nil {
		return err
	}
	d.change(func(m map[string]*inode) { delete(m, path) })
	return nil
}

// flushing is a directory that a function flushes.
type flushing func() error

func (f flushing) Sync() error { return f() }
func (flushing) Close() error  { return nil }

func (d *forgetful) openDir(string) (names, error) { return flushing(d.syncDir), nil }

func (d *forgetful) syncDir() error {
	if err := d.call(); err != nil {
		return err
	}
	d.names = d.names[len(d.names)-1:]
	return nil
}

func (i *inode) Write(b []byte) (int, error) {
	if err := i.disk.call(); err != nil {
		return 0, err
	}
	i.bytes = append(i.bytes, b...)
	return len(b), nil
}

func (i *inode) Sync() error {
	if err := i.disk.call(); err != nil {
		return err
	}
	i.synced = len(i.bytes)
	return nil
}

func (i *inode) Close() error { return i.disk.call() }

// afterCrash requires that a crash at any call of a write leaves the old record or the
// new one, whichever unflushed data the disk loses; and the new one if the write had
// returned.
func afterCrash(t testing.TB) {
	const path = "dir/record"
	oldFile, newFile := seal(kind, []byte("old")), seal(kind, []byte("the new one"))
	rapid.Check(t, func(t *rapid.T) {
		d := newForgetful(path, oldFile, rapid.IntRange(0, 10).Draw(t, "calls"))
		err := write(d, path, newFile)
		i := d.names[rapid.IntRange(0, len(d.names)-1).Draw(t, "directory")][path]
		kept := i.bytes[:rapid.IntRange(i.synced, len(i.bytes)).Draw(t, "bytes")]
		if err == nil {
			require.Equal(t, string(newFile), string(kept))
		} else if !bytes.Equal(kept, oldFile) {
			require.Equal(t, string(newFile), string(kept))
		}
	})
}

// hasty is a disk whose process is killed before it flushes a directory.
type hasty struct {
	system
	dirs   []string // that were to be flushed
	killed bool
}

func (d *hasty) openDir(dir string) (names, error) {
	return flushing(func() error {
		if d.dirs = append(d.dirs, dir); d.killed {
			return errCrash
		}
		return nil
	}), nil
}

// foundIsFlushed requires that a record counts only once its name is on the disk: its writer
// may have been killed before that.
func foundIsFlushed(t testing.TB) {
	path := filepath.Join(t.TempDir(), "record")
	require.NoError(t, Write(path, kind, []byte("old")))
	d := &hasty{killed: true}
	require.ErrorIs(t, write(d, path, seal(kind, []byte("new"))), errCrash)
	_, err := read(d, path, kind)
	require.ErrorIs(t, err, errCrash, "a power failure would bring the old record back")
	b, err := read(&hasty{}, path, kind)
	require.NoError(t, err)
	require.Equal(t, "new", string(b))
	require.Equal(t, []string{filepath.Dir(path), filepath.Dir(path)}, d.dirs)
}

func TestARecordThatIsFoundIsOnTheDisk(t *testing.T) { foundIsFlushed(t) }

// once is a disk of which one call fails, and those after it succeed.
type once struct {
	*forgetful
	err            error
	calls, failing int
}

func (d *once) fails() error {
	if d.calls++; d.calls == d.failing {
		return d.err
	}
	return nil
}

func (d *once) create(path string) (file, error) {
	f, err := d.forgetful.create(path)
	return onceFile{d, f}, errors.Join(err, d.fails())
}

func (d *once) rename(from, to string) error {
	return errors.Join(d.fails(), d.forgetful.rename(from, to))
}

func (d *once) openDir(string) (names, error) {
	return flushing(func() error { return errors.Join(d.fails(), d.forgetful.syncDir()) }), d.fails()
}

type onceFile struct {
	disk *once
	file
}

func (f onceFile) Write(b []byte) (int, error) {
	if err := f.disk.fails(); err != nil {
		return 0, err
	}
	return f.file.Write(b)
}

func (f onceFile) Sync() error  { return errors.Join(f.disk.fails(), f.file.Sync()) }
func (f onceFile) Close() error { return errors.Join(f.disk.fails(), f.file.Close()) }

// No error is forgotten, whatever succeeds after it, and a file that could not be written
// takes no name and no room.
func TestEveryFailureOfAWriteIsTold(t *testing.T) {
	const path = "dir/record"
	for failing := 1; ; failing++ {
		d := &once{newForgetful(path, []byte("old"), 100), fs.ErrInvalid, 0, failing}
		err := write(d, path, []byte("new"))
		if d.calls < failing {
			require.NoError(t, err)
			require.Equal(t, 8, failing, "seven calls may fail")
			return
		}
		require.ErrorIs(t, err, fs.ErrInvalid)
		if failing <= 5 {
			require.Equal(t, "old", string(d.names[len(d.names)-1][path].bytes), "call %d", failing)
		}
		if failing > 2 {
			require.NotContains(t, d.names[len(d.names)-1], path+next, "call %d", failing)
		}
	}
}

// createdIsWhole requires that all of a file that was created is on the disk, whatever
// unflushed data a crash loses.
func createdIsWhole(t testing.TB) {
	const path, content = "dir/keys", "all of it"
	d := newForgetful("dir/other", nil, 100)
	require.NoError(t, create(d, path, []byte(content)))
	for _, names := range d.names {
		require.Contains(t, names, path, "a crash removes the file")
		require.Equal(t, len(content), names[path].synced, "a crash cuts the file")
	}
}

func TestACreatedFileIsWhole(t *testing.T) { createdIsWhole(t) }

// Each failure of a creation is told, and leaves no file: another attempt may follow.
func TestEveryFailureOfACreationIsTold(t *testing.T) {
	const path = "dir/keys"
	for failing := 1; ; failing++ {
		d := &once{newForgetful("dir/other", nil, 100), fs.ErrInvalid, 0, failing}
		err := create(d, path, []byte("all of it"))
		if d.calls < failing {
			require.NoError(t, err)
			require.Equal(t, 7, failing, "six calls may fail")
			return
		}
		require.ErrorIs(t, err, fs.ErrInvalid)
		if failing > 1 {
			require.NotContains(t, d.names[len(d.names)-1], path, "call %d", failing)
		}
	}
}

// replacesNothing creates a file where one is.
func replacesNothing(t testing.TB) {
	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, Create(path, []byte("first")))
	require.ErrorIs(t, Create(path, []byte("second")), fs.ErrExist)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "first", string(b))
}

func TestACreatedFileReplacesNone(t *testing.T) { replacesNothing(t) }

func TestAfterACrashThereIsOneRecord(t *testing.T) { afterCrash(t) }

// crashLeavesMore has a crash leave a longer file that was being written.
func crashLeavesMore(t testing.TB) {
	path := filepath.Join(t.TempDir(), "record")
	require.NoError(t, os.WriteFile(path+next, bytes.Repeat([]byte("x"), 1000), fileMode))
	require.NoError(t, Write(path, kind, []byte("short")))
	b, err := Read(path, kind)
	require.NoError(t, err)
	require.Equal(t, "short", string(b))
}

func TestWhatACrashHasLeftIsNoPartOfARecord(t *testing.T) { crashLeavesMore(t) }

// A file whose removal succeeded is in none of the directories that a crash can leave.
func TestARemovedFileStaysAway(t *testing.T) { removedStaysAway(t) }

func removedStaysAway(t testing.TB) {
	for left := range 4 {
		d := newForgetful("record", nil, left)
		if remove(d, "record") != nil {
			continue
		}
		for _, names := range d.names {
			require.Empty(t, names, "a crash brings the file back")
		}
		return
	}
	require.Fail(t, "no removal succeeded")
}

// removedEarlier removes a file that is gone for programs, and on the disk not yet.
func removedEarlier(t testing.TB) {
	d := newForgetful("record", nil, 4)
	require.NoError(t, d.remove("record"))
	require.NoError(t, remove(gone{d}, "record"))
	for _, names := range d.names {
		require.Empty(t, names, "a crash brings the file back")
	}
}

// gone is a disk whose files programs do not see any more.
type gone struct{ *forgetful }

func (gone) remove(string) error { return fs.ErrNotExist }

// stuck is a disk whose files cannot be removed.
type stuck struct{ *forgetful }

func (stuck) remove(string) error { return fs.ErrPermission }

func TestARemovalThatFailsIsTold(t *testing.T) {
	require.ErrorIs(t, remove(stuck{newForgetful("record", nil, 4)}, "record"), fs.ErrPermission)
}

func TestAnEarlierRemovalIsFlushed(t *testing.T) { removedEarlier(t) }

// directoriesAreFlushed has a power failure come right after directories were made: it leaves
// those whose names were there when the directory above was flushed.
func directoriesAreFlushed(t testing.TB) {
	root := t.TempDir()
	left := map[string]bool{root: true}
	flush := func(dir string) error {
		if !left[dir] {
			return nil
		}
		all, err := os.ReadDir(dir)
		for _, made := range all {
			left[filepath.Join(dir, made.Name())] = true
		}
		return err
	}
	dir := filepath.Join(root, "a", "b", "c")
	require.NoError(t, makeDir(dir, flush))
	require.DirExists(t, dir)
	require.True(t, left[dir], "the power failure takes it away")
	for _, killed := range []string{"", "x", "x/b"} {
		dir := filepath.Join(root, "x", "b", "c")
		require.ErrorIs(t, makeDir(dir, func(dir string) error {
			if dir == filepath.Join(root, killed) {
				return os.ErrProcessDone
			}
			return flush(dir)
		}), os.ErrProcessDone)
		require.NoError(t, makeDir(dir, flush), "the next process goes on")
		require.True(t, left[dir], "the power failure takes away what a killed process has made")
		require.NoError(t, os.RemoveAll(filepath.Join(root, "x")))
		clear(left)
		left[root] = true
	}
	require.ErrorIs(t, makeDir(filepath.Join(dir, "d"), func(string) error { return fs.ErrInvalid }), fs.ErrInvalid)
}

func TestADirectorySurvivesAPowerFailure(t *testing.T) { directoriesAreFlushed(t) }
