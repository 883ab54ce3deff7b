package replicate

import (
	"fmt"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/replicate/internal/engine"
)

// Event is something that happened to the replicated state: [AwaitsMemory], [Begun],
// [Settled], [Receiving], [Restored] and others of this package. A type switch tells them
// apart.
type Event interface {
	// String says what happened, in plain English.
	String() string
	event()
}

// Settled says that all members of View have reported their states. Holders have the state
// with which the view continues, or bring one to the merge. Without Holders, all members have
// just begun, or wait for members that remember the state.
type Settled struct {
	View    failaware.ViewID
	Holders failaware.Set
}

// Receiving says that Bytes of Total of the snapshot named Snapshot have come from Source.
type Receiving struct {
	View         failaware.ViewID
	Source       failaware.NodeID
	Snapshot     string
	Bytes, Total uint64
}

// Restored says that this node has the state of the others, from Source.
type Restored struct {
	View     failaware.ViewID
	Source   failaware.NodeID
	Snapshot string
	Bytes    uint64 // of the snapshot
}

// Merged says that the states of Branches became one, at all members of View.
type Merged struct {
	View     failaware.ViewID
	Branches []failaware.Set
}

// StartedOver says that Bytes, more than MaxQueued, waited for a snapshot, and this node
// has asked for a later one.
type StartedOver struct {
	View     failaware.ViewID
	Snapshot string
	Bytes    uint64
}

// AwaitsMemory says that, with RequireQuorum, operations wait: the members of View that
// remember the state, Remember, are not a quorum, and the Absent nodes of the group may
// know of acknowledged operations. Operations go on when a quorum remembers, when no node
// is absent, or after [Replica.Bootstrap].
type AwaitsMemory struct {
	View             failaware.ViewID
	Remember, Absent failaware.Set
}

// AwaitsReports says that Members of View have not reported their states for For, so that
// operations wait: [Start] was not called there, has failed, or has yet to read a large state. It
// comes after some seconds, and then each minute.
type AwaitsReports struct {
	View    failaware.ViewID
	Members failaware.Set
	For     time.Duration
}

// Begun says that, with RequireQuorum, View continues with the newest state of its members,
// although the members that remember the state, Remember, are not a quorum. If there are
// none, the group has begun with the initial state. No node is Absent, except after
// [Replica.Bootstrap].
//
// Lossy says that operations which were acknowledged before may be gone: a quorum has lost its
// memory, as when all processes of a group without [Config.Storage] have ended. It is false
// when a new group begins. A node whose processes have all ended knows this from its StateDir
// only, which says that an earlier one was in views; whether anything was acknowledged in
// these, it does not say.
type Begun struct {
	View             failaware.ViewID
	Remember, Absent failaware.Set
	Lossy            bool
}

// Hanging says that a call of the application has lasted For so far, and Waiting other calls
// wait for it. The node continues without it until more than [Config.MaxQueued] waits.
type Hanging struct {
	View    failaware.ViewID
	For     time.Duration
	Waiting int
}

// Discarded says that a quorum has continued without this node, and its state replaces this
// node's.
type Discarded struct{ View failaware.ViewID }

// StateLost says that no remaining member has the state that this node waited for.
type StateLost struct {
	View     failaware.ViewID
	Snapshot string
}

// Refused says that Source could not make a snapshot. Err says why if it is this node.
type Refused struct {
	View     failaware.ViewID
	Source   failaware.NodeID
	Snapshot string
	Err      error
}

// Stuck says that none of the members of View that have the state could make a snapshot.
// Members that need it wait; the others are asked again after a second, and then ever more
// rarely, up to a minute.
type Stuck struct {
	View     failaware.ViewID
	Snapshot string
}

// TooLarge says that the state that Source sends has Bytes, and that this node takes no more than
// Limit ([Config.MaxSnapshot]). So it can never have the state, and ends; [Replica.Err] matches
// [ErrSnapshotTooLarge]. If states are being merged, it ends when the others have merged its own.
type TooLarge struct {
	View         failaware.ViewID
	Source       failaware.NodeID
	Snapshot     string
	Bytes, Limit uint64
}

// Corrupt says that a snapshot that came from Source does not have its digest.
type Corrupt struct {
	View     failaware.ViewID
	Source   failaware.NodeID
	Snapshot string
}

// Diverged says that the states of Member and of this node differ at a position of View,
// although both applied the same operations. Ours and Theirs are the hashes. A View of none
// stands for the beginning.
type Diverged struct {
	View         failaware.ViewID
	Position     uint64
	Member       failaware.NodeID
	Ours, Theirs uint64
}

// Recovered says that this node has begun with the state of its Storage: a snapshot and
// Operations after it. Cut bytes were removed, of operations that were being written when the
// process or the power ended. No caller was told that these operations last.
type Recovered struct{ Operations, Cut uint64 }

// Disk says that the disk of this node takes nothing, as when it is full, and Err names the
// path. The replica takes no more operations until it does again ([Progress]); another Disk with
// a nil Err says so.
type Disk struct{ Err error }

// Differs says that Setting, a field of [Config] that must be the same at all nodes, is
// Here at this node and There at Member. With another Storage, View takes no operations.
type Differs struct {
	View                 failaware.ViewID
	Member               failaware.NodeID
	Setting, Here, There string
}

// RolledBack says that, with RequireQuorum and Storage, Members lack operations that they
// had reported to be on their disks: an older copy of Storage has come back, or a disk has
// lost what it had flushed. They do not count among those that remember, until they have
// the state of a later view. If the view waits ([AwaitsMemory]), bring the absent nodes
// back.
type RolledBack struct {
	View    failaware.ViewID
	Members failaware.Set
}

func (Settled) event()       {}
func (Receiving) event()     {}
func (Restored) event()      {}
func (Merged) event()        {}
func (StartedOver) event()   {}
func (AwaitsMemory) event()  {}
func (AwaitsReports) event() {}
func (Begun) event()         {}
func (Hanging) event()       {}
func (Discarded) event()     {}
func (StateLost) event()     {}
func (Refused) event()       {}
func (Stuck) event()         {}
func (TooLarge) event()      {}
func (Corrupt) event()       {}
func (Diverged) event()      {}
func (Recovered) event()     {}
func (Disk) event()          {}
func (Differs) event()       {}
func (RolledBack) event()    {}

func (e Settled) String() string {
	if e.Holders.Empty() {
		return fmt.Sprintf("view %v is settled: no member has its state yet", e.View)
	}
	return fmt.Sprintf("view %v is settled: %v have its state", e.View, e.Holders)
}

func (e Receiving) String() string {
	return fmt.Sprintf("%d of %d bytes of the state have come from node %v", e.Bytes, e.Total, e.Source)
}

func (e Restored) String() string {
	return fmt.Sprintf("this node has the state of the others, %d bytes from node %v", e.Bytes, e.Source)
}

func (e Merged) String() string {
	return fmt.Sprintf("the states of %v were merged in view %v", e.Branches, e.View)
}

func (e StartedOver) String() string {
	return fmt.Sprintf("%d bytes of operations waited for the state: this node has asked for a later one", e.Bytes)
}

func (e Discarded) String() string {
	return fmt.Sprintf("the state of this node gives way to that of a quorum in view %v", e.View)
}

func (e AwaitsMemory) String() string {
	known := fmt.Sprintf("only %v of view %v remember the state", e.Remember, e.View)
	if e.Remember.Empty() {
		return fmt.Sprintf("no member of view %v has a state yet: operations wait until nodes %v have started, which may have one; if no node has, a new state begins then", e.View, e.Absent)
	}
	return fmt.Sprintf("%s: operations wait, because nodes %v may know more", known, e.Absent)
}

func (e AwaitsReports) String() string {
	return fmt.Sprintf("operations wait: nodes %v have not reported their states for %v; they run without the replicated state, or have yet to start it",
		e.Members, e.For.Round(time.Second))
}

func (e Begun) String() string {
	switch {
	case e.Remember.Empty() && e.Lossy:
		return fmt.Sprintf("the state begins in view %v, as no member has one: what the group has acknowledged before, if anything, is gone. "+
			"With a Storage at all nodes, a state outlives the processes, while its disks last", e.View)
	case e.Remember.Empty():
		return fmt.Sprintf("the state begins in view %v: no member has one", e.View)
	}
	return fmt.Sprintf("view %v goes on with the state that %v remember, which are no quorum: acknowledged operations may be gone", e.View, e.Remember)
}

func (e Hanging) String() string {
	return fmt.Sprintf("the application has not returned from a call for %v, and %d calls wait for it", e.For.Round(time.Second), e.Waiting)
}

func (e StateLost) String() string {
	return "the state that this node waited for is lost: no remaining member has it"
}

func (e Refused) String() string {
	if e.Err == nil {
		return fmt.Sprintf("node %v cannot make a snapshot: its log says why", e.Source)
	}
	return fmt.Sprintf("node %v cannot make a snapshot: %v", e.Source, e.Err)
}

func (e Stuck) String() string {
	return fmt.Sprintf("no member of view %v could make a snapshot: members that need it wait until one can", e.View)
}

func (e TooLarge) String() string {
	return fmt.Sprintf("the state that node %v sends has %d bytes, and this node takes no more than %d (MaxSnapshot): it ends", e.Source, e.Bytes, e.Limit)
}

func (e Corrupt) String() string {
	return fmt.Sprintf("the snapshot from node %v is damaged", e.Source)
}

func (e Diverged) String() string {
	return fmt.Sprintf("the state of node %v differs at position %d of view %v: its hash is %016x, and %016x here",
		e.Member, e.Position, e.View, e.Theirs, e.Ours)
}

func (e Recovered) String() string {
	text := fmt.Sprintf("this node has read its disk: the state has %d operations since the snapshot", e.Operations)
	if e.Cut > 0 {
		text += fmt.Sprintf("; %d bytes that were not written completely were cut off", e.Cut)
	}
	return text
}

func (e Disk) String() string {
	if e.Err == nil {
		return "the disk takes the state of this node again"
	}
	return fmt.Sprintf("this node waits for its disk: %v", e.Err)
}

func (e Differs) String() string {
	text := fmt.Sprintf("node %v has other settings: %s is %s here and %s there", e.Member, e.Setting, e.Here, e.There)
	if e.Setting == "Storage" {
		text += "; it must be set at all nodes or at none, and operations wait until it is"
	}
	return text
}

func (e RolledBack) String() string {
	return fmt.Sprintf("nodes %v lack operations that were on their disks: an older copy has come back, or a disk has lost what it had flushed; they do not count among those that remember until they have the state of the others", e.Members)
}

// eventOf returns the event that the engine reports.
func eventOf(e *engine.Event) Event {
	if e.Hangs > 0 {
		return Hanging{e.View, e.Hangs, e.Waiting}
	}
	if e.Reports > 0 {
		return AwaitsReports{e.View, e.Members, e.Reports}
	}
	name := e.Name.String()
	switch e.Kind {
	case replica.EventSettled:
		return Settled{e.View, e.Members}
	case replica.EventProgress:
		return Receiving{e.View, e.Member, name, e.Bytes, e.Total}
	case replica.EventRestored:
		return Restored{e.View, e.Member, name, e.Bytes}
	case replica.EventMerged:
		return Merged{e.View, e.Branches}
	case replica.EventStartedOver:
		return StartedOver{e.View, name, e.Bytes}
	case replica.EventWaiting:
		return AwaitsMemory{e.View, e.Members, e.Absent}
	case replica.EventBegun:
		return Begun{e.View, e.Members, e.Absent, e.Lossy}
	case replica.EventDiscarded:
		return Discarded{e.View}
	case replica.EventStateLost:
		return StateLost{e.View, name}
	case replica.EventRefused:
		return Refused{e.View, e.Member, name, e.Err}
	case replica.EventStuck:
		return Stuck{e.View, name}
	case replica.EventTooLarge:
		return TooLarge{e.View, e.Member, name, e.Total, e.Bytes}
	case replica.EventRecovered:
		return Recovered{e.Total, e.Bytes}
	case replica.EventDisk:
		return Disk{e.Err}
	case replica.EventDiffers:
		return Differs{e.View, e.Member, e.Setting, e.Here, e.There}
	case replica.EventRolledBack:
		return RolledBack{e.View, e.Members}
	case replica.EventCorrupt:
		return Corrupt{e.View, e.Member, name}
	}
	return Diverged{e.At.View, e.At.Position, e.Member, e.Ours, e.Theirs}
}
