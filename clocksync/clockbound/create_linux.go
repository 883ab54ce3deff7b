package clockbound

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/clocksync/serve"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/trust"
)

// volatile lists the directories that the system empties at boot.
var volatile = []string{"/run", "/var/run"}

const (
	fileMode = 0o644 // readable by all users
	dirMode  = 0o755

	// foreignWatch is how long a recently updated but unlocked segment is watched:
	// twice the longest time between two updates that the protocol allows. Writers
	// of other programs take no lock.
	foreignWatch = 2 * time.Second
	watchPeriod  = 10 * time.Millisecond
	// maxRaces bounds retries after another process removed or created the file
	// between two steps of this one.
	maxRaces = 8
)

// Create opens or creates the segment at path and starts to write the time of
// source to it. It also creates the segment's directory if that is missing from /run
// or /var/run, which are empty after a boot. Other directories must exist.
//
// Create refuses a file of another user, who could truncate it and so kill the
// process that writes to it.
//
// Create takes over the segment of a crashed writer, and programs that have it
// mapped continue to read it. If the segment was updated within the last five
// seconds but does not have this package's lock, Create watches it for two seconds,
// or until ctx is done. Another program may be writing it; the error then matches
// [ErrInUse]. The error matches [ErrMalformed] if the file is not a segment.
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
	stepped := make(chan struct{}, 1)
	go func() {
		for waiter.Wait() {
			select {
			case stepped <- struct{}{}:
			default: // a notice is already pending
			}
		}
	}()
	w := &Writer{author: a, seg: seg, stepped: stepped, stop: make(chan struct{}), done: make(chan struct{})}
	w.free = func() error {
		return errors.Join(steps.Close(), waiter.Close(), unmap(seg), file.Close())
	}
	go w.run()
	return w, nil
}

// acquire locks and maps the file.
func acquire(ctx context.Context, path string, c clocks) (*os.File, *segment, error) {
	for range maxRaces {
		f, fresh, err := openOrMake(path)
		switch {
		case errors.Is(err, fs.ErrExist) || errors.Is(err, errReplaced):
			continue
		case err != nil:
			return nil, nil, err
		}
		seg, err := mapped(f, unix.PROT_READ|unix.PROT_WRITE)
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
		if !fresh {
			if err := checkUnused(ctx, seg, c); err != nil {
				return nil, nil, errors.Join(err, unmap(seg), f.Close())
			}
		}
		return f, seg, nil
	}
	return nil, nil, errors.New("other processes keep creating and removing the file")
}

var errReplaced = errors.New("the file was replaced")

// openOrMake opens or creates the file and locks it.
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
	if err == nil {
		err = trust.Check(f, trust.Public) // its owner can truncate it, and a write would then kill this process
	}
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, false, nil
}

// lock locks an open file. A crash releases the lock.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}

// sameFile checks that f is still the file at path.
func sameFile(f *os.File, path string) error {
	have, err := f.Stat()
	if err != nil {
		return err
	}
	if !have.Mode().IsRegular() {
		return fmt.Errorf("%w: not a regular file", ErrMalformed)
	}
	there, err := os.Lstat(path)
	if err != nil || !os.SameFile(have, there) {
		return errReplaced
	}
	return nil
}

// makeFile creates an unwritten segment. The file is complete and locked when it
// appears at path: makeFile creates it under a temporary name and links it, which
// fails if path exists.
func makeFile(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	if slices.Contains(volatile, filepath.Dir(dir)) {
		if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	var header [segmentSize]byte
	binary.NativeEndian.PutUint32(header[offMagic:], magic0)
	binary.NativeEndian.PutUint32(header[offMagic+4:], magic1)
	binary.NativeEndian.PutUint32(header[offSize:], segmentSize)
	_, err = f.Write(header[:]) // with version and generation 0, so not ready
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

// mapped maps a file that contains a segment of this version.
func mapped(f *os.File, protection int) (*segment, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < segmentSize {
		return nil, fmt.Errorf("%w: %d bytes, fewer than %d", ErrMalformed, info.Size(), segmentSize)
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, segmentSize, protection, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	seg := (*segment)(memory)
	if version, _ := seg.header(); !seg.ours() || version != 0 && version != layoutVersion {
		return nil, errors.Join(fmt.Errorf("%w: unknown header", ErrMalformed), unix.Munmap(memory))
	}
	return seg, nil
}

func unmap(seg *segment) error {
	return os.NewSyscallError("munmap", unix.Munmap(unsafe.Slice(&seg[0], segmentSize)))
}

// checkUnused checks that no writer without a lock is alive.
func checkUnused(ctx context.Context, seg *segment, c clocks) error {
	var r record
	if err := seg.read(&r); err == nil || errors.Is(err, ErrNotReady) {
		if now := c.coarse(); now < r.asOf || now-r.asOf > int64(Grace) {
			return nil // written before the last boot, or long ago
		}
	}
	_, first := seg.header()
	ctx, cancel := context.WithTimeout(ctx, foreignWatch)
	defer cancel()
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	for {
		if _, now := seg.header(); now != first {
			return fmt.Errorf("%w: the generation changed from %d to %d", ErrInUse, first, now)
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
