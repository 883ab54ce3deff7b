package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// request starts a round (section VIII). The caller has checked that no contender
// outranks this node and that it is not locked to another.
func (e *Election) request(now timed.Instant, out []Effect) []Effect {
	lock, fit := e.fitLock()
	if fit == e.unfit {
		e.unfit, e.topValid = !fit, false
		if !fit {
			out = append(out, Effect{Kind: Unfit})
		}
	}
	e.periodic = e.nextRequest != 0
	e.nextRequest = now.Add(e.cfg.Timing.ElectionPeriod)
	if !fit && !e.leading {
		return out
	}
	e.lastRequest = timed.Later(now, e.lastRequest+1)
	e.lockTime = lock
	e.lockSelf()
	e.open, e.alarm = true, e.lastRequest.Add(e.cfg.Timing.RoundTime())
	tree := e.tree(now) // before the replies of the last round are forgotten
	e.target, e.refusals = e.alive, timed.Set{}
	e.replies = timed.SetOf(e.cfg.Self.Node)
	e.record(e.cfg.Self)
	if e.global != nil {
		e.stampSelf(now)
	}
	out, send := add(out, SendRequest)
	send.Request.Number, send.Request.LockTime, send.Request.Tree = e.lastRequest, e.lockTime, tree
	return e.check(now, false, out)
}

// record notes a vote of the present round.
func (e *Election) record(by timed.Incarnation) {
	e.peers.edit(by.Node).vote = Vote{Boot: by.Boot, Number: e.lastRequest, LockTime: e.lockTime}
	e.voters.Add(by.Node)
}

// fitLock returns the lock time of a request, which is the least of this node's own and
// the limits of the alive peers, and whether the settings are sound with it.
func (e *Election) fitLock() (time.Duration, bool) {
	lock := e.cfg.Timing.LockTime
	for id := e.alive.Next(0); id != 0; id = e.alive.Next(id) {
		if m := e.peers.of(id).state.MaxLock; m > 0 && m < lock {
			lock = m
		}
	}
	return lock, lock == e.cfg.Timing.LockTime || lock >= e.cfg.Timing.LeastLockTime()
}

// HandleReply takes a reply of a peer's accepted incarnation. Its first effect is
// Counted if the reply counts; otherwise it has none.
func (e *Election) HandleReply(now timed.Instant, from timed.Incarnation, m Reply, fast bool, out []Effect) []Effect {
	if !fast || !e.open || m.Number != e.lastRequest {
		return out
	}
	return e.check(now, false, e.note(from, m, out))
}

// note takes a reply that counts.
func (e *Election) note(from timed.Incarnation, m Reply, out []Effect) []Effect {
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
	out, counted := add(out, Counted)
	counted.Peer = id
	return out
}

// check decides the present round: after each reply, and once at the alarm.
func (e *Election) check(now timed.Instant, atAlarm bool, out []Effect) []Effect {
	asked := e.alive.Union(e.target)
	if atAlarm && e.cfg.Collation.Above > 0 {
		e.noteSilent(now, asked)
	}
	missing := asked.Minus(e.replies)
	for id := missing.Next(0); id != 0; id = missing.Next(id) {
		if e.excused(id, atAlarm) {
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
	// The older lease still rests on the votes, so none is given back.
	e.afterSilence(asked)
	return out
}

// excused reports whether a process that did not support the round does not block
// it.
func (e *Election) excused(id timed.NodeID, atAlarm bool) bool {
	if id == e.lapsed.Node {
		return true // it has said nothing since the vote for it ended
	}
	if !e.refusals.Has(id) {
		return atAlarm && (e.cfg.Mode == Available || e.peers.of(id).state.Late)
	}
	if e.differs(id) {
		return true
	}
	r := e.peers.of(id).refusal
	if e.cfg.Mode == Available {
		if e.elsewhere(r.lockedTo, id) {
			return true
		}
		if r.prefers != timed.NoNode && r.prefers != id && !e.alive.Has(r.prefers) {
			return true
		}
	}
	// A merge is under way: the process's leader is about to abdicate in favour of
	// this node.
	if atAlarm && e.leading {
		l := r.lockedTo.Node
		return l.Valid() && l != e.cfg.Self.Node && e.alive.Has(l) && e.peers.of(l).boot == r.lockedTo.Boot && e.rank() > e.rankOf(l)
	}
	return false
}

func (e *Election) win(asked timed.Set, atAlarm bool, out []Effect) []Effect {
	e.open, e.leading, e.topValid = false, true, false
	lease := e.cfg.Timing.MaxDrift.Trust(e.lockTime)
	e.expiration = e.lastRequest.Add(lease)
	e.support, e.refused = e.replies, e.refusals
	e.endNamed()
	out, won := add(out, Won)
	won.Number = e.lastRequest
	if e.holdsQuorum() {
		e.winGlobally()
		won.Stamps = e.global.stamps
	} else {
		e.boundGlobal()
	}
	// The next round leaves a little before the period is over, so that followers'
	// replies carry the keepalives, and early enough that the answers are back
	// before the lease ends.
	t := &e.cfg.Timing
	early := t.ElectionPeriod - min(t.ElectionPeriod/16, t.SchedulingDelay)
	latest := e.expiration.Add(-(t.RoundTime() + t.SchedulingDelay))
	e.nextRequest = timed.Earlier(e.lastRequest.Add(early), latest)
	if atAlarm {
		e.afterSilence(asked)
	}
	return out
}

// afterSilence starts the next round at once if some of the asked nodes kept silent.
// Otherwise one lost reply would make the view stale.
func (e *Election) afterSilence(asked timed.Set) {
	if !asked.Subset(e.replies.Union(e.refusals)) {
		e.nextRequest = 0
	}
}
