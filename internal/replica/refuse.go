package replica

import (
	"slices"
	"time"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// A member that could not make a snapshot tries again after retryAfter. The time doubles with
// each refusal in the view, up to mostRetry.
const (
	retryAfter = time.Second
	mostRetry  = time.Minute
)

// refuse tells the others that this node cannot make a snapshot now.
func (m *Replica) refuse(n Name, err error) {
	m.notify(Event{Kind: EventRefused, Member: m.cfg.Self.Node, Name: n, Err: err})
	m.broadcast(marker, message{kind: kindRefuse, view: m.view.ID, name: n})
	m.retryAt = m.now.Add(min(retryAfter<<min(m.refusals, 10), mostRetry))
	m.refusals++
}

// retry offers to make snapshots again, once it is time.
func (m *Replica) retry() {
	if m.now >= m.retryAt {
		m.retryAt = timed.Never
		m.broadcast(marker, message{kind: kindRetry, view: m.view.ID})
	}
}

// takeRefuse handles the refusal of a member that cannot make a snapshot. Another member
// makes one instead: during a merge of the same state, and otherwise of the state at this
// position.
func (m *Replica) takeRefuse(from timed.NodeID, msg *message, position uint64) {
	i := m.serviceOf(msg.name)
	if msg.view != m.view.ID || i < 0 {
		return
	}
	m.refused.Add(from)
	for k := range m.services {
		if m.services[k].standby == from {
			m.services[k].standby = timed.NoNode
		}
	}
	s := m.services[i]
	if s.source != from {
		return
	}
	if from != m.cfg.Self.Node {
		m.notify(Event{Kind: EventRefused, Member: from, Name: msg.name})
	}
	m.services = append(m.services[:i:i], m.services[i+1:]...)
	m.dropStream(msg.name)
	if m.phase == merging {
		m.replace(msg.name, m.makers(msg.name), s.receivers.With(from))
		m.checkInputs()
		return
	}
	m.restart(s.receivers, position)
}

// makers returns the members that have the state of a snapshot.
func (m *Replica) makers(n Name) (can timed.Set) {
	for i := range m.branches {
		if m.branches[i].label == n.Label {
			can = m.branches[i].members
		}
	}
	return can
}

// takeRetry handles the offer of a member that may be able to make snapshots again. It makes
// those that no member could make.
func (m *Replica) takeRetry(from timed.NodeID, msg *message, position uint64) {
	if msg.view != m.view.ID || !m.refused.Has(from) {
		return
	}
	m.refused.Remove(from)
	var receivers timed.Set // of the state at this position
	stuck := m.stuck
	m.stuck = nil
	for _, s := range stuck {
		switch {
		case !m.makers(s.name).Has(from):
			m.stuck = append(m.stuck, s)
		case m.phase == merging:
			m.replace(s.name, m.makers(s.name), s.receivers)
		default:
			receivers = receivers.Union(s.receivers)
		}
	}
	if !receivers.Empty() {
		m.restart(receivers, position)
	}
	m.checkInputs()
}

// replace chooses another source for a snapshot.
func (m *Replica) replace(n Name, can, receivers timed.Set) {
	if can.Minus(m.refused).Empty() {
		m.notify(Event{Kind: EventStuck, Name: n})
		m.stuck = append(m.stuck, service{name: n, receivers: receivers})
		return
	}
	m.serve(n, can, receivers)
	if m.phase == settled {
		m.open(&m.services[len(m.services)-1])
	}
}

// takeAsk serves a joiner with the state right after this message.
func (m *Replica) takeAsk(from timed.NodeID, view membership.ViewID, position uint64) {
	if view != m.view.ID || m.phase != settled || len(m.branches) != 1 || m.branches[0].members.Has(from) {
		return
	}
	for _, s := range m.services {
		if s.receivers.Has(from) {
			m.unserve(s.name, from)
		}
	}
	m.services, m.stuck = without(m.services, from), without(m.stuck, from)
	m.restart(timed.SetOf(from), position)
}

// without removes a receiver from services, and those that have no other.
func without(all []service, id timed.NodeID) []service {
	all = slices.DeleteFunc(all, func(s service) bool { return s.receivers == timed.SetOf(id) })
	for i := range all {
		all[i].receivers.Remove(id)
	}
	return all
}
