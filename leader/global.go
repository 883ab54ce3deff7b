package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// QuorumID names the quorum system of an epoch, for which votes count. The zero
// QuorumID means none. Votes of nodes that name another one do not count, because
// quorums of two systems need not have a node in common.
type QuorumID struct{ Epoch, Digest uint64 }

// globalLead is the state of global leadership, which needs a quorum system. The
// same rounds and votes decide local and global leadership: a leader whose votes
// hold a quorum leads globally.
type globalLead struct {
	id     QuorumID
	held   bool          // until its end is noticed
	until  timed.Instant // end of the lease of the latest round with a quorum
	stamps *QuorumStamp  // of that round

	quorate bool // the nodes that this one hears hold a quorum with it

	lastStamp timed.Instant // the latest stamp that this node gave as a voter

	// Votes of nodes that count them in another quorum system, or in none, do not count.
	asked   QuorumID  // of the present round
	counted timed.Set // voters of the round whose votes have a stamp
}

// newGlobalLead sets up global leadership if there is a quorum system.
func (e *Election) newGlobalLead() {
	switch {
	case e.cfg.Epochs != nil:
		e.global = &globalLead{}
		e.takeSystem()
	case e.cfg.Quorum != nil:
		e.global = &globalLead{id: QuorumID{Epoch: max(e.cfg.Epoch, 1), Digest: e.cfg.Quorum.Digest()}}
	}
}

// QuorumID returns the quorum system that this node votes for.
func (e *Election) QuorumID() QuorumID {
	if e.global == nil {
		return QuorumID{}
	}
	return e.global.id
}

// LeadsGlobally reports whether this node holds the votes of a quorum at now. No
// other node does then.
func (e *Election) LeadsGlobally(now timed.Instant) bool {
	return e.global != nil && now < e.global.until && e.Leads(now)
}

// LeadingGlobally returns whether the node holds a global lease and, if so, when
// it ends: never after the lease of [Election.Leading].
func (e *Election) LeadingGlobally() (expiration timed.Instant, leading bool) {
	g := e.global
	if g == nil || !g.held {
		return 0, false
	}
	return g.until, true
}

// holdsQuorum reports whether the votes of the present round are enough to lead
// globally.
func (e *Election) holdsQuorum() bool {
	return e.global != nil && e.cfg.Quorum != nil && e.cfg.Quorum.IsQuorum(e.inQuorum())
}

// lookAround forgets the best candidate, and notes whether the nodes that this one hears hold a
// quorum with it, and whether it may lead globally then: where quorum systems are replaced, members
// do.
func (e *Election) lookAround() {
	g := e.global
	if e.topValid = false; g == nil {
		return
	}
	g.quorate = false
	if e.cfg.Quorum == nil || e.cfg.Epochs != nil && !e.cfg.Quorum.Members().Has(e.cfg.Self.Node) {
		return
	}
	heard := timed.SetOf(e.cfg.Self.Node)
	for id := range e.alive.All() {
		if !e.Contradicts(id) {
			heard.Add(id)
		}
	}
	g.quorate = e.cfg.Quorum.IsQuorum(heard)
}

// quorate reports whether this node hears a quorum, as far as it has looked. Peers rank a node
// by its own report, so that all rank it alike while links are missing, and while some have
// not heard of an epoch.
func (e *Election) quorate() bool { return e.global != nil && e.global.quorate }

// winGlobally begins or renews the global lease after a round that was won with a
// quorum. A round without a quorum does not end the lease: the votes of an earlier round
// bind their voters until then.
func (e *Election) winGlobally() {
	g := e.global
	g.until = e.expiration
	if !g.held {
		g.held, e.topValid = true, false
	}
	e.keepStamps()
}

// boundGlobal makes the global lease end no later than the local lease of a round without a
// quorum, which ends first if that round asked for less lock time. Without this rule,
// another round that renews the local lease late would revive the global one.
func (e *Election) boundGlobal() {
	if e.global != nil {
		e.global.until = timed.Earlier(e.global.until, e.expiration)
	}
}

// endGlobal ends the global lease. It comes before any vote is given back, so that a
// node that soon leads a few others again does not count on the old lease.
func (e *Election) endGlobal(why Reason, by timed.NodeID, out []Effect) []Effect {
	g := e.global
	if g == nil || !g.held {
		return out
	}
	g.held, g.until, g.stamps = false, 0, nil
	e.topValid = false
	if e.cfg.Epochs != nil {
		e.cfg.Epochs.NoteLost()
	}
	return append(out, Effect{Kind: GlobalLost, Reason: why, Peer: by})
}

// HandleQuorum takes the quorum system that a peer's accepted incarnation votes for.
// Its effect is OtherQuorum once if that contradicts this node's, or is one of another epoch, or
// none, although the peer has been alive for ten seconds: it does not follow the epochs of this
// node's group.
func (e *Election) HandleQuorum(now timed.Instant, from timed.NodeID, id QuorumID, out []Effect) []Effect {
	p := e.peers.edit(from)
	if p.quorumKnown && p.quorum == id {
		if e.staysApart(now, from) {
			out = append(out, Effect{Kind: OtherQuorum, Peer: from, Quorum: id})
		}
		return out
	}
	p.apart = apart{}
	p.quorumKnown, p.quorum = true, id
	e.lookAround()
	if !e.Contradicts(from) {
		return out
	}
	return append(out, Effect{Kind: OtherQuorum, Peer: from, Quorum: id})
}

// foreignAfter is for how long a peer has another quorum system when it counts as foreign. The
// voters tell all peers their epoch about once a second.
const foreignAfter = 10 * time.Second

// staysApart reports whether a peer that still has another quorum system than this node has just
// turned foreign.
func (e *Election) staysApart(now timed.Instant, id timed.NodeID) bool {
	p := e.peers.edit(id)
	if !e.differs(id) || e.Contradicts(id) || !e.alive.Has(id) { // told already, or it may not hear
		p.apart = apart{}
		return false
	}
	if p.apart.since == 0 {
		p.apart.since = now
	}
	if p.apart.told || now.Sub(p.apart.since) < max(foreignAfter, 20*e.cfg.Timing.KeepalivePeriod) {
		return false
	}
	p.apart.told = true
	return true
}

// meet forgets since when peers have stayed apart: they may not have heard.
func (e *Election) meet(ids timed.Set) {
	if e.cfg.Epochs != nil {
		for id := range ids.All() {
			e.peers.edit(id).apart = apart{}
		}
	}
}

// Foreign reports whether a peer contradicts this node's quorum system, or does not follow it
// although it is heard.
func (e *Election) Foreign(id timed.NodeID) bool {
	return e.Contradicts(id) || e.differs(id) && e.peers.of(id).apart.told
}

// LeadsHere reports whether a peer has said that it leads globally by this node's quorum system
// or, where systems are replaced, by one of a later epoch, of which this node has yet to hear.
func (e *Election) LeadsHere(id timed.NodeID) bool {
	p := e.peers.of(id)
	return p.state.Global && (!e.differs(id) || e.cfg.Epochs != nil && p.quorum.Epoch > e.QuorumID().Epoch)
}

// Contradicts reports whether a peer is known to vote for another quorum system, and neither
// of the two will hear of the other's. Such a peer follows a leader with its own quorum system,
// or none: this node neither votes for it nor gives way to it, or a leader without a quorum
// might keep those with one from leading globally. Where quorum systems are replaced, a peer
// that has another epoch may not have heard yet: votes across epochs have no stamp, and make
// local leaders.
func (e *Election) Contradicts(id timed.NodeID) bool {
	return e.differs(id) && (e.cfg.Epochs == nil || e.peers.of(id).quorum.Epoch == e.global.id.Epoch)
}

// differs reports whether a peer is known to vote for another quorum system.
func (e *Election) differs(id timed.NodeID) bool {
	p := e.peers.of(id)
	return p.quorumKnown && p.quorum != e.QuorumID()
}
