package replicated

import (
	"maps"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// Machines lose their disks with their state directories, so that nodes come back that know
// nothing, while others are away. The others wait, and operators let them go on. Their words come
// to some members only, since the view ends or processes do, and several operators may say so, in
// one view or in several. What was said to last in the views before may then be lost, if no member
// has it that remembers. What is said to last from there on lasts.

// wipes are the losses of a run and the words of its operators.
type wipes struct {
	rand  random.Stream
	due   timed.Set // machines that lose everything when their processes end
	begun uint64    // views that have gone on without nodes that were absent
}

// drawVoters draws the quorum system of a run, which not all nodes need be members of.
func drawVoters(r random.Stream, nodes int) quorum.System {
	if nodes > 3 && r.Chance(0.4) {
		nodes -= int(r.Between(1, 2))
	}
	return majorityOf(nodes)
}

// loseMachines has machines lose everything at random times, while others are away. The first node's
// incarnations draw the times.
func (s *run) loseMachines(m *member) {
	if !s.opt.Wipes || m.inc.Node != 1 {
		return
	}
	r := s.wipes.rand
	m.after(time.Duration(s.wipes.rand.Exponential()*float64(rage)/8), func() {
		if s.w.Time() > rage {
			return
		}
		most, voters := r.Chance(0.6), timed.Set{}
		if r.Chance(0.3) && m.quorum != nil {
			voters = m.quorum.Members()
		}
		for _, o := range s.members {
			switch {
			case voters.Has(o.inc.Node):
				s.loseMachine(o, time.Duration(r.Between(1, 300))*time.Millisecond)
			case !voters.Empty():
				s.crash(o, time.Duration(r.Between(300, 2000))*time.Millisecond)
			case most && r.Chance(0.6) || r.Chance(0.2):
				s.loseMachine(o, time.Duration(r.Between(1, 300))*time.Millisecond)
			case r.Chance(0.4):
				s.crash(o, time.Duration(r.Between(300, 2000))*time.Millisecond)
			}
		}
		s.loseMachines(m)
	})
}

// loseMachine ends a process, whose machine loses everything.
func (s *run) loseMachine(m *member, d time.Duration) {
	s.wipes.due.Add(m.inc.Node)
	if m.n.Up() {
		s.crash(m, d)
	} else {
		s.ended(m.inc.Node)
	}
}

// ended handles the end of a process.
func (s *run) ended(id timed.NodeID) {
	due := s.wipes.due.Has(id)
	n := s.members[id-1].n
	if s.wipes.due.Remove(id); !due || !n.Gone() {
		return
	}
	n.LoseState()
	s.again[id-1] = s.again[id-1] && s.opt.Change // where the directory stays
	s.w.Sometimes(Wiped)
	if d := s.disks[id-1]; d != nil {
		s.wipe(d)
	}
}

// permit has an operator look at a view that waits, and let it go on while nodes are absent. At the
// end nobody is absent, and none need say so.
func (s *run) permit(m *member) {
	if !s.opt.Wipes || s.wipes.rand.Chance(0.3) {
		return
	}
	view, absent := m.view, !m.replica.Absent().Empty()
	m.after(time.Duration(s.wipes.rand.LogUniform(1e6, 1e9)), func() {
		if m.view != view || m.replica.Situation() != replica.Recovering || s.w.Time() > rage {
			return
		}
		_, err := m.n.Broadcast(replica.AppendBootstrap(nil, view.ID, s.wall()), broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.WeakAtomicity})
		if err == nil && absent {
			s.w.Sometimes(DeclaredApart)
			s.interrupt(m)
		}
	})
}

// interrupt ends a view, or processes in it, while a word is under way in it.
func (s *run) interrupt(m *member) {
	r := s.wipes.rand
	if r.Chance(0.3) {
		return
	}
	m.n.After(time.Duration(r.LogUniform(1e5, 5e7)), func() {
		d := time.Duration(r.Between(50, 800)) * time.Millisecond
		if r.Chance(0.5) {
			var one timed.Set
			for id := range s.all().All() {
				if r.Chance(0.5) {
					one.Add(id)
				}
			}
			f := fault.Fault{Kind: fault.Split, Blocks: []timed.Set{one, s.all().Minus(one)}, For: d}
			if !one.Empty() && one != s.all() {
				_ = s.w.Inject(f)
			}
			return
		}
		for id := range m.view.Set.All() {
			switch o := s.members[id-1]; {
			case r.Chance(0.2):
				s.loseMachine(o, d)
			case r.Chance(0.3):
				s.crash(o, d)
			}
		}
	})
}

// missedWord counts the members of a view that waited in it to its end, although others went on.
func (c *check) missedWord(m *member) {
	if c.permitted[m.view.ID] && m.replica.Situation() == replica.Recovering {
		c.s.w.Sometimes(MissedWord)
	}
}

// permits handles the report of a view that goes on without nodes that are absent. What was said to
// last before need not be in its state, unless a member has it that remembers; and what is said
// to last in other views that were there by then need not be either.
func (c *check) permits(m *member, e *replica.Event) {
	if m.view == nil || c.permitted[m.view.ID] || e.Absent.Empty() {
		return
	}
	if len(c.permitted) > 0 {
		c.s.w.Sometimes(DeclaredAgain)
	}
	c.s.wipes.begun++
	c.permitted[m.view.ID], c.since[m.view.ID] = true, c.s.wipes.begun
}

// entersSince notes when a view has begun, compared with those that went on by a word.
func (c *check) entersSince(m *member) {
	m.told.view = m.view.ID
	if _, ok := c.since[m.view.ID]; !ok && c.s.opt.Wipes {
		c.since[m.view.ID] = c.s.wipes.begun
	}
}

// outdated reports whether what is said to last in the view of a member need not be in the state of
// a view that has gone on by a word.
func (c *check) outdated(view membership.ViewID) bool { return c.since[view] < c.s.wipes.begun }

// keepsKnown notes what a member has, so that it is known what a view must keep.
func (c *check) keepsKnown(m *member) map[opID]bool {
	if c.s.opt.Damage || c.s.opt.Wipes {
		return maps.Clone(m.told.has)
	}
	return nil
}
