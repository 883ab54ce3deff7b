package clockbound

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/internal/hwclock"
)

const (
	fileMode = 0o644 // everybody may know the time
	dirMode  = 0o755

	// foreignWatch is for how long a fresh segment that nobody has locked is
	// watched: twice the longest time between two updates that the protocol
	// allows. Writers other than this one take no lock.
	foreignWatch = 2 * time.Second
	watchEvery   = 10 * time.Millisecond
	// raceTries bounds how often another process may remove or make the file
	// between two steps of this one.
	raceTries = 8
)

// Create opens the segment at path, or makes it, and the last directory of the
// path if that is missing, and begins to write what source says.
//
// A segment that a crashed writer has left is taken over, and programs that have
// it mapped go on. If it was updated within the last five seconds, and nobody
// holds this package's lock, Create watches it for two seconds, or until ctx is
// done: another kind of writer may be alive. The error then matches [ErrInUse],
// and it matches [ErrMalformed] if the file is something else.
func Create(ctx context.Context, path string, source serve.Source, opts Options) (*Writer, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("clockbound: %w", err)
	}
	if opts.Slew == 0 {
		opts.Slew = DefaultSlew
	}
	tick, err := resolution()
	if err != nil {
		return nil, err
	}
	steps, err := hwclock.NewStepWatch()
	if err != nil {
		return nil, err
	}
	waiter, err := hwclock.NewStepWatch()
	if err != nil {
		return nil, errors.Join(err, steps.Close())
	}
	a := author{source: source, clocks: systemClocks{}, steps: steps, tick: tick, drift: driftOf(opts.Drift, opts.Slew)}
	file, seg, err := acquire(ctx, path, a.clocks)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("clockbound: %s: %w", path, err), steps.Close(), waiter.Close())
	}
	told := make(chan struct{}, 1)
	go func() {
		for waiter.Wait() {
			select {
			case told <- struct{}{}:
			default: // one that waits to be seen is as good as two
			}
		}
	}()
	w := &Writer{author: a, seg: seg, told: told, stop: make(chan struct{}), done: make(chan struct{})}
	w.free = func() error {
		return errors.Join(steps.Close(), waiter.Close(), unmap(seg), file.Close())
	}
	go w.run()
	return w, nil
}

// acquire returns the locked file and its memory.
func acquire(ctx context.Context, path string, c clocks) (*os.File, *segment, error) {
	for range raceTries {
		f, fresh, err := openOrMake(path)
		switch {
		case errors.Is(err, fs.ErrExist) || errors.Is(err, errReplaced):
			continue // somebody else was in between
		case err != nil:
			return nil, nil, err
		}
		seg, err := mapped(f, unix.PROT_READ|unix.PROT_WRITE)
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
		if !fresh {
			if err := unowned(ctx, seg, c); err != nil {
				return nil, nil, errors.Join(err, unmap(seg), f.Close())
			}
		}
		return f, seg, nil
	}
	return nil, nil, errors.New("the file is made and removed all the time")
}

var errReplaced = errors.New("the file was replaced")

// openOrMake returns the file, locked.
func openOrMake(path string) (f *os.File, fresh bool, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = makeFile(path)
		return f, true, err
	}
	if err != nil {
		return nil, false, err
	}
	if err = lock(f); err == nil {
		err = sameFile(f, path)
	}
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, false, nil
}

// lock takes the lock of an open file; a crash gives it back.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}

// sameFile makes sure that the lock is on the file that others find at the path.
func sameFile(f *os.File, path string) error {
	have, err := f.Stat()
	if err != nil {
		return err
	}
	if !have.Mode().IsRegular() {
		return fmt.Errorf("%w: it is no regular file", ErrMalformed)
	}
	there, err := os.Lstat(path)
	if err != nil || !os.SameFile(have, there) {
		return errReplaced
	}
	return nil
}

// makeFile makes a segment in which nothing has been written. It appears under its
// name complete and locked: it is made under another, and linked, which fails if
// the name is taken.
func makeFile(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	var header [segmentSize]byte
	binary.NativeEndian.PutUint32(header[offMagic:], magic0)
	binary.NativeEndian.PutUint32(header[offMagic+4:], magic1)
	binary.NativeEndian.PutUint32(header[offSize:], segmentSize)
	_, err = f.Write(header[:]) // version and generation are zero: not to be used yet
	if err == nil {
		err = f.Chmod(fileMode)
	}
	if err == nil {
		err = lock(f)
	}
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	if removed := os.Remove(f.Name()); err == nil {
		err = removed
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// mapped maps the file. What is not a segment of this version is not touched.
func mapped(f *os.File, protection int) (*segment, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < segmentSize {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrMalformed, info.Size())
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, segmentSize, protection, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	seg := (*segment)(memory)
	if version, _ := seg.header(); !seg.ours() || version != 0 && version != layoutVersion {
		return nil, errors.Join(fmt.Errorf("%w: its header is of something else", ErrMalformed), unix.Munmap(memory))
	}
	return seg, nil
}

func unmap(seg *segment) error {
	return os.NewSyscallError("munmap", unix.Munmap(unsafe.Slice(&seg[0], segmentSize)))
}

// unowned makes sure that no writer without a lock is alive.
func unowned(ctx context.Context, seg *segment, c clocks) error {
	var r record
	if err := seg.read(&r); err == nil || errors.Is(err, ErrNotReady) {
		if now := c.coarse(); now < r.asOf || now-r.asOf > int64(Grace) {
			return nil // from before the boot, or nobody has written for long
		}
	}
	_, first := seg.header()
	ctx, cancel := context.WithTimeout(ctx, foreignWatch)
	defer cancel()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if _, now := seg.header(); now != first {
			return fmt.Errorf("%w: its generation changed from %d to %d", ErrInUse, first, now)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil
			}
			return context.Cause(ctx)
		}
	}
}
