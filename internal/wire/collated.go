package wire

import (
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Relayed is a voter's reply that other nodes pass on to the requester.
type Relayed struct {
	Voter  timed.Incarnation
	Reply  leader.Reply
	Report membership.Report
}

// Collated is the replies that a node of the tree passes on towards the requester.
type Collated struct {
	Leader  timed.Incarnation // the requester
	Number  timed.Instant     // of its request, and so of every reply
	Replies []Relayed
}

// CopyTo copies c into to and reuses the memory of to.
func (c *Collated) CopyTo(to *Collated) {
	to.Leader, to.Number = c.Leader, c.Number
	to.Replies = append(to.Replies[:0], c.Replies...)
}

// hasStamp reports whether the vote has a stamp, as every vote has where there is a
// quorum system.
func (r *Relayed) hasStamp() bool { return r.Reply.Stamp != leader.VoteStamp{} }

// repeats reports whether two replies differ only in the voter and in the stamp of
// its vote.
func (r *Relayed) repeats(o *Relayed) bool {
	reply := r.Reply
	reply.Stamp = o.Reply.Stamp
	return reply == o.Reply && r.Report == o.Report
}
