package epoch

import "github.com/failaware/failaware/timed"

// Kind tells effects apart.
type Kind uint8

const (
	// Persist: write State down, durably, before the next effect is performed and
	// before any later call. If that fails the node must stop.
	Persist Kind = iota + 1
	// Broadcast: send State to all peers.
	Broadcast
	// Send: send State to To.
	Send
	// Tell: Event has happened.
	Tell
)

// Effect is something for the caller to do, in order.
type Effect struct {
	Kind  Kind
	State State
	To    timed.NodeID
	Event Event
}

// EventKind tells events apart.
type EventKind uint8

const (
	// Proposed: this node, which leads, has proposed System.
	Proposed EventKind = iota + 1
	// Superseded: what was asked for at this node is not proposed, because
	// System was proposed before and may have been chosen.
	Superseded
	// Decided: System is known to be the successor.
	Decided
	// Entered: Epoch has begun at this node, and System rules it.
	Entered
	// DeclaredDead: an administrator has declared this node dead, wrongly.
	DeclaredDead
	// Conflict: Peer knows of System as another quorum system of this epoch, or
	// as another successor, than this node does. A change was forced wrongly, or
	// groups are mixed up; only an administrator can help.
	Conflict
	// Unordered: proposals of this epoch do not compare, and nothing can be
	// proposed: voters have lost their state directories.
	Unordered
)

// Event is something that people may want to know.
type Event struct {
	Kind   EventKind
	Epoch  uint64
	System string
	Peer   timed.NodeID
}
