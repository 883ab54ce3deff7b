package fence

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/leader/edict"
)

// Errors to compare with [errors.Is].
var (
	// ErrInUse means that another process or another Fence has opened the file.
	ErrInUse = errors.New("fence: the file is in use")
	// ErrDamaged means that the content of the file is not valid, or that the file is gone.
	ErrDamaged = errors.New("fence: the file is damaged")
	// ErrClosed means that the fence has been closed.
	ErrClosed = errors.New("fence: closed")
)

// Fence is a verifier in a file. All methods are safe for concurrent use.
type Fence struct {
	path string
	lock *durable.Lock

	mu       sync.Mutex // guards the fields below and the file
	verifier edict.Verifier
	marked   bool                 // the lock says that there is a file
	names    map[string]*nameLock // of calls of Do in progress
	idle     sync.Cond            // no call of Do is in progress
	closed   bool
}

// nameLock serializes the edicts of one name.
type nameLock struct {
	sync.Mutex
	users int // holders and waiters
}

// Open opens the fence in a file, or creates one. The directory must exist. A
// second file, with ".lock" appended, locks the fence, and says that there is a first:
// without the first, it is damage. The error matches [ErrInUse] or [ErrDamaged], or is
// that of the file system.
//
// Do not replace a lost or damaged file with an empty one while old edicts may
// still arrive. Otherwise, write to a name only after its current leader has
// passed an edict to [Fence.Do].
func Open(path string) (*Fence, error) {
	path = durable.Abs(path) // the process may change its working directory
	f := &Fence{path: path, names: map[string]*nameLock{}}
	f.idle.L = &f.mu
	var err error
	if f.lock, err = durable.TakeLock(path + ".lock"); err != nil {
		if errors.Is(err, durable.ErrLocked) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, path)
		}
		return nil, fmt.Errorf("fence: %w", err)
	}
	if err := f.load(); err != nil {
		return nil, errors.Join(err, f.lock.Release())
	}
	return f, nil
}

func (f *Fence) load() error {
	var err error
	if f.marked, err = f.lock.Marked(); err != nil {
		return fmt.Errorf("fence: %w", err)
	}
	b, err := durable.Read(f.path, kind)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.marked:
		return fmt.Errorf("%w: %s is missing, and %s.lock says that it held the latest edicts: remove that too only when no older ones can arrive", ErrDamaged, f.path, f.path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	if err == nil {
		if f.verifier, err = parse(string(b)); err != nil {
			err = &durable.DamagedError{Path: f.path, What: err.Error()}
		}
	}
	if _, damaged := errors.AsType[*durable.DamagedError](err); damaged {
		return fmt.Errorf("%w: %w; it holds the latest edicts: remove it only when no older ones can arrive", ErrDamaged, err)
	}
	if err != nil {
		return fmt.Errorf("fence: %w", err)
	}
	return nil
}

// Do decides on an edict for a named resource and the digest of its payload. If
// the fence accepts the edict, Do writes it to disk and calls obey; other edicts
// for that name wait until obey returns. The verdict distinguishes new from
// repeated edicts; see [edict.Verdict].
//
// The error is that of obey. If obey was not called, the error is that of
// [edict.Verifier.Accept], of the file system, or [ErrClosed]. An edict counts as
// obeyed even if obey fails: its sender may repeat it, and the fence refuses older
// ones.
func (f *Fence) Do(name string, e *edict.Edict, payload edict.Digest, obey func(edict.Verdict) error) (edict.Verdict, error) {
	l, err := f.lockName(name)
	if err != nil {
		return edict.Refused, err
	}
	defer f.unlockName(name, l)
	verdict, err := f.accept(name, e, payload)
	if err != nil {
		return verdict, err
	}
	return verdict, obey(verdict)
}

func (f *Fence) lockName(name string) (*nameLock, error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, ErrClosed
	}
	l := f.names[name]
	if l == nil {
		l = &nameLock{}
		f.names[name] = l
	}
	l.users++
	f.mu.Unlock()
	l.Lock()
	return l, nil
}

func (f *Fence) unlockName(name string, l *nameLock) {
	l.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(f.names, name)
	}
	if len(f.names) == 0 {
		f.idle.Broadcast()
	}
}

// accept decides on an edict and writes a new one to disk.
func (f *Fence) accept(name string, e *edict.Edict, payload edict.Digest) (edict.Verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return edict.Refused, ErrClosed
	}
	held, known := f.verifier.Latest(name)
	verdict, err := f.verifier.Accept(name, e, payload)
	if verdict != edict.Obey {
		return verdict, err
	}
	if err := durable.Write(f.path, kind, []byte(format(&f.verifier))); err != nil {
		// The edict is not obeyed, so it must not affect later verdicts. If the
		// disk has it nevertheless, its sender may repeat it.
		if known {
			_ = f.verifier.Remember(name, &held)
		} else {
			f.verifier.Forget(name)
		}
		return edict.Refused, fmt.Errorf("fence: cannot record the edict: %w", err)
	}
	if !f.marked {
		f.marked = f.lock.Mark() == nil // or the next edict does it
	}
	return verdict, nil
}

// Latest returns the latest edict accepted for a name.
func (f *Fence) Latest(name string) (edict.Edict, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.verifier.Latest(name)
}

// Close waits until no edict is being obeyed and unlocks the file. An older edict
// could otherwise take effect after a newer one that was passed to the reopened
// fence. Edicts that wait for others of their name are refused with [ErrClosed].
// Close must not be called while an edict is obeyed by the same goroutine. The error
// is always nil.
func (f *Fence) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for len(f.names) > 0 {
		f.idle.Wait()
	}
	return f.lock.Release()
}
