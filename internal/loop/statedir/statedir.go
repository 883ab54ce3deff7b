// Package statedir keeps the state that must outlive a node's process: the longest
// time for which it may have voted, how many incarnations it has had, and the epoch
// of its quorum system. A lock keeps a second process with the same id away.
package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/timed"
)

var (
	// ErrInUse: another process holds the lock for the id.
	ErrInUse = errors.New("failaware: the state is locked by another process")
	// ErrDamaged: a file does not hold what was written there.
	ErrDamaged = errors.New("failaware: damaged state")
)

// Dir is the state of one node in a directory, which nodes may share. Methods are
// safe for concurrent use; on a nil *Dir, those that the documentation names do
// nothing.
type Dir struct {
	path string
	id   timed.NodeID
	// earlier is the lock time that the file had when this process began, or the
	// configured one if that is longer.
	earlier time.Duration

	mu     sync.Mutex
	lock   *durable.Lock // nil once closed
	stored record        // the content of the file
}

// record is the content of a node's state file.
type record struct {
	// Incarnations counts the node's incarnations, the present one included. Of two
	// votes of one node, that of the later incarnation is the later vote, regardless of
	// its clock.
	Incarnations uint64
	// MaxLock is the longest time for which the node may have voted.
	MaxLock time.Duration
}

// recordKind is the kind of record of the state file. Its content is text, so that
// people can read it.
var recordKind = durable.Kind{Name: "node-state", Version: 1}

// Open locks the state of a node, counts an incarnation, and makes sure that the
// file says at least maxLock before the node votes. The error matches [ErrInUse] or
// [ErrDamaged], or is the system's.
func Open(dir string, id timed.NodeID, maxLock time.Duration) (*Dir, error) {
	if err := durable.MakeDir(dir); err != nil {
		return nil, fmt.Errorf("failaware: the state directory: %w", err)
	}
	d := &Dir{id: id, path: filepath.Join(dir, fmt.Sprintf("node-%v.state", id))}
	var err error
	if d.lock, err = durable.TakeLock(filepath.Join(dir, fmt.Sprintf("node-%v.lock", id))); err != nil {
		if errors.Is(err, durable.ErrLocked) {
			return nil, fmt.Errorf("%w: node %v already runs with the state directory %s", ErrInUse, id, dir)
		}
		return nil, fmt.Errorf("failaware: the state directory: %w", err)
	}
	if err := d.begin(maxLock); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// begin reads the file, if there is one, and counts the incarnation.
func (d *Dir) begin(maxLock time.Duration) error {
	b, err := durable.Read(d.path, recordKind)
	if err == nil {
		if d.stored, err = parse(string(b), d.id); err != nil {
			err = &durable.DamagedError{Path: d.path, What: err.Error()}
		}
	}
	if _, damaged := errors.AsType[*durable.DamagedError](err); damaged {
		return fmt.Errorf("%w: %w; remove the file only if node %v has not run within the last hour, "+
			"and if no edict that names a vote of it is in use", ErrDamaged, err, d.id)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("failaware: the state directory: %w", err)
	}
	d.earlier = max(d.stored.MaxLock, maxLock)
	return d.write(record{d.stored.Incarnations + 1, d.earlier})
}

func format(id timed.NodeID, r record) string {
	return fmt.Sprintf("node %d incarnations %d maxlock %d\n", id, r.Incarnations, r.MaxLock.Nanoseconds())
}

// parse reads what format wrote. The checksum was right, so text that is wrong was
// written by another program, or for another node.
func parse(text string, id timed.NodeID) (record, error) {
	var r record
	var node int
	_, err := fmt.Sscanf(text, "node %d incarnations %d maxlock %d\n", &node, &r.Incarnations, (*int64)(&r.MaxLock))
	switch {
	case err != nil || format(timed.NodeID(node), r) != text:
		return r, errors.New("it is not the state of a node")
	case node != int(id):
		return r, fmt.Errorf("it belongs to node %d", node)
	case r.Incarnations == math.MaxUint64:
		return r, errors.New("it has counted more incarnations than there can be")
	case r.MaxLock < 0 || r.MaxLock > timed.MaxDuration:
		return r, fmt.Errorf("its lock time %v is outside [0, %v]", r.MaxLock, timed.MaxDuration)
	}
	return r, nil
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
// packet of that incarnation leaves. After an error the incarnation's votes carry the
// previous number with another boot id, and the two cannot be compared. On nil it
// does nothing.
func (d *Dir) Count() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.write(record{d.stored.Incarnations + 1, d.stored.MaxLock})
}

// Lower writes a shorter lock time. It must only be called once no vote of an
// earlier process can be in force.
func (d *Dir) Lower(maxLock time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock == nil || maxLock >= d.stored.MaxLock {
		return nil
	}
	return d.write(record{d.stored.Incarnations, maxLock})
}

func (d *Dir) write(r record) error {
	if err := durable.Write(d.path, recordKind, []byte(format(d.id, r))); err != nil {
		return fmt.Errorf("failaware: cannot write the state: %w", err)
	}
	d.stored = r
	return nil
}

// Close releases the lock. Closing again, or nil, does nothing.
func (d *Dir) Close() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.lock.Release()
	d.lock = nil
	return err
}
