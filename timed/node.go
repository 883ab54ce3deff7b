package timed

import (
	"fmt"
	"strconv"
)

// NodeID names a node of a group: 1 to 255. Zero means "no node".
type NodeID uint8

// MaxNodes is the largest number of nodes that one group can have.
const MaxNodes = 255

// NoNode is the zero NodeID; no node has it.
const NoNode NodeID = 0

// Valid reports whether the id names a node.
func (n NodeID) Valid() bool { return n != NoNode }

func (n NodeID) String() string {
	if n == NoNode {
		return "none"
	}
	return strconv.Itoa(int(n))
}

// ParseNodeID reads an id written in decimal.
func ParseNodeID(s string) (NodeID, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 || v > MaxNodes {
		return NoNode, fmt.Errorf("node id %q is not a number from 1 to %d", s, MaxNodes)
	}
	return NodeID(v), nil
}

// BootID names one incarnation of a node: 64 random bits, drawn at each start.
// Boot ids are compared for equality only; they are never ordered in time. Zero
// means "none".
type BootID uint64

func (b BootID) String() string { return fmt.Sprintf("%016x", uint64(b)) }

// Incarnation is one start of one node. A vote is bound to an incarnation, and
// the members of views are incarnations.
type Incarnation struct {
	Node NodeID
	Boot BootID
}

// Valid reports whether the incarnation names a node and a boot.
func (i Incarnation) Valid() bool { return i.Node.Valid() && i.Boot != 0 }

func (i Incarnation) String() string {
	if !i.Node.Valid() {
		return "none"
	}
	return i.Node.String() + "/" + i.Boot.String()
}
