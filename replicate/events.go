package replicate

import "github.com/failaware/failaware/internal/replica"

// Event is something that happened to the replicated state. Which fields count
// depends on the kind.
type Event = replica.Event

// EventKind tells events apart.
type EventKind = replica.EventKind

// The kinds of events.
const (
	// EventSettled: all members have reported their states. Members have the state that
	// the view goes on with, or bring one to the merge.
	EventSettled = replica.EventSettled
	// EventProgress: Bytes of Total of the snapshot Name have come from Member.
	EventProgress = replica.EventProgress
	// EventRestored: this node has the state of the others, from Member.
	EventRestored = replica.EventRestored
	// EventMerged: the states of Branches became one, at all members of the view.
	EventMerged = replica.EventMerged
	// EventStartedOver: more than MaxQueued waited for the snapshot Name, and this node
	// has asked for a later one.
	EventStartedOver = replica.EventStartedOver
	// EventDiscarded: the group has gone on without this node by a quorum, and its state
	// takes the place of this node's.
	EventDiscarded = replica.EventDiscarded
	// EventStateLost: no member is left with the state that this node was to get.
	EventStateLost = replica.EventStateLost
	// EventRefused: Member could not make the snapshot Name; Err says why if it is this
	// node.
	EventRefused = replica.EventRefused
	// EventStuck: no member of the view is left that could make the snapshot Name.
	// Operations that wait for it wait for another view.
	EventStuck = replica.EventStuck
	// EventCorrupt: the snapshot Name that came from Member does not have its digest.
	EventCorrupt = replica.EventCorrupt
	// EventDiverged: at At the state of Member is not that of this node, although both
	// applied the same. Ours and Theirs are the hashes.
	EventDiverged = replica.EventDiverged
)
