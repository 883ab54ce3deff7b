package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/trust"
)

const fileMode = 0o600

// Open opens the journal in a directory, or makes both. It fails if another owner has
// the journal open, with an error that matches [durable.ErrLocked], and with
// [trust.ErrUntrusted] if other users may change the directory, or read or change a
// file of it. See [OpenOn] for damage.
func Open(dir string, o Options) (*Journal, error) {
	if err := MakeDir(dir); err != nil {
		return nil, err
	}
	lock, err := durable.TakeLock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", dir, err)
	}
	names, err := durable.OpenDir(dir)
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	j, err := OpenOn(system{dir, names}, o)
	if err != nil {
		return nil, errors.Join(err, names.Close(), lock.Release())
	}
	j.lock, j.names = lock, names
	return j, nil
}

// MakeDir makes a directory for a journal unless it exists. It fails, as [Open] does, if
// the directory cannot be made or other users may change it.
func MakeDir(dir string) error {
	if err := durable.MakeDir(dir); err != nil {
		return err
	}
	return trust.Dir(dir)
}

// system is a directory of the operating system. It stays open, so that Sync needs no descriptor.
type system struct {
	dir   string
	names *durable.Dir
}

func (s system) Path(name string) string { return filepath.Join(s.dir, name) }

func (s system) open(name string, flag int) (File, error) {
	f, err := trust.Open(s.Path(name), flag|os.O_RDWR, fileMode, trust.Private)
	if err != nil {
		return nil, classify(err)
	}
	return systemFile{f, flush}, nil
}

func (s system) Open(name string) (File, error) { return s.open(name, 0) }

func (s system) Create(name string) (File, error) {
	if err := os.Remove(s.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := s.open(name, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, durable.Unchanged(err) // no file was made
	}
	return f, nil
}

func (s system) List() (names []string, err error) {
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (s system) Rename(from, to string) error {
	return classify(durable.Rename(s.Path(from), s.Path(to)))
}

func (s system) Remove(name string) error { return os.Remove(s.Path(name)) }

func (s system) Sync() error { return s.names.Sync() }

// systemFile is a file of the operating system, which flush writes to the disk. Tests have
// another flush.
type systemFile struct {
	*os.File
	flush func(*os.File) error
}

func (f systemFile) WriteAt(b []byte, offset int64) (int, error) {
	n, err := f.File.WriteAt(b, offset)
	return n, classify(err)
}

func (f systemFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f systemFile) Allocate(size int64) error { return classify(allocate(f.File, size)) }

// Sync flushes the file. No failure of it matches ErrFull, even for lack of room: the system may
// have dropped what it could not write, and another flush would succeed without it.
func (f systemFile) Sync() error { return f.flush(f.File) }

// classify makes errors that say that the disk is full match ErrFull.
func classify(err error) error {
	if durable.Full(err) {
		return fmt.Errorf("%w: %w", ErrFull, cause(err))
	}
	return err
}
