package replica

import (
	"errors"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Kind tells effects apart.
type Kind uint8

const (
	// Broadcast: broadcast Payload with Options, after all earlier ones; when the
	// window is full, later. What the broadcast refuses for want of a quorum is
	// dropped.
	Broadcast Kind = iota + 1
	// Apply: the application takes Delivery, without its envelope.
	Apply
	// Snapshot: the application writes down its state as it is between the calls
	// before and after this one; the bytes, or why there are none, go to
	// HandleSnapshot with Name.
	Snapshot
	// Restore: the state becomes that of the snapshot State, which is Name.
	Restore
	// Merge: the state becomes what the application makes of Branches, which are
	// the same at all members, in the same order.
	Merge
	// Hash: the application hashes its state; the value goes to HandleHash with At.
	Hash
	// Notify: Event happened.
	Notify
	// Skip: the application does not get Delivery, an operation or a barrier of this
	// node's own. The operation is in the state that this node gets from others, or
	// in one that is lost to it; the barrier came when this node did not have the
	// state.
	Skip
	// Barrier: this node's barrier Delivery has its place between the calls before
	// and after this one.
	Barrier
)

// Effect is something for the caller to do, in order. Which fields count depends
// on the kind. Those from Apply to Hash are calls of the application; Skip and
// Barrier are told in order with them. Payloads, states and branches are not changed
// any more and may be kept.
type Effect struct {
	Kind     Kind
	Options  broadcast.Options
	Payload  []byte
	Delivery broadcast.Delivery
	Name     Name
	State    []byte
	Branches []Branch
	At       Point
	// Lasting tells of Apply and Barrier, with RequireQuorum, that the state as it is
	// then is part of that of all later quorums, whatever becomes of views. States
	// are in memory: this rests on that at no time so many members have ended and
	// begun anew that a quorum can be formed without any that has the state.
	Lasting bool
	Event   Event
}

// Branch is one of the states that meet in a view.
type Branch struct {
	Label   Label
	Members timed.Set // who had this state
	State   []byte    // its snapshot, as it was before the first message of the view
}

// Point is a position in the order of a view.
type Point struct {
	View     membership.ViewID
	Position uint64
}

// EventKind tells events apart.
type EventKind uint8

const (
	// EventSettled: all members have said what state they have; Members have the
	// state that the view goes on with, or bring one to the merge.
	EventSettled EventKind = iota + 1
	// EventProgress: Bytes of Total of the snapshot Name have come from Member.
	EventProgress
	// EventRestored: this node has the state of the others, from Member.
	EventRestored
	// EventMerged: the states of Branches became one, at all members of the view.
	EventMerged
	// EventStartedOver: more than MaxQueued waited for the snapshot Name; a later
	// one is asked for.
	EventStartedOver
	// EventDiscarded: the group has gone on without this node by a quorum, and its
	// state takes the place of this node's.
	EventDiscarded
	// EventStateLost: nobody is left who had the state that this node was to get.
	EventStateLost
	// EventRefused: Member could not make the snapshot Name; Err tells why if it
	// is this node.
	EventRefused
	// EventStuck: nobody is left in the view who could make the snapshot Name.
	// What waits for it waits for another view.
	EventStuck
	// EventCorrupt: the snapshot Name that came from Member is not what its digest
	// says.
	EventCorrupt
	// EventDiverged: at At the state of Member is not that of this node, although
	// both applied the same. Ours and Theirs are the hashes.
	EventDiverged
)

// Event is something that happened to the replicated state. Which fields count
// depends on the kind.
type Event struct {
	Kind         EventKind
	View         membership.ViewID
	Member       timed.NodeID
	Members      timed.Set
	Name         Name
	Bytes, Total uint64
	Branches     []timed.Set
	At           Point
	Ours, Theirs uint64
	Err          error
}

// ErrSnapshotTooLarge is why a snapshot above MaxSnapshot is refused.
var ErrSnapshotTooLarge = errors.New("replica: the snapshot is larger than MaxSnapshot")
