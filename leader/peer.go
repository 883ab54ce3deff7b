package leader

import "github.com/failaware/failaware/timed"

// peer is what the election knows of one node; all zero while that is nothing.
type peer struct {
	boot    timed.BootID
	state   State
	vote    Vote
	refusal refusal // of the latest round

	// Only where there is a quorum system.
	stamp       VoteStamp // of vote
	quorum      QuorumID  // what the peer votes for
	quorumKnown bool
}

type refusal struct {
	lockedTo timed.Incarnation
	prefers  timed.NodeID
}

// peers is indexed by id, and only as long as the largest id that had something
// to say: groups are small, and ids too.
type peers []peer

var nobody peer // never written to

// of returns what is known of a node, to look at.
func (ps peers) of(id timed.NodeID) *peer {
	if int(id) < len(ps) {
		return &ps[id]
	}
	return &nobody
}

// edit returns what is known of a node, to be changed.
func (ps *peers) edit(id timed.NodeID) *peer {
	if missing := int(id) + 1 - len(*ps); missing > 0 {
		*ps = append(*ps, make(peers, missing)...)
	}
	return &(*ps)[id]
}
