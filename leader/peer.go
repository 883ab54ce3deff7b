package leader

import "github.com/failaware/failaware/timed"

// peer is the election's knowledge of one node. The zero peer knows nothing.
type peer struct {
	boot    timed.BootID
	state   State
	vote    Vote
	refusal refusal // of the latest round

	// Only where there is a quorum system.
	stamp       VoteStamp // of vote
	quorum      QuorumID  // the quorum system that the peer votes for
	quorumKnown bool
	apart       apart
}

// apart is a time for which a peer is alive and votes for a quorum system of another epoch, or for
// none.
type apart struct {
	since timed.Instant // 0: it does not
	told  bool
}

type refusal struct {
	lockedTo timed.Incarnation
	prefers  timed.NodeID
}

// peers is indexed by id and ends with the largest id that has sent anything:
// groups are small, and ids too.
type peers []peer

var unknownPeer peer // never written

// of returns the knowledge of a node, for reading.
func (ps peers) of(id timed.NodeID) *peer {
	if int(id) < len(ps) {
		return &ps[id]
	}
	return &unknownPeer
}

// edit returns the knowledge of a node, for writing.
func (ps *peers) edit(id timed.NodeID) *peer {
	if missing := int(id) + 1 - len(*ps); missing > 0 {
		*ps = append(*ps, make(peers, missing)...)
	}
	return &(*ps)[id]
}
