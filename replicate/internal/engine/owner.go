package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
	Node  failaware.NodeID
	Group string
}

func (o Owner) String() string { return fmt.Sprintf("node %v of group %q", o.Node, o.Group) }

// The record of the owner beside the journal.
const ownerFile = "owner"

var ownerKind = durable.Kind{Name: "storage-owner", Version: 1}

// checkOwner returns an error if the directory is of another owner, and whether it has one.
// It changes nothing, so that it may come before the directory is locked.
func checkOwner(dir string, o Owner) (owned bool, err error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return false, nil // the journal says so
	}
	path := filepath.Join(dir, ownerFile)
	b, err := durable.Read(path, ownerKind)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case string(b) != o.String():
		return true, fmt.Errorf("%w: %s has the state of %s, and this is %s; name another directory, or remove %s if this node is to go on with that state",
			ErrOwner, dir, b, o, path)
	}
	return true, nil
}

// PrepareStore makes the directory of a store unless it exists. It returns the error with
// which [OpenStore] would refuse the directory itself, or its owner. It does not look at
// the owner while the node has no id.
func PrepareStore(dir string, o Owner) error {
	if err := journal.MakeDir(dir); err != nil {
		return classify(err)
	}
	if o.Node == failaware.NoNode {
		return nil
	}
	if _, err := checkOwner(dir, o); err != nil {
		return classify(err)
	}
	return nil
}

// own notes the owner of a directory that has none, because it is new or was written
// before directories had owners. The caller has the lock of the directory.
func own(dir string, o Owner) error {
	if owned, err := checkOwner(dir, o); owned || err != nil {
		return err
	}
	return durable.Write(filepath.Join(dir, ownerFile), ownerKind, []byte(o.String()))
}
