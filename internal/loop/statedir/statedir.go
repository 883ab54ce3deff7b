// Package statedir keeps the state that must outlive a node's process: the longest
// time for which it may have voted, how many incarnations it has had, the sequences of
// its views, and the epoch of its quorum system. A lock keeps a second process with the
// same id away.
package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Dir is the state of one node in a directory, which nodes may share. Methods are
// safe for concurrent use; on a nil *Dir, those that the documentation names do
// nothing.
type Dir struct {
	path string
	id   timed.NodeID
	// from is the group whose state this was, if the group has another name now.
	from string
	// earlier is the lock time that the file had when this process began, or the
	// configured one if that is longer.
	earlier time.Duration
	// former is the bound of the sequences of views that the file had when this process began.
	former uint64
	put    func(path string, k durable.Kind, content []byte) error // durable.Write, unless WriteBy was called
	views  atomic.Uint64                                           // that are reserved: stored.Views

	// keeping is held while the members are written, and taken before mu: nothing rests on them,
	// so nobody waits for that but Begin and Close.
	keeping sync.Mutex
	members []byte // the content of the third file; nil: it stays

	mu     sync.Mutex
	lock   *durable.Lock // nil once closed
	begun  bool          // Begin has written the files
	stored record        // the content of the file; before Begin, what it will be
	begins *epoch.State  // what Begin writes to the other file; nil: nothing
	failed error         // of a write that may have changed a file: none comes after it
	epoch  []byte        // the content of that file, behind its counters; nil: none, or not read yet
}

// Open locks the state of a node and reads it. It writes nothing: a start that fails before
// [Dir.Begin] rules no later one. The error matches [ErrInUse], [ErrGroup] or [ErrDamaged], or
// is the system's.
func Open(dir string, o Owner, maxLock time.Duration) (*Dir, error) {
	lock, err := takeLock(dir, fmt.Sprintf("node-%v.lock", o.ID), o.holder(dir))
	if err != nil {
		return nil, err
	}
	d := &Dir{id: o.ID, path: File(dir, o.ID), lock: lock, put: durable.Write}
	r, err := d.check()
	if err == nil {
		d.from, err = o.takes(d.path, r.Group)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	r.Group = o.Group
	d.earlier, d.former = max(r.MaxLock, maxLock), r.Views
	r.Incarnations, r.MaxLock = r.Incarnations+1, d.earlier
	d.take(r)
	return d, nil
}

// WriteBy has a function write the files instead of [durable.Write], before [Dir.Begin].
// Simulated disks do.
func (d *Dir) WriteBy(put func(path string, k durable.Kind, content []byte) error) { d.put = put }

// take notes the content of the file. The caller holds mu, or is Open.
func (d *Dir) take(r record) {
	d.stored = r
	d.views.Store(r.Views)
}

// File returns the name of the file of a node in a directory.
func File(dir string, id timed.NodeID) string {
	return filepath.Join(dir, fmt.Sprintf("node-%v.state", id))
}

// Begin counts the incarnation, and writes the maximum lock time, the epoch, and the members
// that were heard before. The node must not vote before. After an error that matches
// [ErrFull] it may be called again. On nil it does nothing.
func (d *Dir) Begin() error {
	if d == nil {
		return nil
	}
	d.keeping.Lock()
	defer d.keeping.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = true
	err := d.write(d.stored)
	if err == nil && d.begins != nil {
		err = d.putEpoch(d.begins)
	}
	if err == nil && d.members != nil {
		err = d.writeMembers()
	}
	d.begun = err == nil
	return err
}

// check returns the content of the state file if it fits the file of the epoch.
func (d *Dir) check() (record, error) {
	r, known, err := d.read()
	if err != nil {
		return r, err
	}
	if r.HasEpoch, err = d.checkHalves(known, r.HasEpoch); err != nil {
		return r, err
	}
	return r, d.checkCounters(&r)
}

// read returns the content of the state file; known is false if there is none.
func (d *Dir) read() (r record, known bool, err error) {
	b, err := durable.Read(d.path, recordKind)
	if err == nil {
		r, err = parse(recordKind.Version, string(b), d.id)
	} else if errors.Is(err, fs.ErrNotExist) {
		return record{}, false, nil
	} else {
		for _, k := range formerKinds {
			if b, former := durable.Read(d.path, k); former == nil {
				r, err = parse(k.Version, string(b), d.id)
				break
			}
		}
	}
	if wrong, ok := errors.AsType[contentError](err); ok {
		err = &durable.DamagedError{Path: d.path, What: string(wrong)}
	}
	if err != nil {
		return r, true, readError(err, d.remedy())
	}
	return r, true, nil
}

// checkHalves returns an error if one of the two files is lost. A state file is older
// than the epoch beside it, and says whether it was ever written; listed is what it
// says. An epoch that the state file does not mention was written just before a crash,
// or before the format had room for it.
func (d *Dir) checkHalves(known, listed bool) (has bool, err error) {
	_, err = os.Lstat(d.epochPath())
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, systemError(err)
	case err == nil && !known:
		return true, d.half(d.path, d.epochPath())
	case err != nil && listed:
		return true, d.half(d.epochPath(), d.path)
	}
	return err == nil, nil
}

func (d *Dir) half(lost, rest string) error {
	return fmt.Errorf("%w: half of the state of node %v is lost: there is no %s beside %s; "+replaceNode, ErrDamaged, d.id, lost, rest)
}

// replaceNode says what is left when one of the two files cannot be had any more.
const replaceNode = "restore it. If that is impossible, remove the rest as well, " +
	"and let the node come back with JoinQuorum, and under a new id (docs/how-to/disasters.md says when its own is safe)"

// remedy says what to do about a damaged state file. To remove it alone is no remedy
// beside an epoch: the node would not start, because half of its state is lost.
func (d *Dir) remedy() string {
	if _, err := os.Lstat(d.epochPath()); !errors.Is(err, fs.ErrNotExist) {
		return replaceNode
	}
	return fmt.Sprintf("remove the file only if node %v has not run within the last hour, "+
		"and if no edict that names a vote of it is in use", d.id)
}

// FormerViews returns what [Dir.FormerViews] will be when a node opens a directory, which
// FormerViews does not change. The error is that of Open.
func FormerViews(dir string, id timed.NodeID) (uint64, error) {
	d := &Dir{id: id, path: File(dir, id)}
	r, err := d.check()
	return r.Views, err
}

// Earlier returns the longest time for which an earlier process may have voted;
// zero for nil.
func (d *Dir) Earlier() time.Duration {
	if d == nil {
		return 0
	}
	return d.earlier
}

// Incarnation returns the number of the node's present incarnation; 0, which no node
// with a state directory has, for nil.
func (d *Dir) Incarnation() uint64 {
	if d == nil {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stored.Incarnations
}

// Count counts another incarnation, durably, which must be done before the first
// packet of that incarnation leaves. On nil it does nothing.
func (d *Dir) Count() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	next := d.stored
	next.Incarnations++
	return d.write(next)
}

// FormerViews returns a bound of the sequences of the views that earlier processes of the node
// have taken part in; 0 for nil.
func (d *Dir) FormerViews() uint64 {
	if d == nil {
		return 0
	}
	return d.former
}

// reserved is how many sequences of views one write covers in advance.
const reserved = 1 << 10

// ReserveViews makes sure that the file has the sequence of a view, before the node takes
// part in it. It waits for nobody's write unless it needs one. After an error that matches
// [ErrFull] it may be called again. On nil it does nothing.
func (d *Dir) ReserveViews(sequence uint64) error {
	if d == nil || sequence <= d.views.Load() {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if sequence <= d.stored.Views {
		return nil
	}
	next := d.stored
	next.Views = min(sequence+reserved, membership.MaxSequence)
	return d.write(next)
}

// Lower writes a shorter lock time. It must only be called once no vote of an
// earlier process can be in force. After an error the node may go on: the file has one of the
// two times.
func (d *Dir) Lower(maxLock time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock == nil || maxLock >= d.stored.MaxLock {
		return nil
	}
	next, failed := d.stored, d.failed
	next.MaxLock = maxLock
	err := d.write(next)
	d.failed = failed
	return err
}

// write writes the state file, unless Begin has yet to. The caller holds mu.
func (d *Dir) write(r record) error {
	if d.lock == nil {
		return errClosed
	}
	if !d.begun {
		d.take(r)
		return nil
	}
	if err := d.replace(d.path, recordKind, []byte(format(recordKind.Version, d.id, r))); err != nil {
		return fmt.Errorf("failaware: cannot write the state: %w", err)
	}
	if counted := r.counters() != d.stored.counters(); counted && d.epoch != nil {
		// An older copy of what was just written is refused. Another attempt writes both.
		if err := d.writeEpoch(d.epoch, r.counters()); err != nil {
			return err
		}
	}
	d.take(r)
	return nil
}

// replace replaces one of the two files. It writes nothing after a failure that leaves open what
// a file has: with the counters of before, one file would be older than the other, and rule later
// starts. The caller holds mu.
func (d *Dir) replace(path string, k durable.Kind, content []byte) error {
	if d.failed != nil {
		return d.failed
	}
	err := d.put(path, k, content)
	if err != nil && !errors.Is(err, ErrFull) {
		d.failed = err
	}
	return err
}

// Close releases the lock. Closing again, or nil, does nothing.
func (d *Dir) Close() error {
	if d == nil {
		return nil
	}
	d.keeping.Lock()
	defer d.keeping.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.lock.Release()
	d.lock = nil
	return err
}
