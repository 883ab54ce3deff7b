package replica

import "github.com/failaware/failaware/timed"

// A node that starts without a state has lost its memory, or never had one: it does not know
// the promises of its earlier processes. With a Quorum it remembers once it has the state of a
// quorum. Any two quorums have a member in common, so a quorum of members that remember knows
// everything that lasts. Without such a quorum, the newest known state may lack some of that,
// so the view waits: see Viewstamped Replication Revisited, section 4.3.

// remembering returns the members that remember.
func (m *Replica) remembering() timed.Set { return m.claiming().Minus(m.rolledBack) }

// claiming returns the members that say that they remember.
func (m *Replica) claiming() (set timed.Set) {
	for i, r := range m.reports {
		if r.remembers {
			set.Add(m.view.Members[i].Node)
		}
	}
	return set
}

// absent returns the nodes that are not in the view, of the quorum system and of the former
// one that the state comes from.
func (m *Replica) absent() timed.Set {
	nodes := m.cfg.Quorum.Members()
	if f, _ := m.former(); f != nil {
		nodes = nodes.Union(f.Members())
	}
	return nodes.Minus(m.view.Set)
}

// proven reports whether the newest state of the view has everything that lasts. If no node of
// the group is absent, no node can know more, and the view continues with the state that there
// is. A new group begins like that.
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
		m.begun = true
		m.notify(Event{Kind: EventBegun, Members: know, Absent: m.absent(), Lossy: m.lossy(know)})
		return true
	}
	m.phase = waiting
	m.notify(Event{Kind: EventWaiting, Members: know, Absent: m.absent()})
	return false
}

// lossy reports whether a view that goes on, although the members that remember are no quorum,
// may lack what was said to last. It does not if the group is new.
func (m *Replica) lossy(know timed.Set) bool {
	return m.cfg.Again || m.promised > 0 || !know.Empty() || !m.absent().Empty()
}

// takeBootstrap handles an operator's permission to continue with the state of the view.
func (m *Replica) takeBootstrap(msg *message) {
	if m.phase == waiting && msg.view == m.view.ID {
		m.declared, m.said = true, msg.generation
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
