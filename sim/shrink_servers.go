package sim

import (
	"slices"

	"github.com/failaware/failaware/timed"
)

// fewerServers leaves out the external references: all, or else one at a time.
func (s *shrinker) fewerServers() {
	if s.best.Schedule.Servers == nil {
		return
	}
	c := s.best
	c.Schedule.Servers = nil
	if s.try(c) {
		return
	}
	for i := len(s.best.Schedule.Servers.List) - 1; i >= 0 && s.goesOn(); i-- {
		c := s.best
		servers := *c.Schedule.Servers
		servers.List = slices.Delete(slices.Clone(servers.List), i, i+1)
		c.Schedule.Servers = &servers
		s.try(c)
	}
}

// without returns the servers of a world that lacks a node. Those that only this
// node asks go with it.
func (s *Servers) without(id timed.NodeID) *Servers {
	if s == nil {
		return nil
	}
	less := &Servers{MinReferences: s.MinReferences}
	for _, x := range s.List {
		if x.Nodes = without(x.Nodes, id); !x.Nodes.Empty() {
			less.List = append(less.List, x)
		}
	}
	return less
}
