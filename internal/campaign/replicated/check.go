package replicated

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim"
	"github.com/failaware/failaware/timed"
)

// check holds the replicas to their promises.
type check struct {
	s           *run
	failed      *sim.Violation
	snapshots   map[replica.Name][]byte // in canonical form: one state for each name
	inputsOf    map[membership.ViewID][]replica.Branch
	moves       map[[2]membership.ViewID]move
	states      map[replica.Label]map[opID]bool // what states contain that have been located
	continued   map[continuation]bool           // the claims that have been checked
	lasting     []opID                          // what members were told to last, in the order of being told
	lasts       map[opID]bool                   // the same as a set
	forgiven    int                             // how many of these may be gone, because more members forgot them than a quorum can spare
	begun       map[membership.ViewID]bool      // views that went on without a quorum that remembers
	forgot      bool                            // a node has lost its disk
	toldIn      map[opID]uint64                 // the epochs in which members were told that operations last
	heritage    map[opID]bool                   // what the heirs of a forced epoch had, once a view went on
	gone        map[opID]bool                   // what none of them had
	missed      missedMergers
	knowledge   map[membership.ViewID]map[timed.NodeID]knowledge
	generations map[membership.ViewID]uint64 // of ranks, as disks have them
	permitted   map[membership.ViewID]bool   // views that went on by a word without nodes that were absent
	since       map[membership.ViewID]uint64 // how many of these there were when a view began
}

// continuation is the claim that a state continues another one.
type continuation struct {
	state replica.Label
	from  replica.Ancestor
}

// move is the way of members together from one view to another.
type move struct {
	by     timed.NodeID
	merged bool // they have merged in the first
}

func newCheck(s *run) check {
	return check{s: s, snapshots: map[replica.Name][]byte{}, inputsOf: map[membership.ViewID][]replica.Branch{},
		moves: map[[2]membership.ViewID]move{}, begun: map[membership.ViewID]bool{},
		states: map[replica.Label]map[opID]bool{}, continued: map[continuation]bool{}, lasts: map[opID]bool{},
		toldIn: map[opID]uint64{}, gone: map[opID]bool{}, missed: missedMergers{}, generations: map[membership.ViewID]uint64{}, knowledge: map[membership.ViewID]map[timed.NodeID]knowledge{},
		permitted: map[membership.ViewID]bool{}, since: map[membership.ViewID]uint64{}}
}

func (c *check) fail(check string, m *member, format string, args ...any) {
	c.failAt(check, m.inc.Node, format, args...)
}

func (c *check) failAt(check string, node timed.NodeID, format string, args ...any) {
	if c.failed == nil {
		c.failed = &sim.Violation{Check: check, Node: node, Detail: fmt.Sprintf(format, args...)}
	}
}

// err is the invariant that ends the run.
func (c *check) err() error {
	if c.failed == nil {
		return nil
	}
	return c.failed
}

// snapshot demands that there is one state for each name.
func (c *check) snapshot(m *member, n replica.Name, b []byte) {
	b = m.app.parse(b).canonical()
	if o := c.snapshots[n]; o == nil {
		c.snapshots[n] = b
	} else if !bytes.Equal(o, b) {
		c.fail("snapshot", m, "two states have the name %v", n)
	}
}

// merges demands, when a replica decides to merge, that all in the view merge the
// same branches.
func (c *check) merges(m *member, e *replica.Effect) {
	if c.s.opt.Quorum {
		c.fail("line", m, "merges in spite of the quorum")
	}
	o := c.inputsOf[m.view.ID]
	if o == nil {
		c.inputsOf[m.view.ID] = e.Branches
		return
	}
	same := func(a, b replica.Branch) bool { return a.Members == b.Members && a.State.Digest() == b.State.Digest() }
	if !slices.EqualFunc(o, e.Branches, same) && !c.s.load.untidy {
		c.fail("merge", m, "merges in %v %d branches that are not those of others", m.view.ID, len(e.Branches))
	}
}

// inputs demands, when the application merges, that the branch of the member is its
// own state.
func (c *check) inputs(m *member, e *replica.Effect) {
	for _, b := range e.Branches {
		if b.Members.Has(m.inc.Node) && !bytes.Equal(m.app.parse(bytesOf(b.State)).canonical(), m.app.canonical()) {
			c.fail("branch", m, "has another state than its branch %v of %v brings to the merge", b.Label, b.Members)
		}
	}
}

// continues demands, when the application gets to a place, that its state contains those
// that it continues: others give way to it without a merge.
func (c *check) continues(m *member, p *replica.Place) {
	label := p.Named().Label
	if c.states[label] == nil {
		c.states[label] = maps.Clone(m.app.ops)
	}
	for _, a := range p.Line {
		claim := continuation{label, a}
		if c.continued[claim] {
			continue
		}
		c.continued[claim] = true
		end := replica.Place{Earlier: replica.Earlier{Lineage: replica.Lineage{Label: a.Label}}, View: a.View, Position: a.Reached}
		for _, earlier := range []replica.Label{a.Label, end.Named().Label} {
			for id := range c.states[earlier] {
				if !m.app.ops[id] {
					c.fail("continues", m, "its state %v at %v says that it continues %v, and lacks operation %x of it", label, p.View, earlier, id)
					return
				}
			}
		}
	}
}

// leaves handles the end of a view at a member. If it holds the state, operations
// that were delivered in the view must stay in it. All that move on together must
// have merged, or none of them.
func (c *check) leaves(m *member, next *membership.View) {
	if m.view == nil {
		return
	}
	c.missedWord(m)
	if m.replica.Standing() != replica.Holder {
		return
	}
	c.delivers(m)
	c.mergers(m)
	key := [2]membership.ViewID{m.view.ID, next.ID}
	if o, ok := c.moves[key]; !ok {
		c.moves[key] = move{m.inc.Node, m.merged}
	} else if o.merged != m.merged && c.inputsOf[m.view.ID] != nil {
		c.fail("together", m, "moves from %v to %v, merged: %v; node %d: %v", m.view.ID, next.ID, m.merged, o.by, o.merged)
	}
}

// delivers notes that operations of the view must stay in the state of a holder.
func (c *check) delivers(m *member) {
	for _, id := range m.inView {
		m.must[id] = true
	}
}

// resolved demands that all own operations of an incarnation that has ended, as far as
// they were delivered, were applied or skipped.
func (c *check) resolved(m *member) {
	if len(m.told.owed) > 0 {
		c.fail("owed", m, "%d own operations were delivered, and neither applied nor skipped", len(m.told.owed))
	}
}

// end demands one state everywhere, with all that it must contain.
func (c *check) end() {
	first := c.s.members[0]
	for _, m := range c.s.members {
		v, upToDate := m.n.View()
		if !m.runs() || !upToDate || v.Set.Len() != len(c.s.members) || m.view == nil || m.view.ID != v.ID {
			c.fail("liveness", m, "is not in a view of all at the end: %v, up to date: %v", v, upToDate)
			return
		}
		if !m.idle() {
			c.fail("liveness", m, "is not at work at the end: standing %v, settled %v, %d calls and %d messages wait",
				m.replica.Standing(), m.replica.Settled(), len(m.calls), len(m.sendQueue))
			return
		}
		if m.replica.Invalid > 0 {
			c.fail("invalid", m, "%d deliveries were not understood", m.replica.Invalid)
		}
		if !bytes.Equal(m.app.canonical(), first.app.canonical()) {
			c.fail("state", m, "has %d operations, history %x; node %d %d, %x", len(m.app.ops), m.app.history,
				first.inc.Node, len(first.app.ops), first.app.history)
		}
		c.delivers(m)
		for id := range m.must {
			if !m.app.ops[id] {
				c.fail("lost", m, "operation %x was delivered to a holder of the state, and is not in it", id)
			}
		}
		c.keeps(m, len(c.lasting))
		c.resolved(m)
		if n := len(m.told.held); n > 0 && c.s.stored() {
			c.fail("owed", m, "%d own operations or barriers were not said to last at the end, at %v", n, m.told.held[0].at)
		}
	}
}
