package statedir

import (
	"fmt"
	"math"
	"time"

	"github.com/failaware/failaware/internal/durable"
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
}

// recordKind is the kind of record of the state file. Its content is text, so that
// people can read it. formerKind is that of earlier releases, without HasEpoch, which
// is read but no longer written.
var (
	recordKind = durable.Kind{Name: "node-state", Version: 2}
	formerKind = durable.Kind{Name: "node-state", Version: 1}
)

// contentError says what is wrong with the content of a record.
type contentError string

func (e contentError) Error() string { return string(e) }

func format(id timed.NodeID, r record) string {
	return fmt.Sprintf("node %d incarnations %d maxlock %d epoch %t\n", id, r.Incarnations, r.MaxLock.Nanoseconds(), r.HasEpoch)
}

func formatFormer(id timed.NodeID, r record) string {
	return fmt.Sprintf("node %d incarnations %d maxlock %d\n", id, r.Incarnations, r.MaxLock.Nanoseconds())
}

// parse reads what format wrote. The checksum was right, so text that is wrong was
// written by another program, or for another node.
func parse(text string, id timed.NodeID) (record, error) {
	var r record
	var node int
	_, err := fmt.Sscanf(text, "node %d incarnations %d maxlock %d epoch %t\n", &node, &r.Incarnations, (*int64)(&r.MaxLock), &r.HasEpoch)
	if err != nil || format(timed.NodeID(node), r) != text {
		return r, contentError("it is not the state of a node")
	}
	return r, r.check(node, id)
}

// parseFormer reads what formatFormer wrote.
func parseFormer(text string, id timed.NodeID) (record, error) {
	var r record
	var node int
	_, err := fmt.Sscanf(text, "node %d incarnations %d maxlock %d\n", &node, &r.Incarnations, (*int64)(&r.MaxLock))
	if err != nil || formatFormer(timed.NodeID(node), r) != text {
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
	case r.MaxLock < 0 || r.MaxLock > timed.MaxDuration:
		return contentError(fmt.Sprintf("its lock time %v is outside [0, %v]", r.MaxLock, timed.MaxDuration))
	}
	return nil
}
