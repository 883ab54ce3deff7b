package statedir

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// record is the content of a node's state file.
type record struct {
	// Incarnations counts the node's incarnations, the present one included. Of two
	// votes of one node, that of the later incarnation is the later vote, regardless of
	// its clock.
	Incarnations uint64
	// MaxLock is the longest time for which the node may have voted.
	MaxLock time.Duration
	// HasEpoch says that the file of the epoch was written: if it is missing, it is lost.
	HasEpoch bool
	// Views bounds the sequences of the views that the node has taken part in.
	Views uint64
	// Least is a progress that the file of the epoch has had. If it has less, an older copy
	// has replaced it.
	Least progress
	// Group is the name of the group in which the node has run. Empty, the file is of a former
	// release.
	Group string
}

// progress is how far a node is in the changes of its quorum system. It never goes back.
type progress struct {
	Epoch uint64
	Phase epoch.Phase
}

func progressOf(s *epoch.State) progress { return progress{s.Epoch, s.Phase} }

func (p progress) before(q progress) bool {
	return p.Epoch < q.Epoch || p.Epoch == q.Epoch && p.Phase < q.Phase
}

func (p progress) String() string { return fmt.Sprintf("epoch %d (%v)", p.Epoch, p.Phase) }

// recordKind is the kind of record of the state file. Its content is text, so that
// people can read it. formerKinds are those of earlier releases, which are read but no
// longer written: without Group, Least, Views, and HasEpoch.
var (
	recordKind  = durable.Kind{Name: "node-state", Version: 5}
	formerKinds = []durable.Kind{{Name: "node-state", Version: 4}, {Name: "node-state", Version: 3}, {Name: "node-state", Version: 2}, {Name: "node-state", Version: 1}}
)

// contentError says what is wrong with the content of a record.
type contentError string

func (e contentError) Error() string { return string(e) }

// layout returns how the content of a file of a version is written, and how many values it
// has. Each version adds to the one before.
func layout(version uint32) (text string, values int) {
	words := []string{"node %d incarnations %d maxlock %d", " epoch %t", " views %d", " entered %d phase %d", " group %q"}
	text = strings.Join(words[:version], "") + "\n"
	return text, strings.Count(text, "%")
}

// format returns the content of a file of a version.
func format(version uint32, id timed.NodeID, r record) string {
	text, n := layout(version)
	values := []any{id, r.Incarnations, r.MaxLock.Nanoseconds(), r.HasEpoch, r.Views, r.Least.Epoch, r.Least.Phase, r.Group}
	return fmt.Sprintf(text, values[:n]...)
}

// parse reads what format wrote. The checksum was right, so text that is wrong was
// written by another program, or for another node.
func parse(version uint32, text string, id timed.NodeID) (record, error) {
	var r record
	var node int
	how, n := layout(version)
	fields := []any{&node, &r.Incarnations, (*int64)(&r.MaxLock), &r.HasEpoch, &r.Views, &r.Least.Epoch, (*uint8)(&r.Least.Phase), &r.Group}
	_, err := fmt.Sscanf(text, how, fields[:n]...)
	unnamed := version == recordKind.Version && r.Group == ""
	if err != nil || unnamed || format(version, timed.NodeID(node), r) != text {
		return r, contentError("it is not the state of a node")
	}
	return r, r.check(node, id)
}

func (r *record) check(node int, id timed.NodeID) error {
	switch {
	case node != int(id):
		return contentError(fmt.Sprintf("it belongs to node %d", node))
	case r.Incarnations == math.MaxUint64:
		return contentError("it has counted more incarnations than there can be")
	case r.Views > membership.MaxSequence:
		return contentError(fmt.Sprintf("its sequence of views is above %d", uint64(membership.MaxSequence)))
	case r.Least.Phase > epoch.Wedged || !r.HasEpoch && r.Least != (progress{}):
		return contentError("its phase of an epoch does not exist")
	case r.MaxLock < 0 || r.MaxLock > timed.MaxDuration:
		return contentError(fmt.Sprintf("its lock time %v is outside [0, %v]", r.MaxLock, timed.MaxDuration))
	}
	return nil
}
