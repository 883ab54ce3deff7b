package sim

import (
	"slices"
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// ruledBy returns the quorum system by which a node that leads globally leads.
func (w *World) ruledBy(n *Node) quorum.System {
	if w.change == nil {
		return w.global.system
	}
	s, err := quorum.Parse(n.st.Epoch().System)
	if err != nil {
		panic(err) // the node has read it
	}
	return s
}

// epoch takes what a node tells of its epoch: one system rules each.
func (c *checker) epoch(n *Node, e *stack.Event) {
	w := c.w.change
	c.live.begins()
	switch e.Change.Kind {
	case epoch.Proposed:
		if by, before := w.proposed[e.Change.Epoch]; before && by != n.id {
			c.sometimes(EpochRepeated)
		}
		w.proposed[e.Change.Epoch] = n.id
		c.w.falls(n)
	case epoch.Entered:
		if text, known := w.systems[e.Change.Epoch]; known && text != e.Change.System {
			c.fail("Epochs", n, "enters epoch %d under %s, which others know to be under %s", e.Change.Epoch, e.Change.System, text)
		}
		w.systems[e.Change.Epoch] = e.Change.System
		c.sometimes(EpochChanged)
		if w.forced && e.Change.Epoch == w.lostIn+1 {
			c.sometimes(EpochForced)
		}
	case epoch.Unordered:
		c.fail("Epochs", n, "cannot order the proposals of epoch %d", e.Change.Epoch)
	case epoch.Conflict, epoch.DeclaredDead:
		if !w.forced {
			c.fail("Epochs", n, "hears of %s as another system of epoch %d, or successor of it", e.Change.System, e.Change.Epoch)
		}
	}
}

// checkWrite demands that what a state directory holds is never taken back.
func (c *changing) checkWrite(n *Node, s *epoch.State) {
	old := &n.state.epoch
	switch {
	case s.Epoch < old.Epoch:
		c.w.check.fail("Epochs", n, "writes epoch %d after epoch %d", s.Epoch, old.Epoch)
	case s.Epoch == old.Epoch && old.Phase == epoch.Wedged && (s.Phase != epoch.Wedged || s.Next != old.Next):
		c.w.check.fail("Epochs", n, "has wedged in epoch %d for %s, and writes %v %s", s.Epoch, old.Next, s.Phase, s.Next)
	}
}

// checkEpoch demands that nobody leads by the quorums of an epoch once somebody
// has led by those of a later one.
func (c *checker) checkEpoch(n *Node, number uint64) {
	w := c.w.change
	if w == nil {
		return
	}
	if number < w.latest {
		c.fail("Epochs", n, "leads in epoch %d, and somebody has led in epoch %d", number, w.latest)
	}
	w.latest = max(w.latest, number)
}

// checkEdict demands that an edict compares as later than all that were created
// before.
func (c *changing) checkEdict(n *Node, e *edict.Edict) {
	for i := range c.edicts {
		if r := edict.Relate(&c.edicts[i], e); r.Order != edict.Before {
			c.w.check.fail("edicts", n, "makes an edict of epoch %d; to it, one of epoch %d made before is %v", e.Epoch, c.edicts[i].Epoch, r)
			return
		}
		if c.edicts[i].Epoch < e.Epoch {
			c.w.check.sometimes(EdictAcrossEpochs)
		}
	}
	if c.edicts = append(c.edicts, *e); len(c.edicts) > keptEdicts {
		c.edicts = slices.Delete(c.edicts, 0, 1)
	}
}

// settled reports whether no change is under way in a block, as far as its nodes
// know, and returns what those know that know the latest epoch.
func (c *checker) settled(block timed.Set) (latest *epoch.State, ok bool) {
	ok = true
	for id := range block.All() {
		n := c.w.node(id)
		if !n.up {
			ok = false
			continue
		}
		s := n.st.Epoch()
		ok = ok && s.Phase == epoch.Idle && (latest == nil || s.Epoch == latest.Epoch)
		if latest == nil || s.Epoch > latest.Epoch {
			latest = s
		}
	}
	return latest, ok
}

// globalInEpoch is globalAsDue where quorum systems are replaced: while a change is
// under way nothing is due.
func (c *checker) globalInEpoch(i int, block timed.Set) bool {
	s, ok := c.settled(block)
	if !ok || s.Epoch == 0 {
		return true
	}
	system, err := quorum.Parse(s.System)
	return err == nil && c.leadsGlobally(i) == system.IsQuorum(block)
}

// begins lets the bounds count anew: a node has changed what it knows of its epoch,
// and thus who may lead.
func (l *liveness) begins() {
	if l.stable && l.w.now > l.since {
		l.observe(l.w.now)
		l.since, l.ledAt, l.viewAt, l.dirty = l.w.now, 0, 0, true
	}
}

// endChange is the end of a stable period in which epochs may have ended. In a
// block with a quorum every change must have come to its end, and been led since.
// Changes that were forced may contradict each other for good.
func (l *liveness) endChange() {
	since := l.w.now - l.since
	if l.ledAt == 0 && since > l.elect || l.viewAt == 0 && since > l.view {
		l.miss("leader reached after %v, view after %v (0: never) after the last change; bounds %v and %v",
			time.Duration(l.ledAt), time.Duration(l.viewAt), time.Duration(l.elect), time.Duration(l.view))
	}
	if l.w.change.forced {
		return
	}
	for _, b := range l.blocks {
		s, ok := l.w.check.settled(b)
		if ok || s == nil || s.Epoch == 0 {
			continue
		}
		if system, err := quorum.Parse(s.System); err == nil && system.IsQuorum(b) {
			l.miss("%v after the world became still a block with a quorum of epoch %d has not come to the end of a change",
				time.Duration(l.w.now-l.began), s.Epoch)
		}
	}
}
