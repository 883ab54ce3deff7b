package replica

import "github.com/failaware/failaware/timed"

// A node that starts without a state has lost its memory, or never had one: nobody knows
// what its earlier processes have promised. With a Quorum it remembers once it has the
// state of a quorum. Any two quorums have a member in common, so a quorum of members that
// remember knows everything that lasts. Without one, the newest state that is known may
// lack some of that, so the view waits: see Viewstamped Replication Revisited, section 4.3.

// remembering returns the members that remember.
func (m *Replica) remembering() (set timed.Set) {
	for i, r := range m.reports {
		if r.remembers {
			set.Add(m.view.Members[i].Node)
		}
	}
	return set
}

// absent returns the nodes of the quorum system that are not in the view, and those of the
// system that the state comes from.
func (m *Replica) absent() timed.Set {
	nodes := m.cfg.Quorum.Members()
	if f, _ := m.former(); f != nil {
		nodes = nodes.Union(f.Members())
	}
	return nodes.Minus(m.view.Set)
}

// proven reports whether the newest state of the view has everything that lasts. If no
// node of the group is absent, nobody else can know more, and the view goes on with what
// there is: that is how a group begins.
func (m *Replica) proven() bool {
	if !m.oneEpoch() {
		m.phase = changing
		return false
	}
	if m.cfg.Quorum == nil {
		return true
	}
	know := m.remembering()
	if m.cfg.Quorum.IsQuorum(know) && m.follows(know) {
		return true
	}
	if _, known := m.former(); m.absent().Empty() && (known || m.latest() == (Era{})) || m.declared {
		m.notify(Event{Kind: EventBegun, Members: know, Absent: m.absent()})
		return true
	}
	m.phase = waiting
	m.notify(Event{Kind: EventWaiting, Members: know, Absent: m.absent()})
	return false
}

// takeBootstrap takes an operator's word that the view may go on with what it has.
func (m *Replica) takeBootstrap(msg *message) {
	if m.phase == waiting && msg.view == m.view.ID {
		m.declared = true
		m.settle()
	}
}

// Absent returns the nodes of the group that a view waits for because too few members
// remember the state. It is empty in other situations.
func (m *Replica) Absent() (set timed.Set) {
	if m.phase == waiting {
		set = m.absent()
	}
	return set
}
