package stack

import (
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// EventKind tells events apart.
type EventKind uint8

// The events of a node.
const (
	EventReady         EventKind = iota + 1 // the incarnation Boot may vote
	EventPeerAlive                          // Peer came alive
	EventPeerSilent                         // Peer left the alive set: Age since it was heard fast, Bound of its last packet
	EventPeerRestarted                      // Peer has a new incarnation
	EventElected                            // this node leads, with the votes of Support
	EventLeadLost                           // this node leads no more: Lost, Peer
	EventFollowing                          // this node follows Peer (none: nobody)
	EventUnfit                              // peers grant votes that are too short for this node's settings
	EventViewInstalled                      // View, coming from Previous
	EventViewFresh                          // the view is up to date
	EventViewStale                          // the view is not: Stale, Peer
	EventClockAdopted                       // the clock slews to Timeline
	EventClockStepped                       // the clock stepped by Step to Timeline
	EventClockFault                         // the clocks of this node and of Peer contradict ρ
	EventMismatch                           // Peer has another ρ or Δ: Detail
	EventTwins                              // two processes send as the incarnation Boot of Peer
	EventDuplicateID                        // another process uses this id: Boot
	EventRestart                            // this node blames its own clock: a new incarnation is needed
	EventPeerLeaving                        // Peer leaves for good
	EventSlowConsumer                       // deliveries are taken too slowly: the broadcast has stopped acknowledging
	EventOverrun                            // for too long: this incarnation must leave, or the group waits for it
	EventUTCChanged                         // what is known of UTC is now UTC
	EventFalseticker                        // reference Source, which Peer asks, contradicts the others; it is off by Step
	EventTruechimer                         // it no longer does
	EventGlobalElected                      // this node leads globally, with the votes of Support
	EventGlobalLost                         // this node leads globally no more: Lost, Peer
	EventOtherQuorum                        // Peer votes in another quorum system or epoch: Quorum
	EventVerified                           // Peer has answered whether it leads: Assurance
	EventEpoch                              // the quorum system is being replaced: Change
)

// Event is something that an application may want to know. It is a flat value;
// which fields count depends on the kind.
type Event struct {
	Kind     EventKind
	Peer     timed.NodeID
	Boot     timed.BootID
	View     *membership.View
	Previous membership.ViewID
	Lost     leader.Reason
	Stale    membership.Reason
	Timeline clocksync.TimelineID
	Parent   clocksync.TimelineID
	Step     time.Duration
	Age      time.Duration // since the last fast message, where known
	Bound    time.Duration // delay bound of the last packet, where known
	Support  timed.Set
	Deaf     bool // PeerSilent: we hear the peer, and it does not hear us
	UTC      clocksync.UTCState
	Source   clocksync.SourceID
	// Mismatch: what the peer has.
	MaxDrift      timed.Drift
	FastThreshold time.Duration

	Quorum    leader.QuorumID
	Assurance *leader.Assurance // may be kept
	Change    epoch.Event
}

// EffectKind tells effects apart.
type EffectKind uint8

const (
	// Send: send Packet to the node To. The packet is valid until the next
	// call; the caller fills in Stamp and Counter when it leaves.
	Send EffectKind = iota + 1
	// Answer: send Packet to where the packet being handled came from.
	Answer
	// Notify: Event, which is valid until the next call.
	Notify
	// Cast: deliveries and outcomes of the broadcast, in Cast. It is valid until
	// the next call.
	Cast
	// Persist: write Epoch down, durably, before the next effect is performed. If
	// that fails, the node must stop without performing any further one. It is
	// valid for ever.
	Persist
)

// Effect is something for the driver to do, in order.
type Effect struct {
	Kind   EffectKind
	To     timed.NodeID
	Packet *wire.Packet
	Event  *Event
	Cast   *broadcast.Effect
	Epoch  *epoch.State
}
