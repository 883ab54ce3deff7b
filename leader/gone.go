package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// When a leader is gone the votes of its followers end at almost the same instant. If all
// asked then, each would vote for the first better one whose request comes, the best
// would not get all votes, and everybody would wait for another round. So those whose last
// vote was for the same leader that is gone ask in the order of their ranks: the best at
// once, the next one a turn later, the others two turns later, in case that the best is gone
// too. Nobody asks while the leader counts as alive, so turns begin at the end of the vote or,
// if that is later, when the leader is missed: one that has heard its followers just before its
// last request, as in rounds that change the group, is alive for almost Expires after it. In
// mode strict the best asks alone anyway, because there the followers of a leader that is gone
// are contenders.
//
// The best asks alone: let the leader's last request leave at τ. A vote for it begins
// between τ and τ+Δ, because the request was fast. So the best asks before τ + Δ + LockTime + σ,
// and others have its request δ later. Their votes end at τ + LockTime or later, and a turn is
// Δ+σ+δ. Drift takes 2ρ·LockTime of it; Δ−δ ≥ σ makes up for that while packets are timely. A
// turn that is too short costs a round, as does a last request that only some got. Likewise
// the best asks alone if all miss the leader within Δ: each counts from when the leader heard
// it last, and rounds that follow each other at once hear all replies within about 2δ.
//
// No bound of [timed.Bounds] grows: they rest on the best living candidate, which waits for
// nobody, and asks when its vote has ended and the leader is missed. The others wait once each
// time that they miss the leader, because their own request ends the vote. So if the better
// ones do not lose the leader, the node asks at most two turns later than it could.

// mostAbove is for how many better candidates a node waits at most.
const mostAbove = 2

// standBack returns how long after turnsFrom this node leaves the request to better
// candidates that followed the same leader: a turn for each.
func (e *Election) standBack() time.Duration {
	e.best()
	t := &e.cfg.Timing
	return time.Duration(e.above) * t.MaxDrift.Upper(t.FastThreshold+t.SchedulingDelay+t.OneWayTimeout)
}

// StandsBack reports whether this node could ask for votes at now, and leaves it to better
// candidates.
func (e *Election) StandsBack(now timed.Instant) bool {
	end := e.turnsFrom.Add(e.standBack())
	return now >= e.lockedUntil && now < end && e.requestAt() == end
}
