package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// request starts a round (section VIII). The caller has checked that nobody
// outranks this node and that it is not locked to another.
func (e *Election) request(now timed.Instant, alive timed.Set, out []Effect) []Effect {
	lock, fit := e.fitLock(alive)
	if fit == e.unfit {
		e.unfit, e.topValid = !fit, false
		if !fit {
			out = append(out, Effect{Kind: Unfit})
		}
	}
	e.nextRequest = now.Add(e.cfg.Timing.ElectionPeriod)
	if !fit && !e.leading {
		return out
	}
	e.lastRequest = timed.Later(now, e.lastRequest+1)
	e.lockTime = lock
	e.lockSelf()
	e.open, e.alarm = true, e.lastRequest.Add(e.cfg.Timing.RoundTime())
	tree := e.tree(now, alive) // while it is known who answered last
	e.target, e.refusals = alive, timed.Set{}
	e.replies = timed.SetOf(e.cfg.Self.Node)
	e.record(e.cfg.Self)
	if e.global != nil {
		e.stampSelf(now)
	}
	out = append(out, Effect{Kind: SendRequest, Request: Request{Number: e.lastRequest, LockTime: e.lockTime, Tree: tree}})
	return e.check(now, alive, false, out)
}

// record notes a vote of the round under way.
func (e *Election) record(by timed.Incarnation) {
	e.peers.edit(by.Node).vote = Vote{Boot: by.Boot, Number: e.lastRequest, LockTime: e.lockTime}
	e.voters.Add(by.Node)
}

func (e *Election) lockSelf() {
	until := e.lastRequest.Add(e.lockTime)
	if e.lockedTo == e.cfg.Self {
		until = timed.Later(until, e.lockedUntil)
	}
	e.lockedTo, e.lockedUntil, e.lockRequest = e.cfg.Self, until, e.lastRequest
}

// fitLock returns the lock time to ask for: the smallest of this node's own
// and what its targets grant, and whether the settings are sound with it.
func (e *Election) fitLock(alive timed.Set) (time.Duration, bool) {
	lock := e.cfg.Timing.LockTime
	for id := alive.Next(0); id != 0; id = alive.Next(id) {
		if m := e.peers.of(id).state.MaxLock; m > 0 && m < lock {
			lock = m
		}
	}
	return lock, lock == e.cfg.Timing.LockTime || lock >= e.cfg.Timing.LeastLockTime()
}

// HandleRequest takes a request of a peer's accepted incarnation. started is
// the latest that the local clock can have shown when the request was sent. It
// reports whether the request is to be answered, after the effects, with what it
// then has written into reply.
func (e *Election) HandleRequest(now timed.Instant, from timed.Incarnation, m Request, fast bool,
	started timed.Instant, alive timed.Set, reply *Reply, out []Effect) ([]Effect, bool) {
	if !fast {
		return out, false
	}
	// A peer that does not hear this node cannot count its vote, and a lock
	// for it would only keep this node from others.
	if !alive.Has(from.Node) {
		return out, false
	}
	if e.outranksMe(from.Node) && (e.leading || e.open) && !e.foreign(from.Node) {
		out = e.release(now, Outranked, from.Node, out)
	}
	if from == e.lockedTo && m.Number < e.lockRequest {
		return out, false // overtaken by a newer request
	}
	*reply = Reply{}
	reply.Number = m.Number
	if e.mayVote(now, from, m, alive, reply) {
		e.vote(from, m, started)
		reply.Support = true
		if e.global != nil {
			reply.Stamp = e.stampFor(now, from)
		}
	}
	return out, true
}

// mayVote decides on a vote, and notes the reason for a refusal.
func (e *Election) mayVote(now timed.Instant, from timed.Incarnation, m Request, alive timed.Set, reply *Reply) bool {
	if !e.Ready(now) {
		return false
	}
	if m.LockTime > e.cfg.Timing.MaxLockTime || m.LockTime <= 0 {
		return false
	}
	if e.foreign(from.Node) {
		reply.OtherQuorum = true
		return false
	}
	if now < e.lockedUntil && e.lockedTo != from {
		reply.LockedTo = e.lockedTo
		return false
	}
	if !e.outranksMe(from.Node) {
		reply.Prefers = e.cfg.Self.Node
		return false
	}
	if top := e.best(alive); top != timed.NoNode && top != from.Node &&
		e.rankOf(top) > e.rankOf(from.Node) {
		reply.Prefers = top
		return false
	}
	return true
}

// vote locks this node to the candidate. The lock must outlast the lease, which
// is counted from the request's number, so it may start at the latest instant
// at which the request can have been sent; a late request then binds the voter
// hardly longer than the lease itself.
func (e *Election) vote(from timed.Incarnation, m Request, started timed.Instant) {
	until := started.Add(m.LockTime)
	if e.lockedTo == from {
		until = timed.Later(until, e.lockedUntil) // an older lease may ask for longer
	}
	e.lockedTo, e.lockedUntil, e.lockRequest = from, until, m.Number
}

// HandleReply takes a reply of a peer's accepted incarnation. It reports
// whether the reply counted.
func (e *Election) HandleReply(now timed.Instant, from timed.Incarnation, m Reply, fast bool,
	alive timed.Set, out []Effect) ([]Effect, bool) {
	if !fast || !e.open || m.Number != e.lastRequest {
		return out, false
	}
	e.note(from, m)
	return e.check(now, alive, false, out), true
}

// note takes a reply that counts.
func (e *Election) note(from timed.Incarnation, m Reply) {
	id := from.Node
	if m.Support {
		e.replies.Add(id)
		e.refusals.Remove(id)
		e.record(from)
		if e.global != nil {
			e.peers.edit(id).stamp = m.Stamp
			e.count(id, m.Stamp)
		}
	} else {
		e.refusals.Add(id)
		e.replies.Remove(id)
		e.peers.edit(id).refusal = refusal{m.LockedTo, m.Prefers}
	}
}

// check decides the round under way: after each reply, and once at the alarm.
func (e *Election) check(now timed.Instant, alive timed.Set, atAlarm bool, out []Effect) []Effect {
	asked := alive.Union(e.target)
	if atAlarm && e.cfg.Collation.Above > 0 {
		e.noteSilent(now, asked)
	}
	missing := asked.Minus(e.replies)
	for id := missing.Next(0); id != 0; id = missing.Next(id) {
		if e.excused(id, alive, atAlarm) {
			missing.Remove(id)
		}
	}
	if missing.Empty() && !atAlarm && e.cfg.Collation.Above > 0 {
		e.noteHops(now)
	}
	if missing.Empty() || atAlarm && e.holdsQuorum() {
		return e.win(asked, atAlarm, out)
	}
	if !atAlarm {
		return out
	}
	e.open = false
	if !e.leading {
		return e.release(now, RoundFailed, missing.Min(), out)
	}
	// The older lease still counts on the votes: nothing is given back.
	e.afterSilence(asked)
	return out
}

// excused reports whether a process that did not support the round does not
// block it.
func (e *Election) excused(id timed.NodeID, alive timed.Set, atAlarm bool) bool {
	if !e.refusals.Has(id) {
		return e.cfg.Mode == Available && atAlarm
	}
	if e.differs(id) {
		return true
	}
	r := e.peers.of(id).refusal
	if e.cfg.Mode == Available {
		if e.elsewhere(r.lockedTo, id, alive) {
			return true
		}
		if r.prefers != timed.NoNode && r.prefers != id && !alive.Has(r.prefers) {
			return true
		}
	}
	// A merge under way: its leader is about to abdicate in favour of this one.
	if atAlarm && e.leading {
		l := r.lockedTo.Node
		return l.Valid() && l != e.cfg.Self.Node && alive.Has(l) && e.peers.of(l).boot == r.lockedTo.Boot && e.rank() > e.rankOf(l)
	}
	return false
}

// elsewhere reports that a process locked to l follows somebody whom this node
// does not hear: not itself, not me, and not alive here.
func (e *Election) elsewhere(l timed.Incarnation, id timed.NodeID, alive timed.Set) bool {
	if !l.Valid() || l.Node == id || l.Node == e.cfg.Self.Node {
		return false
	}
	return !alive.Has(l.Node) || e.peers.of(l.Node).boot != l.Boot
}

func (e *Election) win(asked timed.Set, atAlarm bool, out []Effect) []Effect {
	first := !e.leading
	e.open, e.leading, e.topValid = false, true, false
	lease := e.cfg.Timing.MaxDrift.Trust(e.lockTime)
	e.expiration = e.lastRequest.Add(lease)
	e.support, e.refused = e.replies, e.refusals
	e.endNamed()
	won := Effect{Kind: Won, First: first, Number: e.lastRequest}
	if e.holdsQuorum() {
		e.winGlobally()
		won.Stamps = e.global.stamps
	}
	// The next round leaves a little before the period is over, so that the
	// followers' keepalives ride on their replies; and in time for the answers
	// to be back before the lease ends.
	t := &e.cfg.Timing
	early := t.ElectionPeriod - min(t.ElectionPeriod/16, t.SchedulingDelay)
	latest := e.expiration.Add(-(t.RoundTime() + t.SchedulingDelay))
	e.nextRequest = timed.Earlier(e.lastRequest.Add(early), latest)
	if atAlarm {
		e.afterSilence(asked)
	}
	return append(out, won)
}

// afterSilence starts the next round at once if some of those asked kept silent:
// else one lost reply makes the view stale.
func (e *Election) afterSilence(asked timed.Set) {
	if !asked.Subset(e.replies.Union(e.refusals)) {
		e.nextRequest = 0
	}
}

// outranksMe reports whether a peer comes before this node, as all do when this
// node is no contender.
func (e *Election) outranksMe(id timed.NodeID) bool {
	if e.abstains() {
		return true
	}
	return e.rankOf(id) > e.rank()
}

// abstains reports whether this node is no contender.
func (e *Election) abstains() bool { return e.unfit || e.resigned || e.yields }

// rank returns this node's own rank.
func (e *Election) rank() rank {
	support := 0
	if e.leading {
		support = e.support.Len()
	}
	return e.cfg.RankBy.rank(e.cfg.Self.Node, e.leading, uint8(support), e.cfg.Weight) |
		standing(e.global != nil && e.global.held, e.leading, e.named, e.hasSay())
}

// rankOf returns the rank of a peer.
func (e *Election) rankOf(id timed.NodeID) rank {
	st := &e.peers.of(id).state
	return e.cfg.RankBy.rank(id, st.Leading, st.Support, st.Weight) | standing(st.Global, st.Leading, st.Named, st.Say)
}

// best returns the highest-ranked contender among the alive, or NoNode.
func (e *Election) best(alive timed.Set) timed.NodeID {
	if e.topValid && e.topAlive == alive {
		return e.top
	}
	best, highest := timed.NoNode, rank(0)
	for id := alive.Next(0); id != 0; id = alive.Next(id) {
		st := &e.peers.of(id).state
		if !st.Contender || e.foreign(id) {
			continue
		}
		if e.cfg.Mode == Available && e.elsewhere(st.LockedTo, id, alive) {
			continue // it cannot lead, and its leader cannot reach me
		}
		if r := e.rankOf(id); best == timed.NoNode || r > highest {
			best, highest = id, r
		}
	}
	e.top, e.topAlive, e.topValid = best, alive, true
	e.topAbove = best != timed.NoNode && highest > e.rank()
	return best
}

func (e *Election) outranked(alive timed.Set) bool {
	e.best(alive)
	return e.topAbove
}
