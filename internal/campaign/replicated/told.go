package replicated

import (
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
)

// told is what a member was told about operations.
type told struct {
	has      map[opID]bool        // in the state, as its replica has decided
	owed     map[opID]bool        // own operations that were delivered, and neither applied nor skipped
	unsure   map[opID]bool        // own operations that were applied, and not said to last
	barriers map[broadcast.ID]int // how many operations were said to last when it was broadcast
}

func newTold() told {
	return told{map[opID]bool{}, map[opID]bool{}, map[opID]bool{}, map[broadcast.ID]int{}}
}

// decides handles a call that a replica makes to its application. An operation that
// lasts does so from now on, however slow the application is.
func (c *check) decides(m *member, e *replica.Effect) {
	p := &m.told
	switch e.Kind {
	case replica.Restore:
		p.has = parse(e.State).ops
		clear(p.unsure)
	case replica.Apply:
		p.has[opID(e.Delivery.Payload[:16])] = true
	case replica.Skip:
		if len(e.Delivery.Payload) < 16 {
			return // a barrier
		}
		c.s.w.Sometimes(Skipped)
	case replica.Barrier:
		if e.Lasting { // and with it all that the member has
			for id := range p.unsure {
				c.lasts(id)
			}
			clear(p.unsure)
		}
	}
	if e.Kind == replica.Apply || e.Kind == replica.Skip {
		c.outcome(m, e)
	}
}

// outcome demands that each own operation is applied or skipped once.
func (c *check) outcome(m *member, e *replica.Effect) {
	if !m.own(&e.Delivery) {
		return
	}
	id := opID(e.Delivery.Payload[:16])
	if !m.told.owed[id] {
		c.fail("owed", m, "operation %x comes twice, or was not delivered", id)
	}
	delete(m.told.owed, id)
	switch {
	case e.Kind == replica.Skip:
	case e.Lasting:
		c.lasts(id)
	default:
		m.told.unsure[id] = true
	}
}

// lasts notes that a member knows that an operation lasts.
func (c *check) lasts(id opID) {
	c.lasting = append(c.lasting, id)
	c.s.w.Sometimes(Lasted)
}

// passes demands, when the application gets to a barrier, that the state contains
// all operations that were said to last when the barrier was broadcast.
func (c *check) passes(m *member, e *replica.Effect) {
	c.s.w.Sometimes(Passed)
	if sure, ok := m.told.barriers[e.Delivery.ID]; ok && e.Lasting {
		c.keeps(m, sure)
	}
}

// keeps demands that a state contains the first operations that were said to last.
func (c *check) keeps(m *member, sure int) {
	for _, id := range c.lasting[min(c.forgiven, sure):sure] {
		if !m.app.ops[id] {
			c.fail("lasting", m, "operation %x was said to last, and is not in the state", id)
			return
		}
	}
}

// begins handles the report of a view that goes on with fewer members that remember than
// a quorum, since nobody is absent who knows more. What lasted so far may be gone.
func (c *check) begins(m *member) {
	if m.view == nil || c.begun[m.view.ID] {
		return
	}
	c.begun[m.view.ID] = true
	c.forgiven = len(c.lasting)
	if c.forgiven > 0 {
		c.s.w.Sometimes(Begun)
	}
}
