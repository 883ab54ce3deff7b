package leader

import "github.com/failaware/failaware/timed"

// audit has the values that the last call of Audit compared.
type audit struct {
	to         timed.Incarnation // of the vote given
	until      timed.Instant     // 0 if it was given back since
	expiration timed.Instant
}

// Audit returns the first invariant that the state breaks at now, in words, or "". A
// node with such a state must end its incarnation. Call it at the end of each turn:
// some invariants compare the state with that of the last call.
func (e *Election) Audit(now timed.Instant) string {
	last := e.audit
	e.audit = audit{to: e.lockedTo, until: e.lockedUntil, expiration: e.expiration}
	latest := timed.Later(now, e.lastRequest) // numbers of requests may be a little ahead
	switch {
	case now < e.readyAt && (e.leading || e.open || e.lockedTo.Valid()):
		return "a vote before the incarnation may vote"
	case e.lockedUntil > latest.Add(e.cfg.Timing.MaxLockTime):
		return "a vote for longer than MaxLockTime"
	case now < last.until && e.lockedTo != last.to:
		return "a vote for two nodes"
	case now < last.until && e.lockedUntil < last.until:
		return "a vote that becomes shorter"
	case now < e.answersUntil && (e.lockedTo != e.cfg.Self || e.lockedUntil < e.answersUntil):
		return "an answer that outlasts this node's own vote"
	case !e.leading && e.global != nil && now < e.global.until:
		return "a global lease without a local one"
	}
	if e.leading && now < e.expiration {
		if broken := e.auditLead(last.expiration != e.expiration); broken != "" {
			return broken
		}
	}
	return e.auditEpochs()
}

// auditEpochs returns an invariant of the replacement of quorum systems that the state
// breaks, or "".
func (e *Election) auditEpochs() string {
	g, m := e.global, e.cfg.Epochs
	switch {
	case m == nil:
		return ""
	case g.asked != g.id && !g.counted.Empty():
		return "a vote that was asked for in another epoch, and counts in a quorum"
	case m.Leads() && !g.held:
		return "a leader of an epoch without a global lease"
	}
	return ""
}

// auditLead returns an invariant that the lease held breaks, or "". renewed says that
// the lease is new.
func (e *Election) auditLead(renewed bool) string {
	switch {
	case e.resigned:
		return "a lead after the resignation"
	case e.lockedTo != e.cfg.Self || e.lockedUntil < e.expiration:
		return "a lead without this node's own vote"
	case !e.support.Has(e.cfg.Self.Node):
		return "a leader outside its support set"
	case e.global != nil && e.global.until > e.lockedUntil:
		return "a global lease that outlasts this node's own vote"
	}
	if !renewed {
		return ""
	}
	for id := e.support.Next(0); id != 0; id = e.support.Next(id) {
		v := e.peers.of(id).vote
		if e.open && v.Number == e.lastRequest {
			continue // the vote in the next round may bind for less, and shortens none
		}
		if v.Boot == 0 || v.Number.Add(e.cfg.Timing.MaxDrift.Trust(v.LockTime)) < e.expiration {
			return "a lease longer than a vote that it rests on"
		}
	}
	return ""
}
