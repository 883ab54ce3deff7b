package leader

import (
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// ParseSystem reads a quorum system for [epoch.Config]. An election can count votes by
// the result.
func ParseSystem(text string) (epoch.System, error) {
	s, err := quorum.Parse(text)
	if err != nil {
		return nil, err // a nil *quorum.System would make a System that is not nil
	}
	return s, nil
}

// takeSystem adopts the quorum system that rules the node's epoch.
func (e *Election) takeSystem() {
	e.cfg.Quorum, e.global.id = nil, QuorumID{}
	if s, ok := e.cfg.Epochs.System().(quorum.System); ok {
		e.cfg.Quorum, e.global.id = s, QuorumID{Epoch: e.cfg.Epochs.State().Epoch, Digest: s.Digest()}
	}
}

// HandleEpoch adopts the quorum system of the epoch that the node has entered. The
// global lead and the votes of the epoch before no longer count. The local lead
// continues.
func (e *Election) HandleEpoch(_ timed.Instant, out []Effect) []Effect {
	out = e.endGlobal(NoQuorum, timed.NoNode, out)
	e.takeSystem()
	e.global.counted = timed.Set{}
	e.lookAround()
	e.meet(e.alive) // they have yet to hear
	e.RequestSoon()
	return out
}

// inQuorum returns the supporters of the present round whose votes count in a quorum. Where
// this node's quorum system is not replaced, that of a voter may be: once the voter has left
// the epoch, its vote makes a local leader.
func (e *Election) inQuorum() timed.Set { return e.replies.Intersect(e.global.counted) }

// count notes whether a vote counts in a quorum: it must have a stamp, and its request
// must be of the present epoch.
func (e *Election) count(id timed.NodeID, s VoteStamp) {
	g := e.global
	if s != (VoteStamp{}) && g.asked == g.id {
		g.counted.Add(id)
	} else {
		g.counted.Remove(id)
	}
}

// stampFor returns the stamp of the vote that this node has just given, or none if
// the vote does not count in a quorum.
func (e *Election) stampFor(now timed.Instant, to timed.Incarnation) VoteStamp {
	m := e.cfg.Epochs
	if m == nil {
		return e.stamp(now)
	}
	id := e.peers.of(to.Node).quorum
	if to == e.cfg.Self {
		id = e.global.id
	}
	if !m.Votes(to.Node, id.Epoch, id.Digest) {
		return VoteStamp{}
	}
	s := e.stamp(now)
	m.NoteVote(to, s.At, e.lockedUntil)
	return s
}

// stampSelf stamps this node's own vote in the round that begins.
func (e *Election) stampSelf(now timed.Instant) {
	g := e.global
	g.asked, g.counted = g.id, timed.Set{}
	s := e.stampFor(now, e.cfg.Self)
	e.peers.edit(e.cfg.Self.Node).stamp = s
	e.count(e.cfg.Self.Node, s)
}

// freed notes that the votes for a candidate no longer bind this node.
func (e *Election) freed(now timed.Instant, by timed.Incarnation) {
	if by == e.audit.to {
		e.audit.until = 0
	}
	if e.cfg.Epochs != nil {
		e.cfg.Epochs.NoteFreed(now, by)
	}
}
