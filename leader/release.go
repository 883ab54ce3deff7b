package leader

import (
	"time"

	"github.com/failaware/failaware/timed"
)

// giveUp forgets the recorded support: votes that are about to be given back must
// never carry a view again.
func (e *Election) giveUp(why Reason, by timed.NodeID, out []Effect) []Effect {
	e.forgetVotes()
	out = e.endGlobal(why, by, out)
	return append(out, Effect{Kind: GaveUp, Reason: why, Peer: by})
}

// forgetVotes drops the recorded support except the votes of the present round,
// which are not given back.
func (e *Election) forgetVotes() {
	for id := e.voters.Next(0); id != 0; id = e.voters.Next(id) {
		if v := &e.peers.edit(id).vote; !e.open || v.Number != e.lastRequest {
			*v = Vote{}
			e.voters.Remove(id)
		}
	}
	e.support = timed.Set{}
}

// release gives back the votes of a failed round or of a lease given up. It waits
// until every view lease that rests on them has run out or was dropped, and until
// every answer to a question has run out.
func (e *Election) release(now timed.Instant, why Reason, by timed.NodeID, out []Effect) []Effect {
	e.leading, e.open, e.topValid = false, false, false
	e.expiration = 0
	out = e.giveUp(why, by, out)
	// A release carries the number it had before waiting: the end of the wait must
	// not free newer votes.
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
		e.unlock(now)
	}
	return append(out, Effect{Kind: SendRelease, Number: e.releaseRequest, Peer: to})
}

// unlock frees this node's vote.
func (e *Election) unlock(now timed.Instant) {
	by := e.lockedTo
	e.topValid = false
	e.lockedTo, e.lockedUntil, e.turnsFrom, e.handed = timed.Incarnation{}, 0, 0, timed.Incarnation{}
	e.freed(now, by)
}

// Abdicate gives up the lead for the given reason. The node stays a contender.
func (e *Election) Abdicate(now timed.Instant, why Reason, out []Effect) []Effect {
	if !e.leading && !e.open {
		return out
	}
	return e.release(now, why, e.cfg.Self.Node, out)
}

// StepDown gives up the lead in favour of another node. This node is not a contender
// until another leads or could have taken over.
func (e *Election) StepDown(now timed.Instant, out []Effect) []Effect {
	e.endNamed()
	e.steppedDown, e.topValid = true, false
	e.downUntil = now.Add(e.takeoverTime())
	return e.Abdicate(now, Resigned, out)
}

// takeoverTime is long enough for another node to take over.
func (e *Election) takeoverTime() time.Duration {
	t := &e.cfg.Timing
	return t.MaxDrift.Wait(t.LockTime + 2*t.Period())
}

// Resign gives up the lead and every candidacy for good. The node hands over and
// leaves.
func (e *Election) Resign(now timed.Instant, out []Effect) []Effect {
	e.resigned = true
	return e.Abdicate(now, Resigned, out)
}

// NoteRelease notes that a peer has freed the votes for its requests up to a number,
// in favour of successor if that is a node.
func (e *Election) NoteRelease(now timed.Instant, from timed.Incarnation, number timed.Instant, successor timed.NodeID) {
	if e.lockedTo == from && e.lockRequest <= number {
		e.unlock(now)
		if successor != timed.NoNode {
			e.noteSuccessor(now, successor)
		}
		return
	}
	if successor == e.cfg.Self.Node && e.open && !e.leading && !e.refusals.Empty() {
		// The votes that were not handed over are free now. Ask again.
		e.open, e.nextRequest = false, 0
	}
}
