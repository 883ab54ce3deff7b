package wire

import (
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Relayed is a voter's reply that travels by way of others.
type Relayed struct {
	Voter  timed.Incarnation
	Reply  leader.Reply
	Report membership.Report
}

// Collated is what a node of the tree passes on towards the requester.
type Collated struct {
	Leader  timed.Incarnation // the requester
	Number  timed.Instant     // of its request; that of all the replies
	Replies []Relayed
}

// CopyTo copies c into to, whose memory is used again.
func (c *Collated) CopyTo(to *Collated) {
	to.Leader, to.Number = c.Leader, c.Number
	to.Replies = append(to.Replies[:0], c.Replies...)
}

// collatedRoom is how many bytes of replies one packet takes, so that with the
// header, the hello and the frame's own fields it is within the smallest
// MaxPacket that a node can have.
const collatedRoom = 1000

// How many bytes a reply takes at most: one that says the same as that before it,
// and any; and what the stamp of a vote adds.
const (
	relayedSame  = 13
	relayedMost  = 110
	relayedStamp = 18
)

// stamped reports whether the vote has a stamp, as it has where there is a quorum
// system.
func (r *Relayed) stamped() bool { return r.Reply.Stamp != leader.VoteStamp{} }

// alike reports whether two replies differ in nothing but the voter and the stamp
// of its vote.
func (r *Relayed) alike(o *Relayed) bool {
	reply := r.Reply
	reply.Stamp = o.Reply.Stamp
	return reply == o.Reply && r.Report == o.Report
}

// FitReplies returns how many of the replies, from the first on, one packet surely
// holds.
func FitReplies(rs []Relayed) int {
	room := collatedRoom
	for i := range rs {
		need := relayedMost
		if i > 0 && rs[i].alike(&rs[i-1]) {
			need = relayedSame
		}
		if rs[i].stamped() {
			need += relayedStamp
		}
		if room -= need; room < 0 {
			return i
		}
	}
	return len(rs)
}
