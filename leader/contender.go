package leader

import "github.com/failaware/failaware/timed"

// outranksMe reports whether a peer ranks above this node. All do while this node is
// not a contender.
func (e *Election) outranksMe(id timed.NodeID) bool {
	if e.abstains() {
		return true
	}
	return e.rankOf(id) > e.rank()
}

// abstains reports whether this node is not a contender.
func (e *Election) abstains() bool { return e.unfit || e.resigned || e.steppedDown }

// rank returns this node's own rank.
func (e *Election) rank() rank {
	support := 0
	if e.leading {
		support = e.support.Len()
	}
	return e.cfg.RankBy.rank(e.cfg.Self.Node, e.leading, uint8(support), e.cfg.Weight) |
		standing(e.holdsGlobal(), e.leading, e.named, e.quorate())
}

// rankOf returns the rank of a peer. While this node leads globally no other node does, so
// a peer that says so sent its packet before: a process that the system stopped reads such
// packets after it has been elected.
func (e *Election) rankOf(id timed.NodeID) rank {
	st := &e.peers.of(id).state
	global := st.Global && !e.holdsGlobal()
	return e.cfg.RankBy.rank(id, st.Leading, st.Support, st.Weight) | standing(global, st.Leading, st.Named, st.Quorate)
}

// holdsGlobal reports whether this node holds a global lease whose end it has not noticed.
func (e *Election) holdsGlobal() bool { return e.global != nil && e.global.held }

// best returns the contender of the highest rank among the alive peers, or NoNode.
func (e *Election) best() timed.NodeID {
	if e.topValid {
		return e.top
	}
	best, highest, own := timed.NoNode, rank(0), e.rank()
	e.above = 0
	for id := e.alive.Next(0); id != 0; id = e.alive.Next(id) {
		st := &e.peers.of(id).state
		if !st.Contender || id == e.lapsed.Node || e.Contradicts(id) || e.Contradicts(st.LockedTo.Node) {
			continue // its votes count elsewhere, and those of a process that follows such a one do
		}
		if e.cfg.Mode == Available && (e.elsewhere(st.LockedTo, id) || st.LockedTo.Valid() && st.LockedTo == e.lapsed) {
			// It cannot lead, and its leader is gone for this node.
			if st.LockedTo == e.lockedTo && e.rankOf(id) > own && e.above < mostAbove {
				e.above++
			}
			continue
		}
		if r := e.rankOf(id); best == timed.NoNode || r > highest {
			best, highest = id, r
		}
	}
	e.top, e.topValid = best, true
	e.topAbove = best != timed.NoNode && highest > own
	return best
}

// outranked reports whether some contender ranks above this node.
func (e *Election) outranked() bool {
	e.best()
	return e.topAbove
}

// elsewhere reports whether a process locked to l follows a leader that this node does not
// hear: l is neither the process, nor this node, nor alive here.
func (e *Election) elsewhere(l timed.Incarnation, id timed.NodeID) bool {
	if !l.Valid() || l.Node == id || l.Node == e.cfg.Self.Node {
		return false
	}
	return !e.alive.Has(l.Node) || e.peers.of(l.Node).boot != l.Boot
}
