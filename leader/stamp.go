package leader

import (
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// Stamp says when a voter gave its vote, on its own clock, as edicts have it.
type Stamp = edict.Stamp

// VoteStamp is what a reply says of a [Stamp]; who voted is in the packet.
type VoteStamp struct {
	Counter uint64
	At      timed.Instant
}

// QuorumStamp are the stamps of the votes of a round with a quorum, in the order
// of nodes. It is never changed once it is made, and may be kept. Any two of one
// epoch have a node in common, and every node that they have in common says the
// same about which is later.
type QuorumStamp struct {
	Epoch  uint64
	Stamps []Stamp
}

// Timestamp places what a global leader decides in the order of all that global
// leaders of its epoch decide: first by the stamps, and then by Counter, which
// orders what one incarnation decides.
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

// Timestamp returns a timestamp for something decided at now, which must be read
// last, when all else about it is ready. It is good only with ok: the node then
// leads globally at now, and all timestamps of before are smaller and those to
// come larger, whoever makes them.
func (e *Election) Timestamp(now timed.Instant) (t Timestamp, ok bool) {
	q, ok := e.QuorumStamp(now)
	if !ok {
		return Timestamp{}, false
	}
	g := e.global
	g.made++
	return Timestamp{Quorum: q, Counter: g.made}, true
}

// stamp returns the stamp of a vote that this node gives at now. Stamps of one
// incarnation differ.
func (e *Election) stamp(now timed.Instant) VoteStamp {
	g := e.global
	g.lastStamp = timed.Later(now, g.lastStamp+1)
	return VoteStamp{Counter: e.cfg.Starts, At: g.lastStamp}
}

// keepStamps notes the stamps of the votes of the round that was won, of those
// who have a say. Readers keep them, so each round has its own.
func (e *Election) keepStamps() {
	who := e.inQuorum().Intersect(e.cfg.Quorum.Members())
	stamps := make([]Stamp, 0, who.Len())
	for id := who.Next(0); id != 0; id = who.Next(id) {
		p := e.peers.of(id)
		stamps = append(stamps, Stamp{Node: id, Counter: p.stamp.Counter, Boot: p.vote.Boot, At: p.stamp.At})
	}
	e.global.stamps = &QuorumStamp{Epoch: e.global.id.Epoch, Stamps: stamps}
}
