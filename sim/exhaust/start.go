package exhaust

import (
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/timed"
)

// start returns the state in which paths from the root begin.
func (w *world) start() (*state, *failure) {
	s := &state{world: w, nodes: make([]nodeState, w.opt.Nodes)}
	period := w.ticks(w.opt.Timing.Period())
	for i := range s.nodes {
		id, born := timed.NodeID(i+1), int64(0)
		if w.root.Start != Cold { // out of step, as nodes are in life
			born = int64(i) * period / int64(w.opt.Nodes)
		}
		s.nodes[i] = nodeState{img: w.born(id, 0, born, clocksync.Time(born*w.grain)+clocksync.Time(id)*awry), turn: born, due: born, asleep: born,
			claims: &claims{self: incarnation(id, 0)}}
	}
	s.endTick()
	if w.root.Start == Cold {
		return s, nil
	}
	c := w.calmFrom(s)
	c.cut = w.root.Start.cut(w.opt.Nodes)
	end := w.ticks(w.bounds.View+w.bounds.Rejoin) + period
	since, hold := int64(-1), w.ticks(w.opt.Timing.MaxLockTime)+period
	for c.s.tick <= end+hold && c.failed == nil {
		c.step()
		if !c.groupsAtRest() {
			since = -1
		} else if since < 0 {
			since = c.s.tick
		}
		if since >= 0 && c.s.tick-since >= hold {
			return c.state(), nil
		}
	}
	c.fail(fail("liveness", 1, "the calm prefix does not come to rest%s", c.describe()))
	return nil, c.failed
}

// cut returns a function that reports whether two nodes do not hear each other before the
// start.
func (s Start) cut(nodes int) func(a, b timed.NodeID) bool {
	switch s {
	case Apart:
		return func(a, b timed.NodeID) bool { return a != b }
	case Split:
		return func(a, b timed.NodeID) bool { return (int(a) == nodes) != (int(b) == nodes) }
	case Challenged:
		return func(a, b timed.NodeID) bool { return (a == 1) != (b == 1) }
	}
	return nil
}

// groupsAtRest reports whether each group of nodes that hear each other is at
// rest.
func (c *calm) groupsAtRest() bool {
	for i := range c.claims {
		var group []claims
		for j := range c.claims {
			if i == j || c.cut == nil || !c.cut(timed.NodeID(i+1), timed.NodeID(j+1)) {
				group = append(group, c.claims[j])
			}
		}
		if !atRest(group, c.s.tick*c.w.grain) {
			return false
		}
	}
	return true
}
