package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// Request asks for votes. Number is the requester's clock at the request. It grows
// with every request, and the lease is counted from it.
type Request struct {
	Number   timed.Instant
	LockTime time.Duration // how long the vote binds the voter
	Tree     Tree          // along which replies are collated
}

// Reply answers a request.
type Reply struct {
	Number   timed.Instant     // of the request
	Support  bool              // the vote
	LockedTo timed.Incarnation // if refused: the incarnation that the voter is locked to
	Prefers  timed.NodeID      // if refused: a contender that the voter ranks higher

	OtherQuorum bool      // if refused: the voter votes for another [QuorumID]
	Stamp       VoteStamp // of the vote, where there is a quorum system
}
