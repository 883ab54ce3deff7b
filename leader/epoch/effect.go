package epoch

import (
	"fmt"

	"github.com/failaware/failaware/timed"
)

// Kind tells effects apart.
type Kind uint8

const (
	// Persist: write State down, durably, before the next effect and before any
	// later call. If that fails the node must stop.
	Persist Kind = iota + 1
	// SendStateToAll: send State to all peers.
	SendStateToAll
	// SendState: send State to Peer.
	SendState
	// Notify: Event has happened.
	Notify
)

func (k Kind) String() string {
	switch k {
	case Persist:
		return "persist"
	case SendStateToAll:
		return "send state to all"
	case SendState:
		return "send state"
	case Notify:
		return "notify"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Effect is something for the caller to do, in order. The kind says which fields
// count.
type Effect struct {
	Kind  Kind
	Peer  timed.NodeID
	State State
	Event Event
}

// EventKind tells events apart.
type EventKind uint8

const (
	// Proposed: this node, which leads, has proposed System.
	Proposed EventKind = iota + 1
	// Superseded: this node does not propose what it was asked to propose, because
	// System was proposed before and may have been chosen.
	Superseded
	// Decided: System is known to be the successor.
	Decided
	// Entered: Epoch has begun at this node, and System rules it.
	Entered
	// DeclaredDead: an administrator has declared this node dead, wrongly.
	DeclaredDead
	// Conflict: Peer knows System as the quorum system of this epoch or as its
	// successor, and this node knows another. A change was forced wrongly, or groups
	// are mixed up; only an administrator can help.
	Conflict
	// Unordered: proposals of this epoch do not compare, and none can be made:
	// voters have lost their state directories.
	Unordered
)

// Event is news for people.
type Event struct {
	Kind   EventKind
	Epoch  uint64
	System string
	Peer   timed.NodeID
}
