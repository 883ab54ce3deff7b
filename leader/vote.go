package leader

import "github.com/failaware/failaware/timed"

// HandleRequest takes a request of a peer's accepted incarnation. started is the latest
// reading of the local clock when the request can have been sent. Its last effect is
// SendReply if the node answers the request.
func (e *Election) HandleRequest(now timed.Instant, from timed.Incarnation, m Request, fast bool, started timed.Instant, out []Effect) []Effect {
	if !fast {
		return out
	}
	// A peer that does not hear this node cannot count its vote, and a lock to it
	// would only keep this node's vote from other candidates.
	if !e.alive.Has(from.Node) {
		return out
	}
	if e.outranksMe(from.Node) && (e.leading || e.open) && !e.Contradicts(from.Node) {
		out = e.release(now, Outranked, from.Node, out)
	}
	if from == e.lockedTo && m.Number < e.lockRequest {
		return out // a newer request came first
	}
	out, send := add(out, SendReply)
	send.Peer = from.Node
	reply := &send.Reply
	reply.Number = m.Number
	if e.mayVote(now, from, m, reply) {
		e.vote(now, from, m, started)
		reply.Support = true
		if e.global != nil {
			reply.Stamp = e.stampFor(now, from)
		}
	}
	return out
}

// mayVote decides on a vote and notes the reason for a refusal in reply.
func (e *Election) mayVote(now timed.Instant, from timed.Incarnation, m Request, reply *Reply) bool {
	if !e.Ready(now) {
		return false
	}
	if m.LockTime > e.cfg.Timing.MaxLockTime || m.LockTime <= 0 {
		return false
	}
	if e.Contradicts(from.Node) {
		reply.OtherQuorum = true
		return false
	}
	if now < e.lockedUntil && e.lockedTo != from && e.handed != from {
		reply.LockedTo = e.lockedTo
		return false
	}
	if !e.outranksMe(from.Node) {
		reply.Prefers = e.cfg.Self.Node
		return false
	}
	if top := e.best(); top != timed.NoNode && e.rankOf(top) > e.rankOf(from.Node) {
		reply.Prefers = top
		return false
	}
	return true
}

// vote locks this node to the candidate. The lock must outlast the lease, which is
// counted from the request's number. So it starts at the latest instant at which the
// request can have been sent, and a late request binds the voter hardly longer than
// the lease. It may be over already.
func (e *Election) vote(now timed.Instant, from timed.Incarnation, m Request, started timed.Instant) {
	until := started.Add(m.LockTime)
	if e.lockedTo == from || e.handed == from {
		until = timed.Later(until, e.lockedUntil) // an older lease may ask for longer
	}
	e.lock(from, until, m.Number)
	e.ended = until <= now // nobody lapses who has just been heard
}

// lockSelf locks this node to itself for the present round.
func (e *Election) lockSelf() {
	until := e.lastRequest.Add(e.lockTime)
	if e.lockedTo == e.cfg.Self || e.handed == e.cfg.Self {
		until = timed.Later(until, e.lockedUntil)
	}
	e.lock(e.cfg.Self, until, e.lastRequest)
}

// lock binds this node. A vote that was handed over is taken or renewed with that.
func (e *Election) lock(to timed.Incarnation, until, number timed.Instant) {
	if e.handed == to {
		e.audit.until = 0 // its former owner does not count on it any more
	}
	if e.lockedTo != to {
		e.topValid = false
	}
	e.lockedTo, e.lockedUntil, e.lockRequest, e.handed = to, until, number, timed.Incarnation{}
	e.turnsFrom, e.ended = until, false
	if e.lapsed == to {
		// An earlier request than the newest packet has come late.
		e.lapsed, e.topValid = timed.Incarnation{}, false
	}
}
