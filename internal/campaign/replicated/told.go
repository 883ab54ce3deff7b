package replicated

import (
	"maps"
	"slices"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

// told is what a member was told about operations.
type told struct {
	epoch    uint64
	view     membership.ViewID
	rank     uint64                // of the state, or that it has promised, as its replica has decided
	has      map[opID]bool         // in the state, as its replica has decided
	owed     map[broadcast.ID]bool // own operations that were delivered, and neither applied nor skipped
	unsure   map[opID]bool         // own operations that were applied, and not said to last
	barriers map[broadcast.ID]int  // how many operations were said to last when it was broadcast
	held     []heldOp              // own operations and barriers that may be said to last
}

// heldOp is what lasts once a quorum of disks has a position: an own operation, or, with
// a barrier, all that were unsure.
type heldOp struct {
	ids []opID
	at  replica.Point
}

func newTold() told {
	return told{has: map[opID]bool{}, owed: map[broadcast.ID]bool{}, unsure: map[opID]bool{}, barriers: map[broadcast.ID]int{}}
}

// decides handles a call that a replica makes to its application. An operation that
// lasts does so from now on, however slow the application is.
func (c *check) decides(m *member, e *replica.Effect) {
	p := &m.told
	switch e.Kind {
	case replica.Restore:
		p.has = m.app.parse(bytesOf(e.State)).ops
		clear(p.unsure)
	case replica.Apply:
		p.has[opID(e.Delivery.Payload[:16])] = true
	case replica.Skip:
		if _, barrier := p.barriers[e.Delivery.ID]; barrier {
			return
		}
		c.s.w.Sometimes(Skipped)
	case replica.Barrier:
		switch {
		case e.Lasting:
			c.allLast(p)
		case m.disk != nil && !e.Delivery.Transitional:
			p.held = append(p.held, heldOp{slices.SortedFunc(maps.Keys(p.unsure), opID.compare), e.At})
		}
	case replica.Locate:
		if e.Place != nil {
			p.rank = max(e.Place.Rank, e.Place.Promised)
		}
	case replica.Lasts:
		c.held(p, e)
	}
	if e.Kind == replica.Apply || e.Kind == replica.Skip {
		c.outcome(m, e)
	}
}

// allLast notes that all that a member has lasts.
func (c *check) allLast(p *told) {
	for id := range p.unsure {
		c.last(p, id)
	}
	clear(p.unsure)
}

// held notes what lasts because disks have it, or that no more will be said.
func (c *check) held(p *told, e *replica.Effect) {
	for len(p.held) > 0 {
		h := p.held[0]
		reached := h.at.View == e.At.View && h.at.Position <= e.At.Position
		if e.Lasting && !reached {
			return
		}
		for _, id := range h.ids {
			if e.Lasting {
				c.last(p, id)
				delete(p.unsure, id)
			} else {
				p.unsure[id] = true
			}
		}
		p.held = p.held[1:]
	}
}

// outcome demands that each own operation is applied or skipped once.
func (c *check) outcome(m *member, e *replica.Effect) {
	if !m.own(&e.Delivery) {
		return
	}
	if !m.told.owed[e.Delivery.ID] {
		c.fail("owed", m, "operation %v comes twice, or was not delivered", e.Delivery.ID)
	}
	delete(m.told.owed, e.Delivery.ID)
	if e.Kind == replica.Skip {
		return
	}
	id := opID(e.Delivery.Payload[:16])
	switch {
	case e.Lasting:
		c.last(&m.told, id)
	case m.disk != nil && !e.Delivery.Transitional && e.Delivery.Atomicity == broadcast.StrictAtomicity:
		m.told.held = append(m.told.held, heldOp{[]opID{id}, e.At})
	default:
		m.told.unsure[id] = true
	}
}

// last notes that a member knows that an operation lasts.
func (c *check) last(p *told, id opID) {
	c.lasting = append(c.lasting, id)
	c.lasts[id] = true
	c.inherits(p, id)
	if c.outdated(p.view) {
		c.gone[id] = true
	}
	c.s.w.Sometimes(Lasted)
}

// passes demands, when the application gets to a barrier, that the state contains
// all operations that were said to last when the barrier was broadcast.
func (c *check) passes(m *member, e *replica.Effect) {
	c.s.w.Sometimes(Passed)
	if sure, ok := m.told.barriers[e.Delivery.ID]; ok && e.Lasting && c.s.opt.Quorum {
		c.keeps(m, sure)
	}
}

// keeps demands that a state contains the first operations that were said to last.
func (c *check) keeps(m *member, sure int) {
	for _, id := range c.lasting[min(c.forgiven, sure):sure] {
		if !m.app.ops[id] && !c.gone[id] {
			c.fail("lasting", m, "operation %x was said to last, and is not in the state", id)
			return
		}
	}
}

// begins handles the report of a view that goes on with fewer members that remember than
// a quorum, since nobody is absent who knows more. Operations that lasted so far may be gone,
// which a node must say whose earlier process was in views.
func (c *check) begins(m *member, e *replica.Event) {
	c.succeeds(m, e.Members)
	c.permits(m, e)
	if len(c.lasting) > 0 && c.s.again[m.inc.Node-1] && !e.Lossy {
		c.fail("begun", m, "begins as if the group were new")
	}
	if m.view == nil || c.begun[m.view.ID] || c.s.opt.Disks && !c.forgot && e.Absent.Empty() { // disks remember
		return
	}
	c.begun[m.view.ID] = true
	if len(c.lasting) > 0 {
		c.s.w.Sometimes(Begun)
	}
	if !c.s.opt.Disks {
		c.forgiven = len(c.lasting)
		return
	}
	stay := c.survives(m)
	for _, id := range c.lasting[c.forgiven:] {
		c.gone[id] = c.gone[id] || !stay[id]
	}
}

// forgets handles the loss of a disk. Without a quorum, an operation lasts when the disks of
// a view have it, which may be this one alone.
func (c *check) forgets() {
	if c.forgot = true; !c.s.opt.Quorum {
		c.forgiven = len(c.lasting)
	}
}
