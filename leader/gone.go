package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// When a leader is gone, the votes of its followers end at almost the same instant. If all
// followers asked for votes then, each would vote for the first better candidate whose
// request arrives. The best candidate would not get all votes, and the group would need
// another round. So the followers of a leader that is gone ask in the order of their ranks:
// the best at once, the next a turn later, the others two turns later, in case the best is
// gone too. In mode strict the best candidate asks alone anyway, because there the followers
// of a leader that is gone are contenders.
//
// A leader is gone when it is missed. That may be long after the end of the vote: a leader
// that has just heard its followers, as with messages of the broadcast, counts as alive for
// almost Expires after its crash. But it had two chances at least to renew the vote. So in
// mode available a leader lapses with the vote: until it is heard again, it is no contender,
// no round waits for its vote, and turns begin at the end of the vote. A refusal by a node
// that is bound to it, or prefers it, counts all the same: the candidate may be the only one
// that has missed the requests. If the leader is heard again, nobody asks until it is missed,
// and turns begin then.
//
// The best asks alone: let the leader's last request leave at τ. A vote for it begins
// between τ and τ+Δ, because the request was fast. So the best asks before τ + Δ + LockTime + σ,
// and others have its request δ later. Their votes end at τ + LockTime or later, and a turn is
// Δ+σ+δ. Drift takes 2ρ·LockTime of it; Δ−δ ≥ σ makes up for that while packets are timely. A
// turn that is too short costs a round, as does a last request that only some got. Likewise
// the best asks alone if all miss the leader within Δ: each counts from when the leader heard
// it last, and rounds that follow each other at once hear all replies within about 2δ.
//
// No bound of [timed.Bounds] grows. The bounds rest on the best living candidate, which waits
// for no other, and asks at the latest when its vote has ended and the leader is missed. Another
// candidate waits once each time that it misses the leader, because its own request ends the
// vote. So if the better candidates still hear the leader, the node asks at most two turns later
// than it could.

// mostAbove limits the number of better candidates that a node waits for.
const mostAbove = 2

// deferral returns how long after turnsFrom this node leaves the request to better
// candidates that followed the same leader: a turn for each.
func (e *Election) deferral() time.Duration {
	e.best()
	t := &e.cfg.Timing
	return time.Duration(e.above) * t.MaxDrift.Upper(t.FastThreshold+t.SchedulingDelay+t.OneWayTimeout)
}

// mayLapse reports whether this node is to notice the end of its vote for another one.
func (e *Election) mayLapse() bool {
	return e.cfg.Mode == Available && !e.ended && e.lockedTo.Valid() && e.lockedTo != e.cfg.Self
}

// noteLapse notices the end of the vote.
func (e *Election) noteLapse(now timed.Instant) {
	if !e.mayLapse() || now < e.lockedUntil {
		return
	}
	e.ended = true
	e.lapsed, e.topValid = e.lockedTo, false
}

// Defers reports whether this node could ask for votes at now, and leaves it to better
// candidates.
func (e *Election) Defers(now timed.Instant) bool {
	end := e.turnsFrom.Add(e.deferral())
	return now >= e.lockedUntil && now < end && e.requestAt() == end
}
