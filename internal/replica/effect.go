package replica

import (
	"errors"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Kind is the kind of an effect.
type Kind uint8

const (
	// Broadcast: broadcast the Message with Options, after all earlier ones of its Queue.
	// Wait while the window is full. Drop a payload that the broadcast refuses because
	// there is no quorum.
	Broadcast Kind = iota + 1
	// Apply: the application applies Delivery, which no longer has its envelope.
	Apply
	// ApplyAll: the application performs the effects of the Replay: it applies operations
	// that have waited, which may be many, and hashes its state in between.
	ApplyAll
	// Snapshot: the application makes a snapshot of its state as it is between the
	// calls before and after this one. The snapshot or the error goes to HandleSnapshot
	// with Name.
	Snapshot
	// Restore: the application replaces its state by the snapshot State, named Name.
	Restore
	// Merge: the application replaces its state by the merge of Branches, which are
	// the same at all members, in the same order.
	Merge
	// Hash: the application hashes its state. The value goes to HandleHash with At.
	Hash
	// Notify: Event happened.
	Notify
	// Skip: the application does not get Delivery, which is this node's own
	// operation or barrier, and may lack its payload. The operation is part of a state that
	// this node gets from others or that it has lost. The barrier came while this node did
	// not have the state.
	Skip
	// Barrier: this node's barrier Delivery stands between the calls before and
	// after this one.
	Barrier
	// Beside: Delivery is a message of the application that is not an operation. It stands
	// between the calls before and after this one, whatever state this node has.
	Beside
	// Locate, with Stored: the application has the state that Place names, and with
	// each later Apply the one at the Position of the Delivery. Without a Place, the
	// state has no name until the next Locate.
	Locate
	// Lasts, with Stored: the regular Strict operations through At, which the application
	// has applied, are known to last. Without Lasting, no more will be reported about the
	// calls before this one.
	Lasts
	// Withdraw: the node ends, so that the others continue without it. Event is the reason.
	Withdraw
)

func (k Kind) String() string {
	return enum.Name(k, []string{Broadcast: "broadcast", Apply: "apply", ApplyAll: "apply all", Snapshot: "snapshot", Restore: "restore", Merge: "merge",
		Hash: "hash", Notify: "notify", Skip: "skip", Barrier: "barrier", Beside: "beside", Locate: "locate", Lasts: "lasts", Withdraw: "withdraw"}...)
}

// Effect is an instruction for the caller. The kind determines the fields that are used.
// Apply to Hash are calls of the application. Skip, Barrier and Beside are in order with them.
// Payloads, states and branches are immutable and may be kept.
type Effect struct {
	Kind     Kind
	Options  broadcast.Options
	Payload  []byte
	Piece    *Piece // Message puts it behind the Payload
	bulk     bool   // of Broadcast: of a snapshot
	Delivery broadcast.Delivery
	Replay   *Replay
	Name     Name
	State    *Content
	Branches []Branch
	// At, of Apply and Barrier, is the position of the last operation until then, 0 if
	// the view had none.
	At    Point
	Place *Place
	// Lasting, of Apply and Barrier with a Quorum or Stored: the present state is part of
	// the states of all later quorums, in any later view, unless
	// EventBegun tells that a quorum has lost its memory.
	Lasting bool
	Event   *Event
}

// Queues is the number of message queues of a member: for ordered messages, for snapshots,
// and for others. So no message waits for room in another lane of the broadcast, or behind a
// snapshot.
const Queues = 3

// Queue returns the queue of a Broadcast, from 0 on.
func (e *Effect) Queue() int {
	switch {
	case e.Options.Order.Class() == broadcast.ClassOrdered:
		return 0
	case e.bulk:
		return 1
	}
	return 2
}

// Branch is one of several states that members bring to a view.
type Branch struct {
	Label   Label
	Members timed.Set // members that had this state
	State   *Content  // its snapshot from before the first message of the view
}

// Point is a position in the order of a view.
type Point struct {
	View     membership.ViewID
	Position uint64
}

// EventKind is the kind of an event.
type EventKind uint8

const (
	// EventSettled: all members have reported their states. Members have the state
	// with which the view continues, or bring a state to the merge.
	EventSettled EventKind = iota + 1
	// EventProgress: Bytes of Total of the snapshot Name have come from Member.
	EventProgress
	// EventRestored: this node has the state of the others, from Member.
	EventRestored
	// EventMerged: the states of Branches became one, at all members of the view.
	EventMerged
	// EventStartedOver: more than MaxQueued waited for the snapshot Name, and this
	// node has asked for a later one.
	EventStartedOver
	// EventWaiting: the view waits, because the Members that remember the state are not a
	// quorum, and the Absent nodes of the group may know more.
	EventWaiting
	// EventBegun: the view continues with the newest state of its members, although the
	// Members that remember it are not a quorum. No node of the group is absent, or an
	// operator has allowed it (AppendBootstrap). The state may lack operations that were
	// reported to last, if Lossy. A new group begins like this, without Members.
	EventBegun
	// EventDiscarded: a quorum has continued without this node, and its state
	// replaces this node's.
	EventDiscarded
	// EventStateLost: no remaining member has the state that this node waited for.
	EventStateLost
	// EventRefused: Member could not make the snapshot Name. Err is the reason if
	// Member is this node.
	EventRefused
	// EventStuck: none of the members that have the state could make the snapshot Name.
	// Members that need it wait until one of them can: they are asked again.
	EventStuck
	// EventCorrupt: the snapshot Name from Member does not have its digest.
	EventCorrupt
	// EventDiverged: the states of Member and of this node differ at At, although both
	// applied the same operations. Ours and Theirs are the hashes.
	EventDiverged
	// EventRecovered: the state began with what the disk has, with Total operations after
	// the snapshot. Bytes were cut off, of a batch that was not complete.
	EventRecovered
	// EventDisk: the disk of this node is full, which Err says, or no longer is. With Withdraw,
	// it has failed.
	EventDisk
	// EventDiffers: Setting, which must be the same at all members, is Here at this node
	// and There at Member. If it is Storage, the view does not continue, and a node without
	// a state withdraws if the members that have one differ from it.
	EventDiffers
	// EventTooLarge: the snapshot Name from Member has Total bytes, and this node takes no more
	// than Bytes. It withdraws, in a merge when the others have merged.
	EventTooLarge
	// EventRolledBack: Members lack what they have confirmed: older copies of their disks
	// have come back, or their disks have lost what they had reported as flushed. They do
	// not count among those that remember.
	EventRolledBack
)

// Event is an event of the replicated state. The kind determines the fields that are used.
type Event struct {
	Kind         EventKind
	View         membership.ViewID
	Member       timed.NodeID
	Members      timed.Set
	Absent       timed.Set
	Lossy        bool
	Name         Name
	Bytes, Total uint64
	Branches     []timed.Set
	At           Point
	Ours, Theirs uint64
	Err          error

	Setting, Here, There string
}

// ErrSnapshotTooLarge: the snapshot is larger than MaxSnapshot.
var ErrSnapshotTooLarge = errors.New("replica: the snapshot is larger than MaxSnapshot")
