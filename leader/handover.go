package leader

// A leader p that resigns gives up its leases before it sends anything. So its votes could
// serve another node at once, but members may still count on its view V. Release waits
// until all have said that they dropped V. To be faster, the packet that gives V up names a
// successor q, and these rules preserve the meaning of votes:
//
//  1. Answers to questions bind their asker to nothing, so p hands over no votes on which
//     they rest.
//  2. A vote is handed over if it is older than the packet. p has given up every lease that
//     rests on such a vote, and does not lead by it again, because giving up forgets it. If
//     the voter votes for p anew, the vote is not handed over any more.
//  3. Only q may take the vote over, as the incarnation that is a member of the installed
//     view V. The vote still binds for as long as before, and to q from then on. So for a
//     third candidate all is as if p had kept the vote.
//  4. All leases on V rest on the vote of q too. So q knows when they end, by its own clock:
//     when its vote for p does. It can ask for votes before that only if it knows of the
//     hand-over, p freed its vote, or it is another incarnation, which is not V's member.
//     A request that q sent before it became a member of V can still be on its way. So p
//     hands nothing over until such a request is slow: for FastThreshold after V's commit.
//  5. Until then, q commits no view without a member of V other than p: members drop V when
//     they acknowledge the proposal. And it gives no vote back, unless it has committed a
//     view.
//
// By 2 no two leaders count on one vote, and by 3 to 5 no view that shares a member with V
// is committed while V is up to date anywhere. A voter that does not know these rules stays
// bound to p until p frees it.

import "github.com/failaware/failaware/timed"

// HandOver gives up the lead in favour of a peer. It is [Election.StepDown], and the
// release of the votes names the peer. If that peer does not take over, the best
// contender leads, as after any other resignation.
func (e *Election) HandOver(now timed.Instant, to timed.NodeID, out []Effect) []Effect {
	if e.leading || e.open {
		e.successor = to
	}
	return e.StepDown(now, out)
}

// Successor returns the node that may take the votes over before the view leases that rest on
// them have run out, or NoNode: the named successor, or else the best contender.
func (e *Election) Successor(now timed.Instant) timed.NodeID {
	switch {
	case !e.releasing || now < timed.Later(e.answersUntil, e.inheritedUntil):
		return timed.NoNode // answers are for the asker, who drops nothing
	case now < e.youngUntil:
		return timed.NoNode // an old request would take the vote
	case now <= e.lastRequest:
		return timed.NoNode // the vote would not be older than the packet
	case e.successor != timed.NoNode:
		return e.successor
	}
	return e.best()
}

// HandVote lets the next leader take over this node's vote for itself.
func (e *Election) HandVote(to timed.Incarnation) {
	if e.lockedTo == e.cfg.Self {
		e.handed, e.successor = to, to.Node
	}
}

// NoteHandOver notes that a leader has given up its votes for requests before sent in
// favour of a member of its view.
func (e *Election) NoteHandOver(now timed.Instant, from timed.Incarnation, sent timed.Instant, to timed.Incarnation) {
	if e.lockedTo != from || e.lockRequest >= sent || now >= e.lockedUntil {
		return
	}
	e.handed = to
	e.noteSuccessor(now, to.Node)
	if to == e.cfg.Self {
		// The view leases rest on this node's votes too.
		e.inheritedUntil = timed.Later(e.inheritedUntil, e.lockedUntil)
	}
}

// InheritedUntil returns until when members may count on the view of a leader whose votes
// this node may take over, or has taken over.
func (e *Election) InheritedUntil() timed.Instant { return e.inheritedUntil }

// Handed returns the incarnation that may take this node's vote over, if there is one.
func (e *Election) Handed() timed.Incarnation { return e.handed }

// NoteCommitted notes that this node has committed a view. No member counts any more on the
// view of the leader whose votes this node took over. The members vote for this node now,
// and requests that they sent before are slow from youngUntil on.
func (e *Election) NoteCommitted(now timed.Instant) {
	t := &e.cfg.Timing
	e.inheritedUntil, e.youngUntil = 0, now.Add(t.MaxDrift.Wait(t.FastThreshold))
}

// noteSuccessor notes that a leader has freed this node's vote in favour of a node.
// That node asks for votes at once and is preferred to all nodes that do not lead.
// The others defer to it at once.
func (e *Election) noteSuccessor(now timed.Instant, to timed.NodeID) {
	e.topValid = false
	if to != e.cfg.Self.Node {
		if e.peers.of(to).boot != 0 {
			e.peers.edit(to).state.Named = true
		}
		return
	}
	e.named, e.nextRequest = true, 0
	e.namedUntil = now.Add(e.takeoverTime())
}

// endNamed ends the preference for this node.
func (e *Election) endNamed() {
	if e.named {
		e.named, e.topValid = false, false
	}
}
