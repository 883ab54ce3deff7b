package sim

import (
	"maps"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
)

// statePromises is what an incarnation was told of operations.
type statePromises struct {
	has      map[opID]bool        // in the state, as its replica has decided
	owed     map[opID]bool        // own ones that were delivered, and neither applied nor skipped
	unsure   map[opID]bool        // own ones that were applied, and not told to be there to stay
	barriers map[broadcast.ID]int // how many operations everybody was sure of when it was broadcast
}

func newStatePromises() statePromises {
	return statePromises{map[opID]bool{}, map[opID]bool{}, map[opID]bool{}, map[broadcast.ID]int{}}
}

// bar broadcasts a barrier, as somebody does who wants to read the latest state.
func (s *stateWorld) bar(m *stateMember) {
	if !m.r.Accepting() {
		return
	}
	id, err := m.n.Broadcast(replica.AppendBarrier(nil), broadcast.Options{Order: broadcast.Total, Atomicity: broadcast.Strict})
	if err == nil {
		m.promises.barriers[id] = len(s.check.lasting)
	}
}

// own reports whether a delivery is of the member.
func (m *stateMember) own(d *broadcast.Delivery) bool {
	return d.Sender == m.n.id && d.Boot == m.inc.Boot
}

// owes takes the delivery of an operation, before the replica does.
func (c *stateCheck) owes(m *stateMember, d *broadcast.Delivery) {
	if m.own(d) {
		m.promises.owed[opID(d.Payload[1:17])] = true
	}
}

// decides takes what a replica wants of its application. What lasts, lasts from
// then on, however slow the application is.
func (c *stateCheck) decides(m *stateMember, e *replica.Effect) {
	p := &m.promises
	switch e.Kind {
	case replica.Restore:
		a := newStateApp()
		a.restore(e.State)
		p.has = a.ops
		clear(p.unsure)
	case replica.Apply:
		p.has[opID(e.Delivery.Payload[:16])] = true
	case replica.Skip:
		if len(e.Delivery.Payload) < 16 {
			return // a barrier
		}
		c.s.tally.skipped++
	case replica.Barrier:
		if e.Lasting { // and so does all that the node has
			for id := range p.unsure {
				c.lasts(id)
			}
			clear(p.unsure)
		}
	}
	if e.Kind != replica.Apply && e.Kind != replica.Skip || !m.own(&e.Delivery) {
		return
	}
	id := opID(e.Delivery.Payload[:16])
	if !p.owed[id] {
		c.fail("owed", m, "operation %x comes twice, or was not delivered", id)
	}
	delete(p.owed, id)
	switch {
	case e.Kind == replica.Skip:
	case e.Lasting:
		c.lasts(id)
	default:
		p.unsure[id] = true
	}
}

// lasts takes that a node knows that an operation is there to stay.
func (c *stateCheck) lasts(id opID) {
	if !c.broken {
		c.lasting = append(c.lasting, id)
		c.s.tally.lasting++
	}
}

// passes takes a barrier, when the application gets to it: what lasts then
// includes what anybody was sure of when it was broadcast.
func (c *stateCheck) passes(m *stateMember, e *replica.Effect) {
	c.s.tally.barriers++
	if sure, ok := m.promises.barriers[e.Delivery.ID]; ok && e.Lasting {
		c.keeps(m, sure)
	}
}

// keeps holds a node's state against the first operations that are there to stay.
func (c *stateCheck) keeps(m *stateMember, sure int) {
	if c.broken {
		return
	}
	for _, id := range c.lasting[:sure] {
		if !m.app.ops[id] {
			c.fail("lasting", m, "operation %x was told to be there to stay, and is not in the state", id)
			return
		}
	}
}

// forgets takes the begin of an incarnation, which has no state. When so few
// others have something that a quorum can do without them, the line of state may be
// broken: a new one can begin, and meet what is left of the old one.
func (c *stateCheck) forgets() {
	members := c.s.members
	without := len(members) - (len(members)/2 + 1)
	counts := map[opID]int{}
	for _, m := range members {
		if m != nil && m.runs() && m.r.Standing() != replica.Pending {
			for id := range maps.Keys(m.promises.has) {
				counts[id]++
			}
		}
	}
	for _, id := range c.lasting {
		if counts[id] <= without && !c.broken {
			c.broken = true
			c.s.tally.broken++
		}
	}
}
