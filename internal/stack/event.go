package stack

import (
	"time"

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
	EventPeerAlive                          // Peer is alive
	EventPeerSilent                         // Peer is no longer alive: Age since its last fast packet, Bound of its last packet
	EventPeerRestarted                      // Peer has a new incarnation
	EventElected                            // this node leads, with the votes of Support
	EventLeadLost                           // this node no longer leads: Lost, Peer
	EventFollowing                          // this node follows Peer, or no node
	EventUnfit                              // peers grant votes that are too short for this node's settings
	EventViewInstalled                      // View, after Previous
	EventViewFresh                          // the view is up to date
	EventViewStale                          // the view is no longer up to date: Stale, Peer
	EventClockAdopted                       // the clock slews to Timeline
	EventClockStepped                       // the clock stepped by Step to Timeline
	EventClockFault                         // the clocks of this node and of Peer contradict ρ
	EventMismatch                           // a packet of Peer was dropped, whose Group, ρ or Δ differs
	EventTwins                              // two processes send as the incarnation Boot of Peer
	EventDuplicateID                        // another process uses this id, as the incarnation Boot
	EventRestart                            // this node suspects its own clock: it needs a new incarnation
	EventPeerLeaving                        // Peer leaves the group
	EventSlowConsumer                       // deliveries are taken too slowly, and the broadcast has stopped its acknowledgements
	EventOverrun                            // the same for too long: this incarnation must leave, or the group waits for it
	EventStampAhead                         // a message of Peer counts as stamped Step earlier, because no clock of View is so far
	EventUTCChanged                         // UTC holds the new state of UTC
	EventFalseticker                        // reference Source, which Peer asks, contradicts the others and is off by Step
	EventTruechimer                         // reference Source no longer contradicts them
	EventGlobalElected                      // this node leads globally, with the votes of Support
	EventGlobalLost                         // this node no longer leads globally: Lost, Peer
	EventOtherQuorum                        // Peer votes in another quorum system or epoch: Quorum
	EventVerified                           // Peer has answered whether it leads: Assurance
	EventEpoch                              // the quorum system is being replaced: Change
	EventNewEpoch                           // messages are ordered by other quorums from now on: this node needs a new incarnation
	EventUnsent                             // the driver cannot encode a packet for Peer: Text
	EventInconsistent                       // an invariant of this node is broken: Text. It needs a new incarnation
	EventRival                              // another process than Peer uses its id too, as the incarnation Boot
	EventPeerForgot                         // Peer, as Boot, counts Starts, and an earlier incarnation had counted Before; the driver notices it
)

// Event is news for the application. It is a flat value, and the kind says which fields
// count.
type Event struct {
	Kind     EventKind
	Peer     timed.NodeID
	Boot     timed.BootID
	ForGood  bool // of EventPeerLeaving: Peer will not come back
	View     *membership.View
	Previous membership.ViewID
	Lost     leader.Reason
	Stale    membership.Reason
	Timeline clocksync.TimelineID
	Parent   clocksync.TimelineID
	Step     time.Duration
	Age      time.Duration // since the last fast message, where known
	Bound    time.Duration // delay bound of the last packet, where known
	Support  timed.Set     // the voters for this leader
	Deaf     bool          // PeerSilent: this node hears the peer, but the peer does not hear this node
	UTC      clocksync.UTCState
	Source   clocksync.SourceID
	// Mismatch: the settings of the peer. MaxDrift and FastThreshold are unknown, 0, if
	// Group differs. The driver adds the address as Text.
	Group         uint64
	MaxDrift      timed.Drift
	FastThreshold time.Duration
	Elsewhere     bool // Mismatch: Peer has another address. The driver adds it.
	// Mismatch, OtherQuorum: the settings that the peer has told, or nil. The driver adds them.
	Settings *wire.Settings

	Starts, Before uint64 // of PeerForgot

	Quorum    leader.QuorumID
	Assurance *leader.Assurance // may be kept
	Change    epoch.Event
	Text      string
}
