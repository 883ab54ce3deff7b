package failaware

import (
	"fmt"
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/datagram"
	"github.com/failaware/failaware/internal/life"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
)

// Event is something that happened to a node. It is one of the types of this
// file; a type switch tells them apart. Events are immutable values, but they
// share views and branches, which must not be changed.
type Event interface {
	// Header returns what all events have.
	Header() EventHeader
	// Kind returns a short stable name, as in "lead-lost".
	Kind() string
	// String says in plain English what happened, and why.
	String() string
	event()
}

// EventHeader is what all events have.
type EventHeader struct {
	// Sequence numbers the events of one process from 1, without gaps.
	Sequence uint64
	// Time is the system's wall clock when the node noticed. It is for people:
	// nothing is decided by it, and it can jump.
	Time time.Time
}

// Header returns the header.
func (h EventHeader) Header() EventHeader { return h }

func (EventHeader) event() {}

// Ready: the waiting time is over, and this incarnation may vote.
type Ready struct {
	EventHeader
	Boot BootID
}

// PeerAlive: this node and Peer hear each other in time.
type PeerAlive struct {
	EventHeader
	Peer  NodeID
	Bound time.Duration // proven delay bound of its last packet, or [UnknownDelay]
}

// PeerSilent: Peer is not alive any more for this node.
type PeerSilent struct {
	EventHeader
	Peer      NodeID
	SilentFor time.Duration // since its last fast packet; 0 when there was none
	LastBound time.Duration // proven delay bound of its last packet, or [UnknownDelay]
	// Deaf tells that this node hears the peer well, and the peer does not hear
	// this node: one direction of the link, or the peer, has failed.
	Deaf bool
}

// PeerRestarted: Peer has a new incarnation.
type PeerRestarted struct {
	EventHeader
	Peer NodeID
	Boot BootID
}

// PeerCloned: two processes send as one incarnation of Peer, as a virtual
// machine and its copy do that was made with the running memory. Neither is
// heard any more; only new incarnations of both, of which one must get another
// id, are.
type PeerCloned struct {
	EventHeader
	Peer NodeID
	Boot BootID
}

// PeerLeaving: Peer leaves the group for good.
type PeerLeaving struct {
	EventHeader
	Peer NodeID
	Boot BootID
}

// Elected: this node leads.
type Elected struct{ EventHeader }

// LeadLost: this node leads no more.
type LeadLost struct {
	EventHeader
	Reason leader.Reason
	By     NodeID // whose message or silence caused it, if anyone's
}

// GlobalElected: this node leads globally.
type GlobalElected struct{ EventHeader }

// GlobalLost: this node leads globally no more. It may lead on locally.
type GlobalLost struct {
	EventHeader
	Reason leader.Reason
	By     NodeID // whose message or silence caused it, if anyone's
}

// OtherQuorum: Peer is configured with another quorum system or epoch. The two do
// not vote for each other.
type OtherQuorum struct {
	EventHeader
	Peer   NodeID
	Epoch  uint64 // 0: it has no quorum system
	Digest uint64
}

// QuorumChange: the quorum system is being replaced ([Node.ChangeQuorum]), or
// something is wrong about that.
type QuorumChange struct {
	EventHeader
	Step   QuorumStep
	Epoch  uint64 // in which this was, or that has begun
	System string // the quorum system that it is about
	Peer   NodeID // who told, if anybody
}

// QuorumStep is what a [QuorumChange] is.
type QuorumStep string

// The steps of a change, and what can be wrong.
const (
	QuorumProposed   QuorumStep = "proposed"   // this node, which leads globally, has proposed System
	QuorumSuperseded QuorumStep = "superseded" // what was asked for here is not proposed: System was before
	QuorumDecided    QuorumStep = "decided"    // System is known to be the successor
	QuorumEntered    QuorumStep = "entered"    // Epoch has begun here, and System rules it
	QuorumDead       QuorumStep = "dead"       // an administrator has declared this node dead, wrongly
	QuorumConflict   QuorumStep = "conflict"   // Peer knows System as another quorum system of Epoch, or successor of it
	QuorumUnordered  QuorumStep = "unordered"  // proposals do not compare: members have lost their state directories
	QuorumIgnored    QuorumStep = "ignored"    // the configuration names another quorum system than System, which is in use
)

// wrong reports that the step is something to be looked at.
func (s QuorumStep) wrong() bool {
	return s == QuorumDead || s == QuorumConflict || s == QuorumUnordered || s == QuorumIgnored
}

// Following: this node's vote is bound to Leader, or to nobody.
type Following struct {
	EventHeader
	Leader NodeID // NoNode: nobody
	Boot   BootID
}

// Unfit: this node is no candidate, because the votes that its peers grant are
// too short for its own settings (MaxLockTime there, ElectionPeriod here).
type Unfit struct{ EventHeader }

// ViewInstalled: there is an agreed group, which this node is a member of.
type ViewInstalled struct {
	EventHeader
	View *View
	// Previous is the view that this node comes from; none at first.
	Previous ViewID
	// Transitional are the members that came along from Previous.
	Transitional Set
	// Merged are the branches that meet in the view, each with its members,
	// so that an application knows what to reconcile.
	Merged []Branch
}

// ViewFresh: the view is up to date again, until told otherwise or until its
// lease ends.
type ViewFresh struct {
	EventHeader
	View ViewID
}

// ViewStale: the view is not up to date any more.
type ViewStale struct {
	EventHeader
	View   ViewID
	Reason membership.Reason
	By     NodeID // whose message or silence caused it, if anyone's
}

// ClockAdopted: the clock follows another timeline, without a jump.
type ClockAdopted struct {
	EventHeader
	Timeline, Parent TimelineID
}

// ClockStepped: the clock follows another timeline, and jumped by Step.
type ClockStepped struct {
	EventHeader
	Timeline, Parent TimelineID
	Step             time.Duration
}

// ClockFault: the hardware clocks of this node and of Peer contradict the drift
// bound ρ. The two are not alive to each other any more.
type ClockFault struct {
	EventHeader
	Peer  NodeID
	Boot  BootID
	Bound time.Duration // the delay bound that came out, or [UnknownDelay]
}

// UTCChanged: what is known of UTC has changed, from here on to State. That bounds
// get too wide with time is no event.
type UTCChanged struct {
	EventHeader
	State clocksync.UTCState
}

// Falseticker: an external reference contradicts what most references say, and is
// left out.
type Falseticker struct {
	EventHeader
	Name   string // as configured; empty if only another node knows it
	Source clocksync.SourceID
	Node   NodeID        // that asks it
	Off    time.Duration // of the middle of its interval from that of the others
}

// Truechimer: a falseticker agrees with the others again.
type Truechimer struct {
	EventHeader
	Name   string
	Source clocksync.SourceID
	Node   NodeID
}

// Mismatch: a peer has another ρ or Δ, and is not heard.
type Mismatch struct {
	EventHeader
	Peer       NodeID
	Difference *MismatchError // never nil
}

// Restarted: this node gave up its incarnation, with everything that rested on
// its clock, and began a new one.
type Restarted struct {
	EventHeader
	Reason         RestartReason
	Previous, Boot BootID
}

// SlowConsumer: the application takes its deliveries too slowly, and this node has
// stopped to acknowledge messages; if that goes on for another
// [BroadcastConfig.SlowAfter], the incarnation ends ([Overrun]).
type SlowConsumer struct {
	EventHeader
	View    ViewID
	Backlog int64 // bytes that wait for the application
}

// Missed: Count events were not kept for this consumer, because it was too slow
// or came too late.
type Missed struct {
	EventHeader // of the last one missed; Time is now
	Count       uint64
}

// RestartReason says why a node began a new incarnation.
type RestartReason string

// The reasons for a new incarnation.
const (
	Suspended       RestartReason = "the machine was suspended"
	PeersContradict RestartReason = "the clocks of most peers contradict this one's"
	ClockRate       RestartReason = "the kernel corrects the clock by more than the drift bound"
	ClockBackwards  RestartReason = "the hardware clock ran backwards"
	Overrun         RestartReason = "deliveries were taken too slowly for too long"
)

var restartReasons = [...]RestartReason{life.None: "", life.Suspended: Suspended, life.ClockBackwards: ClockBackwards,
	life.ClockRate: ClockRate, life.PeersContradict: PeersContradict, life.Overrun: Overrun}

// UnknownDelay stands for a delay bound that is not known.
const UnknownDelay = datagram.Unknown

func boundText(d time.Duration) string {
	if d == UnknownDelay {
		return "unknown"
	}
	return brief(d)
}

// brief rounds a duration to what people read.
func brief(d time.Duration) string {
	if d.Abs() < time.Millisecond {
		return d.Round(100 * time.Nanosecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// by names a cause, if there is one.
func by(id NodeID) string {
	if id == NoNode {
		return ""
	}
	return fmt.Sprintf(" (by node %v)", id)
}
