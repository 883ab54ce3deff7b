package replicated

import (
	"slices"

	"github.com/failaware/failaware/internal/replica"
)

// readLeased reads the latest state without a message, if the member can at once: what its
// replica has decided is the state that a reader sees once the application is ready. A
// reader that has to wait is one that begins later. Once clocks leave ρ, nothing is promised.
func (s *run) readLeased(m *member) {
	v, fresh := m.n.View()
	if !fresh || !s.opt.Quorum || s.opt.Clocks {
		return
	}
	x, e := m.n.Reach(), m.replica.Extent()
	if x.View != v.ID || e.View != v.ID || x.Delivered < x.Have || e.Seen < x.Position || e.Sure <= e.Last {
		return
	}
	s.w.Sometimes(Leased)
	s.check.reads(m, e)
}

// reads demands that a state has all operations that were said to last so far. What a
// reader has seen is then said to last too.
func (c *check) reads(m *member, e replica.Extent) {
	for _, id := range c.lasting[min(c.forgiven, len(c.lasting)):] {
		if !m.told.has[id] && !c.gone[id] {
			c.fail("leased", m, "operation %x was said to last, and is not in the state that is read in view %v at position %d", id, e.View, e.Seen)
			return
		}
	}
	var seen []opID
	for id := range m.told.has {
		if !c.lasts[id] {
			seen = append(seen, id)
		}
	}
	slices.SortFunc(seen, opID.compare)
	for _, id := range seen {
		c.last(&m.told, id)
	}
}
