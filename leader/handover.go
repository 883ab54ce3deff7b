package leader

import "github.com/failaware/failaware/timed"

// HandOver gives up the lead in favour of a peer. It is [Election.Yield], and the
// release of the votes names the peer. If that peer does not take over, the best
// contender leads, as after any other resignation.
func (e *Election) HandOver(now timed.Instant, to timed.NodeID, out []Effect) []Effect {
	if e.leading || e.open {
		e.successor = to
	}
	return e.Yield(now, out)
}

// noteSuccessor notes that a leader has freed this node's vote in favour of a node.
// That node asks for votes at once and is preferred to all nodes that do not lead.
// The others stand back at once.
func (e *Election) noteSuccessor(now timed.Instant, to timed.NodeID) {
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
