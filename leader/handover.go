package leader

import "github.com/failaware/failaware/timed"

// HandOver gives up the lead in favour of a named peer: it is [Election.Yield],
// and who it is for is told to all together with the votes' release. If that peer
// is gone, the best contender leads as after any other resignation.
func (e *Election) HandOver(now timed.Instant, to timed.NodeID, out []Effect) []Effect {
	if e.leading || e.open {
		e.successor = to
	}
	return e.Yield(now, out)
}

// HandleSuccessor takes the word of a peer that has given up the lead, and its
// votes, in favour of another. The named one asks for votes at once, and is
// preferred to all that do not lead; all who hear of it stand back at once too.
// It is for the caller to see that this node's vote was among those given up.
func (e *Election) HandleSuccessor(now timed.Instant, to timed.NodeID) {
	e.topValid = false
	if to != e.cfg.Self.Node {
		if e.peers.of(to).boot != 0 {
			e.peers.edit(to).state.Named = true
		}
		return
	}
	e.named, e.nextRequest = true, 0
	e.namedUntil = now.Add(e.yieldTime())
}

// endNamed ends the preference for this node.
func (e *Election) endNamed() {
	if e.named {
		e.named, e.topValid = false, false
	}
}
