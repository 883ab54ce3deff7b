package replicated

import (
	"maps"
	"time"

	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/timed"
)

// An operator forces a change when a quorum is lost, and lets the state go on (declare) when all
// nodes that were not declared dead are together. An operation that was said to last in a former
// epoch may then be lost, but only if none of the heirs has it, the members that remember. All
// that is said to last from then on lasts.

// forced is the change that was forced in a run.
type forced struct {
	epoch uint64 // that ended by it; 0: none was forced
	dead  timed.Set
}

// loseQuorum crashes a quorum at random times, until a change has been forced. The others are
// often down until then, and know less. The first node's incarnations draw the times.
func (s *run) loseQuorum(m *member) {
	if !s.opt.Force || m.inc.Node != 1 {
		return
	}
	m.after(max(0, rage/6-s.w.Time())+time.Duration(s.rand.Exponential()*float64(rage)/6), func() {
		_, system := m.n.Order()
		if s.w.Time() > rage*2/3 || s.forced.epoch > 0 || system == nil {
			return
		}
		dying := s.all()
		for _, o := range s.members {
			if rest := dying.Without(o.inc.Node); system.IsQuorum(rest) && s.rand.Chance(0.8) {
				dying = rest
			}
		}
		behind := time.Duration(0)
		if s.rand.Chance(0.5) {
			behind = time.Duration(s.rand.Between(500, 1500)) * time.Millisecond
		}
		for _, o := range s.members {
			switch {
			case dying.Has(o.inc.Node):
				o.n.After(behind*9/10, func() { s.crash(o, time.Duration(s.rand.Between(1000, 3000))*time.Millisecond) })
			case behind > 0:
				s.crash(o, behind)
			}
		}
		s.loseQuorum(m)
	})
}

// crash crashes a node. One that is down already stays down.
func (s *run) crash(m *member, d time.Duration) {
	_ = s.w.Inject(fault.Fault{Kind: fault.Crash, Node: m.inc.Node, For: d})
}

// all returns all nodes.
func (s *run) all() (set timed.Set) {
	for id := range s.load.nodes {
		set.Add(timed.NodeID(id + 1))
	}
	return set
}

// complete reports whether a view has all nodes that were not declared dead.
func (s *run) complete(view timed.Set) bool { return s.all().Minus(s.forced.dead).Subset(view) }

func (s *run) mayForce(*sim.Node) bool { return s.w.Time() < rage }

// force handles a forced change. Some of the dead lose their disks.
func (s *run) force(epoch uint64, dead, wiped timed.Set) {
	s.w.Sometimes(Forced)
	s.forced = forced{epoch, dead}
	for id := range wiped.All() {
		if d := s.disks[id-1]; d != nil {
			d.wipe()
		}
	}
}

// comesBack counts the members that were declared dead and start again.
func (s *run) comesBack(d *disk, has replica.Earlier) {
	switch {
	case !s.forced.dead.Has(d.node.ID()):
	case has.Label == replica.Label{}:
		s.w.Sometimes(CameBackEmpty)
	default:
		s.w.Sometimes(CameBack)
	}
}

// heirs returns those members of the newest state's quorum system that remember: of these, a
// view goes on with the newest state.
func (s *run) heirs(view, know timed.Set) timed.Set {
	var era replica.Era
	for id := range view.All() {
		if e := s.disks[id-1].keeper.Place().Era; e.Epoch > era.Epoch {
			era = e
		}
	}
	return ofSystem(era, know)
}

// ofSystem returns those nodes that are of the quorum system of an era.
func ofSystem(era replica.Era, nodes timed.Set) timed.Set {
	system, err := quorum.Parse(era.System)
	if err != nil {
		return nodes // no quorum has had a state
	}
	return nodes.Intersect(system.Members())
}

// succeeds handles the report of a view that goes on after a forced change with fewer members
// that remember than a quorum. Nobody need have what was said to last before and no heir has.
func (c *check) succeeds(m *member, know timed.Set) {
	if c.s.forced.epoch == 0 || m.replica.Epoch() <= c.s.forced.epoch || m.view == nil || c.begun[m.view.ID] {
		return
	}
	c.heritage = map[opID]bool{}
	for id := range c.s.heirs(m.view.Set, know).All() {
		maps.Copy(c.heritage, c.s.members[id-1].told.has)
	}
	c.begun[m.view.ID] = true
	for _, id := range c.lasting {
		c.misses(id)
	}
}

// inherits notes in which epoch a member was told that an operation lasts. That of a former
// epoch may be lost already.
func (c *check) inherits(p *told, id opID) {
	if !c.s.opt.Force {
		return
	}
	c.toldIn[id] = max(c.toldIn[id], p.epoch)
	if c.heritage != nil {
		c.misses(id)
	}
}

// misses forgives the loss of an operation that lasted in a former epoch, if no heir has it.
func (c *check) misses(id opID) {
	switch {
	case c.toldIn[id] > c.s.forced.epoch:
	case c.heritage[id]:
		c.s.w.Sometimes(Inherited)
	default:
		c.s.w.Sometimes(LostWithDead)
		c.gone[id] = true
	}
}
