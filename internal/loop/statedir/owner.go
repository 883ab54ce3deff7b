package statedir

import (
	"errors"
	"fmt"

	"github.com/failaware/failaware/timed"
)

// ErrGroup: the state is that of a node of another group.
var ErrGroup = errors.New("failaware: the state is of another group")

// Owner is a node whose state a directory has. In another group the state would be wrong: the
// node would vote by a quorum system that the others do not have.
type Owner struct {
	ID    timed.NodeID
	Group string
	// Former is the name that the group had before it was renamed; empty means none.
	Former string
}

// takes returns an error if the state in a file is that of another group. A file of a former
// release names none. from is the former name of the group if the file has that.
func (o Owner) takes(path, group string) (from string, err error) {
	switch group {
	case "", o.Group:
		return "", nil
	case o.Former:
		return group, nil
	}
	return "", fmt.Errorf("%w: %s has the state of node %v of group %q, and this is node %v of group %q: "+
		"name the directory of this node, or an empty one if it has never run in its group. If the group was renamed, set FormerGroup to %q",
		ErrGroup, path, o.ID, group, o.ID, o.Group, group)
}

// holder names the node that has the lock, for the case that another process has it. Nodes of
// two groups may have the same id.
func (o Owner) holder(dir string) string {
	name := fmt.Sprintf("node %v", o.ID)
	d := &Dir{id: o.ID, path: File(dir, o.ID)}
	if r, _, err := d.read(); err == nil && r.Group != "" && r.Group != o.Group {
		name += fmt.Sprintf(" of group %q", r.Group)
	}
	return name
}

// CheckGroup returns an error that matches [ErrGroup] if Open would refuse the state of a node
// as that of another group. It changes nothing. Without an id, the node is the one whose id is
// kept in the directory.
func CheckGroup(dir string, o Owner) error {
	if o.ID == timed.NoNode {
		o.ID, _ = (&Assigned{dir: dir}).read()
	}
	if o.ID == timed.NoNode {
		return nil
	}
	d := &Dir{id: o.ID, path: File(dir, o.ID)}
	r, _, err := d.read()
	if err != nil {
		return nil // Open says what is wrong
	}
	_, err = o.takes(d.path, r.Group)
	return err
}

// Renamed returns the former name of the group if the state has it, or "". From [Dir.Begin] on
// the state is that of the group under its present name.
func (d *Dir) Renamed() string {
	if d == nil {
		return ""
	}
	return d.from
}
