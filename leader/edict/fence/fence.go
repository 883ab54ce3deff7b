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
	// ErrInUse: another process, or another Fence, has the file.
	ErrInUse = errors.New("fence: the file is in use")
	// ErrDamaged: the file is not as it was written.
	ErrDamaged = errors.New("fence: the file is damaged")
	// ErrClosed: the fence has been closed.
	ErrClosed = errors.New("fence: closed")
)

// Fence is a verifier in a file. All methods are safe for concurrent use.
type Fence struct {
	path string
	lock *durable.Lock

	mu       sync.Mutex // of what follows, and of the file
	verifier edict.Verifier
	busy     map[string]*turn
	closed   bool
}

// turn lets the edicts of one name pass one at a time.
type turn struct {
	sync.Mutex
	users int // that have it or wait for it
}

// Open opens the fence in a file, or begins one if there is no file. The
// directory must exist; a second file, with ".lock" appended, guards it. The error
// matches [ErrInUse], or [ErrDamaged] when the file cannot be trusted, or is the
// system's.
//
// A file that is lost or damaged is not to be begun anew while an edict of the
// past may still arrive: write to the names only when their leaders have shown an
// edict to [Fence.Do] since.
func Open(path string) (*Fence, error) {
	f := &Fence{path: path, busy: map[string]*turn{}}
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
	b, err := durable.Read(f.path, kind)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if f.verifier, err = parse(string(b)); err != nil {
			err = &durable.DamagedError{Path: f.path, What: err.Error()}
		}
	}
	if _, damaged := errors.AsType[*durable.DamagedError](err); damaged {
		return fmt.Errorf("%w: %w; it says which edicts were obeyed: remove it only when no older ones can arrive any more", ErrDamaged, err)
	}
	if err != nil {
		return fmt.Errorf("fence: %w", err)
	}
	return nil
}

// Do lets an edict for a named resource pass, or refuses it, and calls obey in
// between: when the edict is on the disk, and before any other edict of that name
// passes. payload is the digest of what is to be obeyed. The verdict tells whether
// the edict is passed for the first time ([edict.Verdict]).
//
// The error is that of obey, or says why obey was not called: one of
// [edict.Verifier.Accept], of the disk, or [ErrClosed]. An edict whose obey has
// failed counts as obeyed: it may be repeated, and no older one passes.
func (f *Fence) Do(name string, e *edict.Edict, payload edict.Digest, obey func(edict.Verdict) error) (edict.Verdict, error) {
	t := f.enter(name)
	defer f.leave(name, t)
	verdict, err := f.pass(name, e, payload)
	if err != nil {
		return verdict, err
	}
	return verdict, obey(verdict)
}

// enter waits for the name's turn.
func (f *Fence) enter(name string) *turn {
	f.mu.Lock()
	t := f.busy[name]
	if t == nil {
		t = &turn{}
		f.busy[name] = t
	}
	t.users++
	f.mu.Unlock()
	t.Lock()
	return t
}

func (f *Fence) leave(name string, t *turn) {
	t.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(f.busy, name)
	}
}

// pass decides on an edict, and writes it down.
func (f *Fence) pass(name string, e *edict.Edict, payload edict.Digest) (edict.Verdict, error) {
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
		// The edict is not obeyed, and what the fence says next must not rest on
		// it; if the disk has it all the same, its sender may repeat it.
		if known {
			_ = f.verifier.Remember(name, &held)
		} else {
			f.verifier.Forget(name)
		}
		return edict.Refused, fmt.Errorf("fence: the edict cannot be noted: %w", err)
	}
	return verdict, nil
}

// Latest returns the edict that passed last for a name.
func (f *Fence) Latest(name string) (edict.Edict, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.verifier.Latest(name)
}

// Close waits for the edicts that are being noted, and gives the file free. The
// error is always nil.
func (f *Fence) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return f.lock.Release()
}
