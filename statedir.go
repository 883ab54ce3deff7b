package failaware

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

// stateFiles is what a node keeps in its state directory: a lock against other
// processes with the same id, how many incarnations it has had, and the longest
// time for which it may have voted.
type stateFiles struct {
	mu     sync.Mutex
	lock   *durable.Lock // nil once closed
	path   string
	id     NodeID
	stored nodeState     // what the file says
	start  time.Duration // the lock time that it said when this process began, or the configured value if larger
}

// nodeState is what the state file of a node says.
type nodeState struct {
	// Incarnations counts the node's incarnations, this one included: of two
	// votes of one node, that of the later incarnation is the later one,
	// whatever its clock said.
	Incarnations uint64
	// MaxLock is the longest time for which the node may have voted.
	MaxLock time.Duration
}

// stateKind is the kind of record of the state file. Its content is text, so
// that people can read it.
var stateKind = durable.Kind{Name: "node-state", Version: 1}

// openState locks the state of a node, counts the incarnation, and makes sure that
// the file says at least maxLock before anything is voted.
func openState(dir string, id NodeID, maxLock time.Duration) (*stateFiles, error) {
	if err := durable.MakeDir(dir); err != nil {
		return nil, fmt.Errorf("failaware: the state directory: %w", err)
	}
	f := &stateFiles{id: id, path: filepath.Join(dir, fmt.Sprintf("node-%v.state", id))}
	var err error
	if f.lock, err = durable.TakeLock(filepath.Join(dir, fmt.Sprintf("node-%v.lock", id))); err != nil {
		if errors.Is(err, durable.ErrLocked) {
			return nil, fmt.Errorf("%w: node %v already runs with the state directory %s", ErrInUse, id, dir)
		}
		return nil, fmt.Errorf("failaware: the state directory: %w", err)
	}
	if err := f.begin(maxLock); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// begin reads the file, if there is one, and counts the incarnation.
func (f *stateFiles) begin(maxLock time.Duration) error {
	b, err := durable.Read(f.path, stateKind)
	if err == nil {
		if f.stored, err = parseState(string(b), f.id); err != nil {
			err = &durable.DamagedError{Path: f.path, What: err.Error()}
		}
	}
	if _, damaged := errors.AsType[*durable.DamagedError](err); damaged {
		return fmt.Errorf("%w: %w; remove the file only if node %v has not run within the last hour, "+
			"and if no edict that names a vote of it is in use", ErrDamaged, err, f.id)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("failaware: the state directory: %w", err)
	}
	f.start = max(f.stored.MaxLock, maxLock)
	return f.write(nodeState{f.stored.Incarnations + 1, f.start})
}

func formatState(id NodeID, s nodeState) string {
	return fmt.Sprintf("node %d incarnations %d maxlock %d\n", id, s.Incarnations, s.MaxLock.Nanoseconds())
}

// parseState reads what formatState wrote. Since the checksum was right, what is
// wrong here was written by somebody else, or for another node.
func parseState(text string, id NodeID) (nodeState, error) {
	var s nodeState
	var node int
	_, err := fmt.Sscanf(text, "node %d incarnations %d maxlock %d\n", &node, &s.Incarnations, (*int64)(&s.MaxLock))
	switch {
	case err != nil || formatState(NodeID(node), s) != text:
		return s, errors.New("it is not the state of a node")
	case node != int(id):
		return s, fmt.Errorf("it belongs to node %d", node)
	case s.Incarnations == math.MaxUint64:
		return s, errors.New("it has counted more incarnations than there can be")
	case s.MaxLock < 0 || s.MaxLock > timed.MaxDuration:
		return s, fmt.Errorf("its lock time %v is outside [0, %v]", s.MaxLock, timed.MaxDuration)
	}
	return s, nil
}

// counter returns the number of the node's present incarnation; 0, which no node
// with a state directory says, without one.
func (f *stateFiles) counter() uint64 {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stored.Incarnations
}

// count counts another incarnation. It must be durable before the first packet
// of that incarnation leaves. After an error the votes of this incarnation carry
// the number of the one before, with another boot id, and do not compare with
// those.
func (f *stateFiles) count() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.write(nodeState{f.stored.Incarnations + 1, f.stored.MaxLock})
}

// lower writes a smaller maxLock. It may be called only when no vote of an
// earlier run can be in force any more.
func (f *stateFiles) lower(maxLock time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lock == nil || maxLock >= f.stored.MaxLock {
		return nil
	}
	return f.write(nodeState{f.stored.Incarnations, maxLock})
}

func (f *stateFiles) write(s nodeState) error {
	if err := durable.Write(f.path, stateKind, []byte(formatState(f.id, s))); err != nil {
		return fmt.Errorf("failaware: cannot write the state: %w", err)
	}
	f.stored = s
	return nil
}

// close gives the lock back. It is fine on nil, and again.
func (f *stateFiles) close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.lock.Release()
	f.lock = nil
	return err
}
