package sim

import (
	"bytes"

	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
)

// stateCheck holds what replicas do against their promises.
type stateCheck struct {
	s         *stateWorld
	snapshots map[replica.Name][]byte // in canonical form: one state for each name
	inputsOf  map[membership.ViewID][]replica.Branch
	moves     map[[2]membership.ViewID]stateMove
	lasting   []opID // what nodes were told to be there to stay, in the order of being told
	broken    bool   // more members ended than RequireQuorum can bear
}

// stateMove is whether those who move together from one view to another have
// merged in it.
type stateMove struct {
	by     *stateMember
	merged bool
}

func newStateCheck(s *stateWorld) stateCheck {
	return stateCheck{s: s, snapshots: map[replica.Name][]byte{}, inputsOf: map[membership.ViewID][]replica.Branch{},
		moves: map[[2]membership.ViewID]stateMove{}}
}

func (c *stateCheck) fail(check string, m *stateMember, format string, args ...any) {
	c.s.w.cast.check.fail(check, m.n.id, format, args...)
}

// snapshot takes a state by its name: there is one for each.
func (c *stateCheck) snapshot(m *stateMember, n replica.Name, b []byte) {
	b = canonical(b)
	if o := c.snapshots[n]; o == nil {
		c.snapshots[n] = b
	} else if !bytes.Equal(o, b) {
		c.fail("snapshot", m, "two states have the name %v", n)
	}
}

// merges takes the decision to merge, when a replica makes it.
func (c *stateCheck) merges(m *stateMember, e *replica.Effect) {
	if !c.s.w.cast.check.quorum.Empty() {
		c.fail("line", m, "merges in spite of RequireQuorum")
	}
	o := c.inputsOf[m.view.ID]
	if o == nil {
		c.inputsOf[m.view.ID] = e.Branches
		return
	}
	same := len(o) == len(e.Branches)
	for i := 0; same && i < len(o); i++ {
		same = o[i].Members == e.Branches[i].Members && bytes.Equal(o[i].State, e.Branches[i].State)
	}
	if !same && !c.s.temper.untidy {
		c.fail("merge", m, "merges in %v %d branches that are not those of others", m.view.ID, len(e.Branches))
	}
}

// inputs takes the call of Merge, when the application gets to it: what its
// branch brings along is what it has.
func (c *stateCheck) inputs(m *stateMember, e *replica.Effect) {
	for _, b := range e.Branches {
		if b.Members.Has(m.n.id) && !bytes.Equal(canonical(b.State), m.app.text()) {
			c.fail("branch", m, "has another state than its branch %v of %v brings to the merge", b.Label, b.Members)
		}
	}
}

// leaves takes the end of a view at a node. What was delivered to a holder of
// the state is there to stay, and those who move together have merged together.
func (c *stateCheck) leaves(m *stateMember, next *membership.View) {
	if m.view == nil || m.r.Standing() != replica.Holder {
		return
	}
	for _, id := range m.queuedOps {
		m.must[id] = true
	}
	key := [2]membership.ViewID{m.view.ID, next.ID}
	if o, ok := c.moves[key]; !ok {
		c.moves[key] = stateMove{m, m.merged}
	} else if o.merged != m.merged && c.inputsOf[m.view.ID] != nil {
		c.fail("together", m, "moves from %v to %v, merged: %v; node %d: %v", m.view.ID, next.ID, m.merged, o.by.n.id, o.merged)
	}
}

// settled checks the end: one state everywhere, with all that it must contain.
func (c *stateCheck) settled() {
	first := c.s.members[0]
	for _, m := range c.s.members {
		cast := m.n.st.BroadcastState()
		if v := cast.View(); !m.runs() || v == nil || v.Set != group(len(c.s.members)) || cast.Frozen() {
			c.fail("liveness", m, "is not in a view of all at the end: %v, frozen %v", v, cast.Frozen())
			return
		}
		if !m.r.Current() || len(m.line) > 0 || len(m.outbox) > 0 {
			c.fail("liveness", m, "is not at work at the end: standing %v, settled %v, %d calls and %d messages wait",
				m.r.Standing(), m.r.Settled(), len(m.line), len(m.outbox))
			return
		}
		if m.r.Invalid > 0 {
			c.fail("invalid", m, "%d deliveries were not understood", m.r.Invalid)
		}
		if !bytes.Equal(m.app.text(), first.app.text()) {
			c.fail("state", m, "has %d operations, history %x; node %d %d, %x", len(m.app.ops), m.app.history,
				first.n.id, len(first.app.ops), first.app.history)
		}
		for _, id := range m.queuedOps {
			m.must[id] = true
		}
		for id := range m.must {
			if !m.app.ops[id] {
				c.fail("lost", m, "operation %x was delivered to a holder of the state, and is not in it", id)
			}
		}
		c.keeps(m, len(c.lasting))
		if len(m.promises.owed) > 0 {
			c.fail("owed", m, "%d own operations were delivered, and neither applied nor skipped", len(m.promises.owed))
		}
	}
}
