package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// giveUp forgets the recorded support: votes that are about to be given back
// must never carry a view again.
func (e *Election) giveUp(why Reason, by timed.NodeID, out []Effect) []Effect {
	e.forgetVotes()
	out = e.endGlobal(why, by, out)
	return append(out, Effect{Kind: GiveUp, Reason: why, By: by})
}

// forgetVotes drops the recorded support, but for votes of a round under way:
// those are not given back.
func (e *Election) forgetVotes() {
	for id := e.voters.Next(0); id != 0; id = e.voters.Next(id) {
		if v := &e.peers.edit(id).vote; !e.open || v.Number != e.lastRequest {
			*v = Vote{}
			e.voters.Remove(id)
		}
	}
	e.support = timed.Set{}
}

// release gives back the votes of a round that failed or of a lease given up,
// once every view lease that rests on them has run out or was dropped, and
// every answer that was given has run out.
func (e *Election) release(now timed.Instant, why Reason, by timed.NodeID, out []Effect) []Effect {
	e.leading, e.open, e.topValid = false, false, false
	e.expiration = 0
	out = e.giveUp(why, by, out)
	// The number is taken before the wait: newer votes must not be freed by
	// an older wait.
	e.releasing, e.releaseRequest = true, e.lastRequest
	if why != Resigned {
		e.successor = timed.NoNode
	}
	e.releaseAt = timed.Later(now, e.bound())
	if now >= e.releaseAt {
		out = e.finishRelease(now, out)
	}
	return out
}

func (e *Election) finishRelease(now timed.Instant, out []Effect) []Effect {
	e.releasing = false
	to := e.successor
	e.successor = timed.NoNode
	if e.lastRequest != e.releaseRequest || e.leading {
		return out
	}
	if e.lockedTo == e.cfg.Self {
		e.lockedTo, e.lockedUntil = timed.Incarnation{}, 0
		e.freed(now, e.cfg.Self)
	}
	return append(out, Effect{Kind: SendRelease, Number: e.releaseRequest, By: to})
}

// Abdicate gives up the lead for the given reason; the node stays a contender.
func (e *Election) Abdicate(now timed.Instant, why Reason, out []Effect) []Effect {
	if !e.leading && !e.open {
		return out
	}
	return e.release(now, why, e.cfg.Self.Node, out)
}

// Yield gives up the lead in favour of another: the node is no contender until
// somebody leads, or until there was time enough for that.
func (e *Election) Yield(now timed.Instant, out []Effect) []Effect {
	e.endNamed()
	e.yields, e.topValid = true, false
	e.yieldUntil = now.Add(e.yieldTime())
	return e.Abdicate(now, Resigned, out)
}

// yieldTime is enough for somebody to take over.
func (e *Election) yieldTime() time.Duration {
	t := &e.cfg.Timing
	return t.MaxDrift.Wait(t.LockTime + 2*t.Period())
}

// Resign gives up the lead and every candidacy for good: the node leaves, and
// hands over.
func (e *Election) Resign(now timed.Instant, out []Effect) []Effect {
	e.resigned = true
	return e.Abdicate(now, Resigned, out)
}

// HandleRelease takes a peer's word that its votes up to a request are free. It
// reports whether that freed this node's vote.
func (e *Election) HandleRelease(now timed.Instant, from timed.Incarnation, number timed.Instant) (freed bool) {
	if e.lockedTo == from && e.lockRequest <= number {
		e.lockedTo, e.lockedUntil = timed.Incarnation{}, 0
		e.freed(now, from)
		return true
	}
	return false
}
