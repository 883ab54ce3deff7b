package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/timed"
)

// assignedKind is the kind of record of the file with the id that a node has chosen for
// itself.
var assignedKind = durable.Kind{Name: "node-id", Version: 1}

// Assigned is a state directory of a node that chooses its id by itself. Such a node needs
// a directory of its own: a lock keeps other nodes away that choose their id. It is for one
// goroutine at a time.
type Assigned struct {
	dir  string
	lock *durable.Lock
	id   timed.NodeID
}

// assignedLock is the file that a directory has from the first start of a node without a
// configured id on.
const assignedLock = "node-id.lock"

// OpenAssigned locks a directory and reads the id that was kept there. It refuses one that
// only nodes with configured ids have used: the promises of such a node would be left aside.
// The error matches [ErrInUse] or [ErrDamaged], or is the system's.
func OpenAssigned(dir string) (*Assigned, error) {
	if _, err := os.Lstat(filepath.Join(dir, assignedLock)); err != nil {
		if ids := (&Assigned{dir: dir}).Former(); !ids.Empty() {
			return nil, fmt.Errorf("failaware: StateDir: %s has the state of the nodes %v, whose ids were configured: "+
				"start such a node with its id, and give one that chooses an id a directory of its own", dir, ids)
		}
	}
	lock, err := takeLock(dir, assignedLock, "a node without a configured id, which needs a directory of its own,")
	if err != nil {
		return nil, err
	}
	a := &Assigned{dir: dir, lock: lock}
	if a.id, err = a.read(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Assigned) path() string { return filepath.Join(a.dir, "node-id.state") }

func (a *Assigned) read() (timed.NodeID, error) {
	b, err := durable.Read(a.path(), assignedKind)
	if errors.Is(err, fs.ErrNotExist) {
		return timed.NoNode, nil
	}
	var id timed.NodeID
	if err == nil {
		if id, err = timed.ParseNodeID(strings.TrimSpace(string(b))); err != nil {
			err = &durable.DamagedError{Path: a.path(), What: "it has no id of a node"}
		}
	}
	if err != nil {
		return timed.NoNode, readError(err, "remove the file, and the node takes another id")
	}
	return id, nil
}

// ID returns the id that is kept, or NoNode.
func (a *Assigned) ID() timed.NodeID { return a.id }

// Keep writes an id down.
func (a *Assigned) Keep(id timed.NodeID) error {
	if err := durable.Write(a.path(), assignedKind, []byte(id.String()+"\n")); err != nil {
		return fmt.Errorf("failaware: cannot keep the id: %w", err)
	}
	a.id = id
	return nil
}

// Forget has the next process choose another id. The state of the present one stays, for
// it may have voted.
func (a *Assigned) Forget() error {
	a.id = timed.NoNode
	if err := durable.Remove(a.path()); err != nil {
		return fmt.Errorf("failaware: cannot give up the id: %w", err)
	}
	return nil
}

// Former returns the ids under which nodes have run with the directory.
func (a *Assigned) Former() (ids timed.Set) {
	for id := timed.NodeID(1); id != 0; id++ {
		if _, err := os.Lstat(File(a.dir, id)); err == nil {
			ids.Add(id)
		}
	}
	return ids
}

// Close releases the lock. Closing again, or nil, does nothing.
func (a *Assigned) Close() error {
	if a == nil {
		return nil
	}
	err := a.lock.Release()
	a.lock = nil
	return err
}
