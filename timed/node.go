package timed

// NodeID names a node of a group: 1 to 255. Zero means "no node".
type NodeID uint8

// MaxNodes is the largest number of nodes that one group can have.
const MaxNodes = 255

// NoNode is the zero NodeID; no node has it.
const NoNode NodeID = 0

// Valid reports whether the id names a node.
func (n NodeID) Valid() bool { return n != NoNode }

// BootID names one incarnation of a node: 64 random bits, drawn at each start.
// Boot ids are compared for equality only; they are never ordered in time. Zero
// means "none".
type BootID uint64

// Incarnation is one start of one node. A vote is bound to an incarnation, and
// the members of views are incarnations.
type Incarnation struct {
	Node NodeID
	Boot BootID
}

// Valid reports whether the incarnation names a node and a boot.
func (i Incarnation) Valid() bool { return i.Node.Valid() && i.Boot != 0 }
