package leader

import (
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// Stamp says when a voter gave its vote, on its own clock. Edicts carry the same
// stamps.
type Stamp = edict.Stamp

// VoteStamp is the part of a [Stamp] that a reply carries. The packet names the
// voter.
type VoteStamp struct {
	Counter uint64        // the voter's number of starts; 0 if nothing counts them
	At      timed.Instant // the voter's clock
}

// QuorumStamp is the stamps of the votes of a round with a quorum, in the order of
// nodes. It is immutable and may be kept. Any two of one epoch have a node in common,
// and all common nodes agree on which of the two is later.
type QuorumStamp struct {
	Epoch  uint64 // whose quorum system counted the votes
	Stamps []Stamp
}

// Voters returns the nodes whose votes they are of; none for nil.
func (q *QuorumStamp) Voters() (voters timed.Set) {
	if q == nil {
		return voters
	}
	for i := range q.Stamps {
		voters.Add(q.Stamps[i].Node)
	}
	return voters
}

// Timestamp orders a decision of a global leader among all decisions of the global
// leaders of its epoch: first by the stamps, and then by Counter, which orders the
// decisions of one incarnation.
type Timestamp struct {
	Quorum  *QuorumStamp
	Counter uint64
}

// QuorumStamp returns the stamps of the votes behind the global lease; ok is
// false unless the node leads globally at now.
func (e *Election) QuorumStamp(now timed.Instant) (q *QuorumStamp, ok bool) {
	if !e.LeadsGlobally(now) {
		return nil, false
	}
	return e.global.stamps, true
}

// stamp returns the stamp of a vote that this node gives at now. No two stamps of an
// incarnation are the same.
func (e *Election) stamp(now timed.Instant) VoteStamp {
	g := e.global
	g.lastStamp = timed.Later(now, g.lastStamp+1)
	return VoteStamp{Counter: e.cfg.Starts, At: g.lastStamp}
}

// keepStamps notes the stamps of the members' votes in the round that was won.
// Readers keep them, so each round has its own.
func (e *Election) keepStamps() {
	voters := e.inQuorum().Intersect(e.cfg.Quorum.Members())
	stamps := make([]Stamp, 0, voters.Len())
	for id := voters.Next(0); id != 0; id = voters.Next(id) {
		p := e.peers.of(id)
		stamps = append(stamps, Stamp{Node: id, Counter: p.stamp.Counter, Boot: p.vote.Boot, At: p.stamp.At})
	}
	e.global.stamps = &QuorumStamp{Epoch: e.global.id.Epoch, Stamps: stamps}
}
