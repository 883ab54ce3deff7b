package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/journal"
)

// ErrOwner: a Storage has the state of another node or group.
var ErrOwner = errors.New("it is not of this node")

// Owner is the node whose state a directory has. Another node that went on with it would
// claim to remember what it never acknowledged, and a node of another group would bring
// the state of that group along.
type Owner struct {
	Node    failaware.NodeID
	Group   string
	Former  string // the name that the group had before it was renamed; empty: none
	Quorate bool   // its state requires a quorum
}

func (o Owner) String() string { return fmt.Sprintf("node %v of group %q", o.Node, o.Group) }

// The record of the owner beside the journal.
const ownerFile = "owner"

var ownerKind = durable.Kind{Name: "storage-owner", Version: 1}

// formerly returns the owner under the former name of its group, or "".
func (o Owner) formerly() string {
	if o.Former == "" {
		return ""
	}
	return Owner{Node: o.Node, Group: o.Former}.String()
}

// checkOwner returns an error if the directory is of another owner, and whether it has one.
// It changes nothing, so that it may come before the directory is locked.
func checkOwner(dir string, o Owner) (owned bool, err error) {
	path := filepath.Join(dir, ownerFile)
	b, err := durable.Read(path, ownerKind)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case string(b) != o.String() && string(b) != o.formerly():
		return true, fmt.Errorf("%w: %s has the state of %s, and this is %s; name another directory: with an empty one, the node gets the state of the others%s",
			ErrOwner, dir, b, o, o.adoption(string(b), path))
	}
	return true, nil
}

// adoption says how to go on with the state of a former owner all the same, where that does not
// end in another refusal: with a quorum, the state and the state directory belong together,
// and that has the node's id and its group.
func (o Owner) adoption(former, path string) string {
	text := ""
	if strings.HasPrefix(former, fmt.Sprintf("node %v of ", o.Node)) {
		text = ". If the group was renamed, set the node's FormerGroup"
	}
	if o.Quorate {
		return text
	}
	return text + fmt.Sprintf(". If this node is to go on with that state, remove the file %s", path)
}

// locked reports whether a process uses a directory.
func locked(dir string) bool {
	lock, err := durable.TakeLock(filepath.Join(dir, "lock"))
	if err != nil {
		return errors.Is(err, durable.ErrLocked)
	}
	_ = lock.Release()
	return false
}

// inUse returns the error of a directory that another process uses: of its owner, if it has one.
func inUse(dir string) error {
	holder := "another node"
	if b, err := durable.Read(filepath.Join(dir, ownerFile), ownerKind); err == nil {
		holder = string(b)
	}
	return fmt.Errorf("replicate: Storage: %w: %s already runs with %s", failaware.ErrInUse, holder, dir)
}

// MakeStore makes the directory of a store unless it exists.
func MakeStore(dir string) error {
	if err := journal.MakeDir(dir); err != nil {
		return classify(err)
	}
	return nil
}

// The record of which journal the owner has kept in the directory. Files of another one were
// copied there. It is no part of the record of the owner, which earlier builds read.
const journalFile = "journal"

var journalKind = durable.Kind{Name: "storage-journal", Version: 1}

// optionsOf returns how the journal of a directory is opened, or an error if the directory is of
// another owner. It changes nothing.
func optionsOf(dir string, o Owner) (opt journal.Options, err error) {
	owned, err := checkOwner(dir, o)
	if !owned || err != nil {
		return opt, err // a new owner may take any journal over
	}
	opt.Former = filepath.Join(dir, ownerFile)
	path := filepath.Join(dir, journalFile)
	b, err := durable.Read(path, journalKind)
	if errors.Is(err, fs.ErrNotExist) {
		return opt, nil // an earlier build has written the directory
	}
	if err == nil {
		if opt.Known, err = strconv.ParseUint(string(b), 16, 64); err != nil {
			err = &durable.DamagedError{Path: path, What: err.Error()}
		}
	}
	return opt, err
}

// strange returns the error of a directory with files of another journal than that of its owner.
func (o Owner) strange(dir string, e *journal.StrangeError) error {
	path := filepath.Join(dir, journalFile)
	text := ""
	if !o.Quorate {
		text = ". If this node is to go on with that state, remove the file " + path
	}
	return fmt.Errorf("%w: %w than the one of %v, as %s says, so it was copied there; bring the former files back, or name another directory: with an empty one, the node gets the state of the others%s",
		ErrOwner, e, o, path, text)
}

// own notes the owner of a directory that has none, because it is new or was written before
// directories had owners, and which journal the owner has there. The caller has the lock of the
// directory. Where the disk is full, a later start notes the journal of a directory that has an
// owner.
func own(dir string, o Owner, id uint64) error {
	owned, err := checkOwner(dir, o)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, journalFile)
	_, err = durable.Read(path, journalKind)
	if !owned || errors.Is(err, fs.ErrNotExist) {
		err = durable.Write(path, journalKind, fmt.Appendf(nil, "%016x", id))
	}
	path = filepath.Join(dir, ownerFile)
	if b, _ := durable.Read(path, ownerKind); owned && string(b) == o.String() {
		if durable.Passes(err) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	return durable.Write(path, ownerKind, []byte(o.String()))
}

// The record of why a state must not be used.
const refusedFile = "refused"

var refusedKind = durable.Kind{Name: "storage-refused", Version: 1}

// RefuseStore has each later [OpenStore] refuse a directory. The caller has the lock of the
// directory.
func RefuseStore(dir string, why error) error {
	return durable.Write(filepath.Join(dir, refusedFile), refusedKind, []byte(why.Error()))
}

// checkRefused returns an error if the directory was refused.
func checkRefused(dir string) error {
	path := filepath.Join(dir, refusedFile)
	b, err := durable.Read(path, refusedKind)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: %s was refused before, and must not be used unless what was lost is restored; then remove %s. The reason was: %s",
		failaware.ErrDamaged, dir, path, b)
}
