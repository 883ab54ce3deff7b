package leader

import "github.com/failaware/failaware/timed"

// QuorumID names what votes are counted for: the quorum system of an epoch. The
// zero QuorumID stands for none. Votes of nodes that name another one do not
// count, because quorums of two systems need have no node in common.
type QuorumID struct{ Epoch, Digest uint64 }

// globalLead is what an election has beyond the local one when a quorum system
// is configured. Both are decided by the same rounds and the same votes: a
// leader whose votes hold a quorum leads globally.
type globalLead struct {
	id     QuorumID
	held   bool          // until its end has been noticed
	until  timed.Instant // end of the lease of the latest round with a quorum
	stamps *QuorumStamp  // of that round
	made   uint64        // timestamps made

	lastStamp timed.Instant // the latest that this node gave as a voter

	// Where quorum systems are replaced, votes may be given that do not count.
	asked   QuorumID  // what the round under way began with
	counted timed.Set // whose votes in it have a stamp
}

// newGlobalLead begins without a global lead; it leaves none without a quorum
// system.
func (e *Election) newGlobalLead() {
	switch {
	case e.cfg.Epochs != nil:
		e.global = &globalLead{}
		e.takeSystem()
	case e.cfg.Quorum != nil:
		e.global = &globalLead{id: QuorumID{Epoch: max(e.cfg.Epoch, 1), Digest: e.cfg.Quorum.Digest()}}
	}
}

// QuorumID returns what this node votes for.
func (e *Election) QuorumID() QuorumID {
	if e.global == nil {
		return QuorumID{}
	}
	return e.global.id
}

// LeadsGlobally reports whether this node holds the votes of a quorum at now, so
// that nobody else does. It reads nothing but time.
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
	return timed.Earlier(g.until, e.expiration), true
}

// holdsQuorum reports whether the votes of the round under way are enough to
// lead globally.
func (e *Election) holdsQuorum() bool {
	return e.global != nil && e.cfg.Quorum != nil && e.cfg.Quorum.IsQuorum(e.inQuorum())
}

// winGlobally begins or renews the global lease after a round that was won with
// a quorum. A round without one changes nothing: the votes of an earlier one bind
// their voters as before, until that lease ends.
func (e *Election) winGlobally() {
	g := e.global
	g.until = e.expiration
	if !g.held {
		g.held, e.topValid = true, false
	}
	e.keepStamps()
}

// endGlobal ends the global lease. It comes before any vote is given back: a node
// that soon leads a few others again must not take the old lease for its own.
func (e *Election) endGlobal(why Reason, by timed.NodeID, out []Effect) []Effect {
	g := e.global
	if g == nil || !g.held {
		return out
	}
	g.held, g.until, g.stamps = false, 0, nil
	e.topValid = false
	if e.cfg.Epochs != nil {
		e.cfg.Epochs.HandleLost()
	}
	return append(out, Effect{Kind: GlobalLost, Reason: why, By: by})
}

// HandleQuorum notes what a peer's accepted incarnation votes for. It reports
// whether that is news, and something else than what this node votes for.
func (e *Election) HandleQuorum(from timed.NodeID, id QuorumID) (differs bool) {
	p := e.peers.edit(from)
	if p.quorumKnown && p.quorum == id {
		return false
	}
	p.quorumKnown, p.quorum = true, id
	e.topValid = false
	if e.cfg.Epochs != nil && id.Epoch != e.global.id.Epoch {
		return false // one of the two has not heard of the other's epoch yet
	}
	return id != e.QuorumID()
}

// foreign reports that a peer is known to vote for something else. It follows a
// leader of its own kind, or none. Where quorum systems are replaced nobody is
// foreign: votes across epochs have no stamp, and make local leaders.
func (e *Election) foreign(id timed.NodeID) bool { return e.cfg.Epochs == nil && e.differs(id) }

// differs reports that a peer is known to vote for something else.
func (e *Election) differs(id timed.NodeID) bool {
	p := e.peers.of(id)
	return p.quorumKnown && p.quorum != e.QuorumID()
}
