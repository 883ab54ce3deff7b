package failaware

import (
	"fmt"

	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader/quorum"
)

// firstStart watches the events of a node for a sign that its state directory was lost: it
// began without state, and is a voter of an epoch that it learns from others. A node that
// begins with the group takes part in its first epoch, and a newcomer learns of an epoch in
// which it has no vote yet. Within the first epoch nothing tells a lost directory from a new
// one.
type firstStart struct {
	id    NodeID
	join  bool // it has no quorum system of its own
	empty bool // there was no state, and nothing has explained that yet
}

// lost reports whether an event is that sign.
func (f *firstStart) lost(e event.Event) bool {
	if _, ready := e.(event.Ready); ready && !f.join {
		f.empty = false // it may have taken part in the first epoch
	}
	c, ok := e.(event.QuorumChange)
	if !ok || c.Step != event.QuorumEntered || !f.empty {
		return false
	}
	f.empty = false
	s, err := quorum.Parse(c.System)
	return err == nil && s.Members().Has(f.id)
}

// firstStart returns what is known of the state directory before the node runs.
func (n *Node) firstStart() *firstStart {
	return &firstStart{id: n.cfg.ID, join: n.cfg.JoinQuorum, empty: n.state.Incarnation() == 1}
}

// warnOfNoState says that the state directory has nothing of this node: its path may be mistyped,
// or its disk not mounted, or new. A voter could then break promises of its earlier processes,
// and only people know whether there were any.
func (n *Node) warnOfNoState() {
	c := &n.cfg
	switch {
	case n.state.Incarnation() != 1:
	case c.Quorum != nil && !c.JoinQuorum && c.Quorum.Members().Has(c.ID):
		n.log.Warn(fmt.Sprintf("the state directory knows nothing of this node, which has a vote in %v: that is right at its first start; "+
			"if it has run before, stop it at once, because it has forgotten its promises, and see docs/how-to/disasters.md", c.Quorum), "directory", c.StateDir)
	default:
		n.log.Info("the state directory knows nothing of this node: it begins anew", "directory", c.StateDir)
	}
}
