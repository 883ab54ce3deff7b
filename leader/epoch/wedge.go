package epoch

import (
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// wedges counts the members that have wedged for one successor.
type wedges struct {
	next   string
	by     timed.Set
	agreed bool
	dead   timed.Set
}

// maxSuccessors bounds the number of successors for which wedges are counted. There is
// one unless forced changes contradict each other.
const maxSuccessors = 4

// learn processes a successor that a node knows to be chosen.
func (m *Machine) learn(now timed.Instant, from timed.NodeID, s *State, out []Effect) []Effect {
	if m.state.Phase >= Chosen && m.state.Next != s.Next {
		return m.notifyConflict(from, s.Next, out)
	}
	known := m.state.Phase >= Chosen // if not, s says that it is agreed, or who is dead
	if (m.state.Agreed || !s.Agreed) && s.Dead.Subset(m.state.Dead) {
		return out
	}
	if !known {
		if _, err := m.parse(s.Next); err != nil {
			return out
		}
		m.state.Phase, m.state.Next, m.state.Edict = Chosen, s.Next, edict.Edict{}
		m.own, m.wanted = false, ""
		out = append(out, Effect{Kind: Notify, Event: Event{Decided, m.state.Epoch, s.Next, from}})
	}
	if s.Dead.Has(m.cfg.Self.Node) && !m.state.Dead.Has(m.cfg.Self.Node) {
		out = append(out, Effect{Kind: Notify, Event: Event{DeclaredDead, m.state.Epoch, s.Next, from}})
	}
	m.state.Agreed = m.state.Agreed || s.Agreed
	m.state.Dead = m.state.Dead.Union(s.Dead)
	switch {
	case m.state.Phase == Wedged: // the reason has changed
		m.wedge(m.cfg.Self.Node, &m.state)
		return m.persist(now, out)
	case m.mayWedge() && now >= m.unboundAt():
		return m.wedgeSelf(now, out)
	}
	return m.report(now, out)
}

// mayWedge reports whether only the votes given keep this node from wedging.
func (m *Machine) mayWedge() bool {
	return m.state.Phase == Chosen && m.system.Members().Has(m.cfg.Self.Node)
}

// unboundAt returns when the votes of this node, including those of earlier
// incarnations, no longer bind it.
func (m *Machine) unboundAt() timed.Instant {
	return timed.Later(m.cfg.ReadyAt, m.bound)
}

// wedgeSelf makes this node stop voting in this epoch permanently.
func (m *Machine) wedgeSelf(now timed.Instant, out []Effect) []Effect {
	m.state.Phase = Wedged
	m.wedge(m.cfg.Self.Node, &m.state)
	out = m.persist(now, out)
	return m.enterNext(now, out)
}

// wedge counts a member that has wedged.
func (m *Machine) wedge(by timed.NodeID, s *State) {
	if !m.system.Members().Has(by) {
		return
	}
	for i := range m.wedges {
		if w := &m.wedges[i]; w.next == s.Next {
			w.by.Add(by)
			w.agreed = w.agreed || s.Agreed
			w.dead = w.dead.Union(s.Dead)
			return
		}
	}
	if len(m.wedges) < maxSuccessors {
		m.wedges = append(m.wedges, wedges{s.Next, timed.SetOf(by), s.Agreed, s.Dead})
	}
}

// enterNext begins the next epoch if the old one has ended: if a quorum has wedged for
// one successor or, where the successor was forced, all members that were not declared
// dead.
func (m *Machine) enterNext(now timed.Instant, out []Effect) []Effect {
	for i := range m.wedges {
		w := &m.wedges[i]
		agreed := w.agreed && m.system.IsQuorum(w.by)
		forced := m.system.Members().Minus(w.dead).Subset(w.by)
		if agreed || forced {
			return m.enter(now, m.state.Epoch+1, w.next, out)
		}
	}
	return out
}

// enter begins an epoch after all earlier ones have ended.
func (m *Machine) enter(now timed.Instant, epoch uint64, text string, out []Effect) []Effect {
	system, err := m.parse(text)
	if err != nil {
		return m.notifyConflict(timed.NoNode, text, out) // written by a newer program
	}
	m.state, m.system = State{Epoch: epoch, System: text}, system
	m.votedFor, m.since = timed.Incarnation{}, 0
	m.wedges, m.reports, m.noted, m.conflict, m.unordered = nil, nil, timed.Set{}, false, false
	m.NoteLost()
	out = append(out, Effect{Kind: Notify, Event: Event{Kind: Entered, Epoch: epoch, System: text}})
	return m.persist(now, out)
}
