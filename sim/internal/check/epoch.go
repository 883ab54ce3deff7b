package check

import (
	"slices"
	"time"

	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// keptEdicts is the number of edicts with which each new one is compared.
const keptEdicts = 64

// epochs is the state of a Checker for a world that replaces quorum systems.
type epochs struct {
	Systems  map[uint64]string       // that rule, or ruled
	proposed map[uint64]timed.NodeID // the node that proposed last in an epoch
	latest   uint64                  // epoch of a global leader
	Forced   bool                    // a change was forced
	LostIn   uint64                  // the epoch in which members were lost for good
	edicts   []edict.Edict
}

// FollowEpochs makes the Checker follow the epochs from the first on.
func (c *Checker) FollowEpochs() {
	c.Change = &epochs{Systems: map[uint64]string{1: c.global.system.String()}, proposed: map[uint64]timed.NodeID{}}
}

// Force records that an administrator replaces the system of an epoch whose members are
// lost with their state directories.
func (c *Checker) Force(number uint64, lost timed.Set) {
	c.Change.Forced, c.Change.LostIn = true, number
	for id := range lost.All() {
		c.global.stamped[id] = mark{}
	}
}

// ruledBy returns the quorum system by which a node that leads globally leads.
func (c *Checker) ruledBy(n *Process) quorum.System {
	if c.Change == nil {
		return c.global.system
	}
	s, err := quorum.Parse(n.Stack.Epoch().System)
	if err != nil {
		panic(err) // the node has read it
	}
	return s
}

// epoch checks an event about epochs: one system rules each epoch.
func (c *Checker) epoch(n *Process, e *stack.Event) {
	w := c.Change
	c.Live.Begins()
	switch e.Change.Kind {
	case epoch.Proposed:
		if by, before := w.proposed[e.Change.Epoch]; before && by != n.ID {
			c.Sometimes(situation.EpochRepeated)
		}
		w.proposed[e.Change.Epoch] = n.ID
	case epoch.Entered:
		if text, known := w.Systems[e.Change.Epoch]; known && text != e.Change.System {
			c.Fail("Epochs", n, "enters epoch %d under %s, which others know to be under %s", e.Change.Epoch, e.Change.System, text)
		}
		w.Systems[e.Change.Epoch] = e.Change.System
		c.Sometimes(situation.EpochChanged)
		if w.Forced && e.Change.Epoch == w.LostIn+1 {
			c.Sometimes(situation.EpochForced)
		}
	case epoch.Unordered:
		c.Fail("Epochs", n, "cannot order the proposals of epoch %d", e.Change.Epoch)
	case epoch.Conflict, epoch.DeclaredDead:
		if !w.Forced {
			c.Fail("Epochs", n, "hears of %s as another system of epoch %d, or successor of it", e.Change.System, e.Change.Epoch)
		}
	}
}

// CheckWrite demands that a write takes nothing back that the state directory holds.
func (c *Checker) CheckWrite(n *Process, old, s *epoch.State) {
	switch {
	case s.Epoch < old.Epoch:
		c.Fail("Epochs", n, "writes epoch %d after epoch %d", s.Epoch, old.Epoch)
	case s.Epoch == old.Epoch && old.Phase == epoch.Wedged && (s.Phase != epoch.Wedged || s.Next != old.Next):
		c.Fail("Epochs", n, "has wedged in epoch %d for %s, and writes %v %s", s.Epoch, old.Next, s.Phase, s.Next)
	}
}

// checkEpoch demands that no node leads by the quorums of an epoch once a node has led by
// those of a later one.
func (c *Checker) checkEpoch(n *Process, number uint64) {
	w := c.Change
	if w == nil {
		return
	}
	if number < w.latest {
		c.Fail("Epochs", n, "leads in epoch %d after a leader of epoch %d", number, w.latest)
	}
	w.latest = max(w.latest, number)
}

// CheckEdict demands that an edict compares as later than all that were created
// before.
func (c *Checker) CheckEdict(n *Process, e *edict.Edict) {
	w := c.Change
	for i := range w.edicts {
		if r := edict.Relate(&w.edicts[i], e); r.Order != edict.Before {
			c.Fail("edicts", n, "makes an edict of epoch %d; to it, one of epoch %d made before is %v", e.Epoch, w.edicts[i].Epoch, r)
			return
		}
		if w.edicts[i].Epoch < e.Epoch {
			c.Sometimes(situation.EdictAcrossEpochs)
		}
	}
	if w.edicts = append(w.edicts, *e); len(w.edicts) > keptEdicts {
		w.edicts = slices.Delete(w.edicts, 0, 1)
	}
}

// unchanging reports whether the nodes of a block know of no change under way. It returns the
// latest state of an epoch that one of them knows.
func (c *Checker) unchanging(block timed.Set) (latest *epoch.State, ok bool) {
	ok = true
	for id := range block.All() {
		n := c.processes[id-1]
		if !n.Up {
			ok = false
			continue
		}
		s := n.Stack.Epoch()
		ok = ok && s.Phase == epoch.Idle && (latest == nil || s.Epoch == latest.Epoch)
		if latest == nil || s.Epoch > latest.Epoch {
			latest = s
		}
	}
	return latest, ok
}

// apart returns the nodes of a block that are in the earliest and in the latest epoch.
func (c *Checker) apart(block timed.Set) (behind, ahead *Process) {
	for id := range block.All() {
		n := c.processes[id-1]
		if !n.Up {
			continue
		}
		at := n.Stack.Epoch().Epoch
		if behind == nil || at < behind.Stack.Epoch().Epoch {
			behind = n
		}
		if ahead == nil || at > ahead.Stack.Epoch().Epoch {
			ahead = n
		}
	}
	return behind, ahead
}

// together demands that the nodes of a still block are in one epoch again within the bound of
// views. A leader has asked all of them by then, and who was asked in another epoch has told it.
func (l *liveness) together() {
	if l.c.Change == nil {
		return
	}
	for i, b := range l.blocks {
		n, m := l.c.apart(b)
		switch since := &l.apart[i]; {
		case n == nil || n.Stack.Epoch().Epoch == m.Stack.Epoch().Epoch:
			*since = 0
		case *since == 0: // one may have heard from another block
			*since = l.c.Now
		case l.c.Now-max(*since, l.since) > l.view:
			l.miss("for %v node %d is in epoch %d, and node %d of its block in epoch %d (bound %v)", time.Duration(l.c.Now-*since),
				n.ID, n.Stack.Epoch().Epoch, m.ID, m.Stack.Epoch().Epoch, time.Duration(l.view))
		}
	}
}

// globalInEpoch is globalAsDue where quorum systems are replaced: while a change is
// under way nothing is due.
func (c *Checker) globalInEpoch(i int, block timed.Set) bool {
	s, ok := c.unchanging(block)
	if !ok || s.Epoch == 0 {
		return true
	}
	system, err := quorum.Parse(s.System)
	return err == nil && c.LeadsGlobally(i) == system.IsQuorum(block)
}

// Begins restarts the bounds: a node has written another state of its epoch, which may
// change the nodes that may lead.
func (l *liveness) Begins() {
	if l.stable && l.c.Now > l.since {
		l.Observe(l.c.Now)
		l.since, l.ledAt, l.viewAt, l.dirty = l.c.Now, 0, 0, true
	}
}

// endChange finishes a stable period in which epochs may have ended. In a block with a
// quorum every change must have ended, and the block must have been led since. Forced
// changes may contradict each other for good.
func (l *liveness) endChange() {
	since := l.c.Now - l.since
	if l.ledAt == 0 && since > l.elect || l.viewAt == 0 && since > l.view {
		l.miss("leader reached after %v, view after %v (0: never) after the last change; bounds %v and %v",
			time.Duration(l.ledAt), time.Duration(l.viewAt), time.Duration(l.elect), time.Duration(l.view))
	}
	if l.c.Change.Forced {
		return
	}
	for _, b := range l.blocks {
		s, ok := l.c.unchanging(b)
		if ok || s == nil || s.Epoch == 0 {
			continue
		}
		if system, err := quorum.Parse(s.System); err == nil && system.IsQuorum(b) {
			l.miss("%v after the world became still a block with a quorum of epoch %d has not come to the end of a change",
				time.Duration(l.c.Now-l.began), s.Epoch)
		}
	}
}
