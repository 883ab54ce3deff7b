package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Request asks for votes. Number is the requester's clock at the request; it
// grows with every request, and the lease is counted from it.
type Request struct {
	Number   timed.Instant
	LockTime time.Duration // for how long the vote is to bind the voter
	Tree     Tree          // along which replies are collated
}

// Reply answers a request.
type Reply struct {
	Number   timed.Instant     // of the request
	Support  bool              // the vote
	LockedTo timed.Incarnation // if refused: to whom the voter is locked
	Prefers  timed.NodeID      // if refused: a contender that the voter ranks higher

	OtherQuorum bool      // if refused: the voter votes for another [QuorumID]
	Stamp       VoteStamp // of the vote, where there is a quorum system
}

// Kind tells effects apart.
type Kind uint8

const (
	// SendRequest: broadcast Request.
	SendRequest Kind = iota + 1
	// SendRelease: broadcast that votes for requests up to Number are free, in
	// favour of By if that is a node.
	SendRelease
	// Won: the round Number was won, for the first time if First. The lease and
	// the support set are those of the machine now.
	Won
	// GiveUp: leadership, if there was any, is over, for Reason. No view of
	// before may be renewed from now on.
	GiveUp
	// Unfit: this node is no contender, because the votes that its peers grant
	// are too short for its own settings.
	Unfit
	// GlobalLost: the node leads globally no more, for Reason.
	GlobalLost
)

// Reason says why something ended.
type Reason uint8

const (
	// NoReason is the zero Reason.
	NoReason Reason = iota
	// Outranked: a candidate of higher rank asked for votes.
	Outranked
	// LeaseExpired: the lease ran out before it was renewed.
	LeaseExpired
	// RoundFailed: a candidate did not get the votes.
	RoundFailed
	// Resigned: the application asked for it, or the node leaves.
	Resigned
	// ClockFault: the local hardware clock cannot be trusted.
	ClockFault
	// NoQuorum: no quorum has renewed the global lease.
	NoQuorum
)

func (r Reason) String() string {
	switch r {
	case Outranked:
		return "outranked"
	case LeaseExpired:
		return "lease expired"
	case RoundFailed:
		return "round failed"
	case Resigned:
		return "resigned"
	case ClockFault:
		return "clock fault"
	case NoQuorum:
		return "no quorum"
	}
	return "none"
}

// Effect is something for the caller to do, in order.
type Effect struct {
	Kind    Kind
	Request Request
	Number  timed.Instant
	First   bool
	Reason  Reason
	By      timed.NodeID // whose message or silence caused it, if anyone's
	Stamps  *QuorumStamp // of Won: those of the round Number if a quorum voted in it
}
