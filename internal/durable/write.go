package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/failaware/failaware/internal/trust"
)

const (
	fileMode = 0o600
	dirMode  = 0o700
)

// next is appended to the name of a file while its successor is written.
const next = ".new"

// disk is the interface for writing a file. Tests have one that loses unflushed data.
type disk interface {
	create(path string) (file, error)
	rename(from, to string) error
	remove(path string) error
	openDir(dir string) (names, error)
}

// names is a directory whose names Sync makes durable.
type names interface {
	Sync() error
	Close() error
}

// syncDir makes the names in a directory durable.
func syncDir(d disk, dir string) error {
	n, err := d.openDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(n.Sync(), n.Close())
}

// ErrFull: the disk has no room for a record, or no more files can be opened. The file is as it
// was, and another attempt may succeed.
var ErrFull = errors.New("the disk is full")

// fullError matches ErrFull, and says which of the two is the case.
type fullError struct{ error }

func (e *fullError) Is(target error) bool { return target == ErrFull }

func (e *fullError) Unwrap() error { return e.error }

// Passes reports whether an error to write a file says that there is no room, or that no more
// files can be opened. Another attempt may succeed.
func Passes(err error) bool { return Full(err) || Exhausted(err) }

// Unchanged returns an error of a file that is as it was. It matches [ErrFull] if there is no room,
// or no more files can be opened.
func Unchanged(err error) error {
	if Passes(err) {
		return &fullError{err}
	}
	return err
}

type file interface {
	io.WriteCloser
	Sync() error
}

// Write replaces the record in a file, or creates the file. When it returns nil, the
// record is on the disk. After an error, or a crash, either the old or the new record
// is: the old one, if the error matches [ErrFull]. The directory must exist.
func Write(path string, k Kind, content []byte) error {
	if err := check(k, content); err != nil {
		return err
	}
	return write(system{}, path, seal(k, content))
}

// Replace is [Write] for a file that people write too: b is all of its content. The file
// keeps its owner, its group and its mode, so that who could read it still can. A new
// file can be read by its owner only.
func Replace(path string, b []byte) error { return write(keeper{path: path}, path, b) }

// Create is for a file that people look after from then on: b is all of its content. It
// replaces nothing: the error matches [fs.ErrExist] if there is such a file. When it returns
// nil, all of the file is on the disk; after an error there is none. A crash may leave a
// part. The file can be read by its owner only.
func Create(path string, b []byte) error { return create(maker{}, path, b) }

func create(d disk, path string, b []byte) error {
	f, err := d.create(path)
	if err != nil {
		return err
	}
	if err = fill(f, b); err == nil {
		err = syncDir(d, filepath.Dir(path))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("create %s: %w", path, err), d.remove(path))
	}
	return nil
}

func write(d disk, path string, b []byte) error {
	// Nothing is opened behind the renaming, when the old record is gone already.
	dir, err := d.openDir(filepath.Dir(path))
	if err != nil {
		return Unchanged(fmt.Errorf("write %s: %w", path, err))
	}
	defer dir.Close()
	f, err := d.create(path + next)
	if err != nil {
		return Unchanged(err)
	}
	// The content is flushed before the renaming: the name must not lead to missing bytes.
	if err = fill(f, b); err == nil {
		err = d.rename(path+next, path)
	}
	if err != nil {
		_ = d.remove(path + next) // it takes room, and may hold keys
		return Unchanged(fmt.Errorf("write %s: %w", path, err))
	}
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("write %s: flush its directory: %w", path, err)
	}
	return nil
}

// fill writes and flushes all of a new file, and closes it.
func fill(f file, b []byte) error {
	_, err := f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Remove removes a file, if there is one. When it returns nil, no crash brings the file
// back.
func Remove(path string) error { return remove(system{}, path) }

func remove(d disk, path string) error {
	if err := d.remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Without a file too: an earlier removal may not have been flushed.
	if err := syncDir(d, filepath.Dir(path)); err != nil {
		return fmt.Errorf("remove %s: flush its directory: %w", path, err)
	}
	return nil
}

// Read returns the content of the record in a file. The error matches [fs.ErrNotExist]
// when there is no file, is a [*DamagedError] when the file is damaged or holds another
// kind of record, is a [*LaterError] when a newer build has written it, and matches
// [trust.ErrUntrusted] when another user may have written it. The record is on the disk, also
// if its writer was killed before it knew that.
func Read(path string, k Kind) ([]byte, error) { return read(system{}, path, k) }

func read(d disk, path string, k Kind) ([]byte, error) {
	f, err := trust.Open(path, os.O_RDONLY, 0, trust.Public)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	most := k.most() + 1<<10 // with the first line
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if len(b) > most {
		return nil, &DamagedError{path, fmt.Sprintf("it is larger than %d bytes", most)}
	}
	content, err := open(k, path, b)
	if err != nil {
		return nil, err
	}
	// The content was flushed before it got its name. The name may be in memory only.
	if err := syncDir(d, filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("read %s: flush its directory: %w", path, err)
	}
	return content, nil
}

// MakeDir creates a directory and its missing parents, so that they survive a power
// failure. Existing directories are no error.
func MakeDir(dir string) error { return makeDir(dir, SyncDir) }

func makeDir(dir string, flush func(dir string) error) error {
	above := filepath.Dir(dir)
	switch _, err := os.Stat(dir); {
	case err == nil:
		// A process that made it may have been killed before it flushed the name. Where
		// this one may not read the directory above, it has not made any there.
		_ = flush(above)
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if above != dir {
		if err := makeDir(above, flush); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return flush(above)
}

// system is the disk of the operating system.
type system struct{}

func (system) create(path string) (file, error) {
	f, err := trust.Open(path, os.O_CREATE|os.O_WRONLY, fileMode, trust.Private)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (system) rename(from, to string) error { return Rename(from, to) }

func (system) remove(path string) error { return os.Remove(path) }

func (system) openDir(dir string) (names, error) { return OpenDir(dir) }

// maker is a disk on which no new file replaces another one.
type maker struct{ system }

func (maker) create(path string) (file, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
}

// keeper is a disk whose new files have the owner, the group and the mode of the present
// one.
type keeper struct {
	system
	path string // of the present file
}

func (k keeper) create(path string) (file, error) {
	// A crash may have left a file that belongs to the other owner already.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := k.system.create(path)
	if err != nil {
		return nil, err
	}
	if err := k.keep(f.(*os.File)); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return f, nil
}

func (k keeper) keep(f *os.File) error {
	present, err := os.Stat(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := keepOwner(f, present); err != nil {
		return fmt.Errorf("%s cannot keep its owner and group: %w", k.path, err)
	}
	return f.Chmod(present.Mode().Perm())
}
