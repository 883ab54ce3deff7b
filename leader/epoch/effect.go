package epoch

import (
	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/timed"
)

// Kind is the kind of an [Effect].
type Kind uint8

const (
	// Persist: write State to disk before the next effect and before any later
	// call. If that fails, the node must stop.
	Persist Kind = iota + 1
	// SendStateToAll: send State to all peers.
	SendStateToAll
	// SendState: send State to Peer.
	SendState
	// Notify: Event has happened.
	Notify
)

func (k Kind) String() string {
	return enum.Name(k, []string{Persist: "persist", SendStateToAll: "send state to all", SendState: "send state", Notify: "notify"}...)
}

// Effect is an action for the caller. Kind determines which fields are set.
type Effect struct {
	Kind  Kind
	Peer  timed.NodeID
	State State
	Event Event
}

// EventKind is the kind of an [Event].
type EventKind uint8

const (
	// Proposed: this node leads and has proposed System.
	Proposed EventKind = iota + 1
	// Superseded: this node drops the successor that it was asked to propose, because
	// System was proposed before and may have been chosen.
	Superseded
	// Decided: System is known to be the successor.
	Decided
	// Entered: Epoch has begun at this node, and System rules it.
	Entered
	// DeclaredDead: an administrator has declared this node dead, wrongly.
	DeclaredDead
	// Conflict: Peer knows System as the quorum system of this epoch or as its
	// successor, and this node knows another. A change was forced wrongly, or two
	// groups are mixed up. An administrator must repair it.
	Conflict
	// Unordered: proposals of this epoch are incomparable and block new ones, because
	// voters have lost their state directories.
	Unordered
)

// Event reports progress or trouble to the user.
type Event struct {
	Kind   EventKind
	Epoch  uint64
	System string
	Peer   timed.NodeID
}
