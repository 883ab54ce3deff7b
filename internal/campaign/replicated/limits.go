package replicated

import (
	"time"

	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Nodes with limits of their own: a node that does not take a state ends, and another process
// begins. In a merger it may be the only one that has its state, so the others must merge.

// limit draws the largest state that an incarnation takes: often little more than it has.
func (s *run) limit(m *member) int {
	if !s.opt.Limits || s.w.Time() >= rage || !s.rand.Chance(0.5) {
		return 0
	}
	m.limited = true
	return len(m.app.snapshot()) + int(s.rand.LogUniform(50, 5000))
}

// unlimit ends the incarnations with limits. The next ones take any state.
func (s *run) unlimit() {
	for _, m := range s.members {
		if m.limited {
			_ = s.w.Inject(fault.Fault{Kind: fault.Suspend, Node: m.inc.Node, For: 5 * time.Millisecond}) // unless it is down
		}
	}
}

// declines notes that a member does not take a state.
func (s *run) declines(m *member) {
	s.w.Sometimes(DeclinedState)
	m.declined = m.view.ID
	m.misses = m.replica.Situation() == replica.Merging
}

// withdraws ends a process whose replica says so.
func (s *run) withdraws(m *member) {
	if !s.opt.Limits || m.view == nil || m.declined != m.view.ID {
		s.check.fail("withdraw", m, "ends, and takes the state of its view %v", m.view.ID)
		return
	}
	if m.misses {
		s.w.Sometimes(MissedMerger)
		s.check.missed[m.view.ID] = m.inc.Node
	}
	m.after(0, func() {
		_ = s.w.Inject(fault.Fault{Kind: fault.Crash, Node: m.inc.Node, For: time.Duration(s.rand.Between(1, 300)) * time.Millisecond})
	})
}

// mergers demands that no member leaves a view without the merger at which another one has
// ended.
func (c *check) mergers(m *member) {
	if who := c.missed[m.view.ID]; who != timed.NoNode && !m.merged {
		c.fail("merger", m, "leaves %v without the merger at which node %d has ended, whose state nobody has then", m.view.ID, who)
	}
}

// missedMergers are the views in which a member has ended at the merger, with that member.
type missedMergers map[membership.ViewID]timed.NodeID
