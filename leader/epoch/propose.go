package epoch

import (
	"errors"
	"fmt"
	"slices"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// Errors to compare with [errors.Is].
var (
	// ErrNotLeader means that this node does not lead its epoch.
	ErrNotLeader = errors.New("epoch: this node does not lead by a quorum")
	// ErrUnderWay means that another change must end first.
	ErrUnderWay = errors.New("epoch: another change is under way")
	// ErrSystem means that the quorum system cannot be the successor.
	ErrSystem = errors.New("epoch: the quorum system cannot be the successor")
	// ErrAlive means that a node hears a member that is declared dead to it. The machine hears
	// nobody, so its users find that out.
	ErrAlive = errors.New("epoch: a member that is declared dead is alive")
)

// Propose makes the leader propose a quorum system as the successor, from its next
// round on. Events report the outcome. If the lead ends before the successor is known
// to be chosen, the outcome is open until the next epoch begins. An error matches
// [ErrNotLeader], [ErrUnderWay] or [ErrSystem] and changes nothing.
func (m *Machine) Propose(next string) error {
	if err := m.checkNext(next); err != nil {
		return err
	}
	if !m.leading {
		return ErrNotLeader
	}
	under := m.state.Next
	if under == "" {
		under = m.wanted
	}
	if under != "" && under != next {
		return fmt.Errorf("%w: to %s", ErrUnderWay, under)
	}
	m.wanted = next
	return nil
}

// checkNext returns an error if this node knows that a quorum system cannot be the
// successor.
func (m *Machine) checkNext(next string) error {
	if m.system == nil {
		return fmt.Errorf("%w: this node knows of no epoch", ErrSystem)
	}
	if _, err := m.parse(next); err != nil {
		return fmt.Errorf("%w: %w", ErrSystem, err)
	}
	if next == m.state.System {
		return fmt.Errorf("%w: it rules already, in epoch %d", ErrSystem, m.state.Epoch)
	}
	return nil
}

// NoteReply records a peer's stamped vote in this node's round of that number, and the
// state that it carried. A nil state means that the voter had noted no proposal.
func (m *Machine) NoteReply(from timed.Incarnation, number timed.Instant, s *State) {
	r := report{from: from, number: number}
	if s != nil {
		r.state = *s
	}
	i, found := m.findReport(from.Node)
	if !found {
		m.reports = append(m.reports, r)
		copy(m.reports[i+1:], m.reports[i:])
	}
	m.reports[i] = r
}

// HandleWon processes the round of that number, which this node has won by a quorum.
// The stamps of its votes include its own and are sorted by node.
func (m *Machine) HandleWon(now timed.Instant, number timed.Instant, stamps []edict.Stamp, out []Effect) []Effect {
	m.leading = true
	if m.state.Phase >= Chosen {
		return out
	}
	latest, between := m.latest(number, stamps)
	switch {
	case between == edict.Incomparable && !m.unordered:
		m.unordered = true
		return append(out, Effect{Kind: Notify, Event: Event{Kind: Unordered, Epoch: m.state.Epoch}})
	case between != edict.After:
		return out
	}
	if m.own && edict.Compare(latest.Edict, m.state.Edict) == edict.Same && now < m.proposed.Add(m.cfg.Retry) {
		return out
	}
	next := m.wanted
	if latest.Phase == Noted {
		next = latest.Next
	}
	if next == "" {
		return out
	}
	if m.wanted != "" && next != m.wanted {
		out = append(out, Effect{Kind: Notify, Event: Event{Kind: Superseded, Epoch: m.state.Epoch, System: next}})
		m.wanted = ""
	}
	proposal := State{Next: next, Edict: edict.Edict{Epoch: m.state.Epoch, Stamps: slices.Clone(stamps), Digest: edict.Sum(Proposal(m.state.Epoch, next))}}
	before := len(out)
	if out = m.note(now, m.cfg.Self, &proposal, out); len(out) == before {
		return out // this node has voted for another since
	}
	m.own, m.noted, m.proposed = true, timed.Set{}, now
	out = append(out, Effect{Kind: Notify, Event: Event{Kind: Proposed, Epoch: m.state.Epoch, System: next}})
	return m.handleNoted(now, m.cfg.Self.Node, out)
}

// latest returns the latest proposal that the voters of a round had noted when they
// voted. If a proposal was chosen before, one of them had noted it. between is After if
// the proposal is certainly the latest, Incomparable if two proposals are incomparable,
// and Before if the report of a voter is missing.
func (m *Machine) latest(number timed.Instant, stamps []edict.Stamp) (latest State, between edict.Order) {
	if m.state.Phase == Noted {
		latest = m.state
	}
	for i := range stamps {
		id := stamps[i].Node
		if id == m.cfg.Self.Node {
			continue
		}
		r := m.reportOf(id)
		if r == nil || r.number != number || r.from.Boot != stamps[i].Boot {
			return latest, edict.Before
		}
		if s := &r.state; s.Phase == Noted && s.Epoch == m.state.Epoch {
			if latest.Phase != Noted {
				latest = *s
				continue
			}
			switch edict.Compare(s.Edict, latest.Edict) {
			case edict.After:
				latest = *s
			case edict.Incomparable:
				return latest, edict.Incomparable
			}
		}
	}
	return latest, edict.After
}

func (m *Machine) findReport(id timed.NodeID) (int, bool) {
	return slices.BinarySearchFunc(m.reports, id, func(r report, id timed.NodeID) int { return int(r.from.Node) - int(id) })
}

// reportOf returns the report of a voter's last vote, or nil.
func (m *Machine) reportOf(id timed.NodeID) *report {
	if i, found := m.findReport(id); found {
		return &m.reports[i]
	}
	return nil
}

// handleNoted counts a node that has noted this leader's proposal.
func (m *Machine) handleNoted(now timed.Instant, id timed.NodeID, out []Effect) []Effect {
	m.noted.Add(id)
	if !m.system.IsQuorum(m.noted) {
		return out
	}
	s := m.state
	s.Phase, s.Edict, s.Agreed = Chosen, edict.Edict{}, true
	out = m.learn(now, m.cfg.Self.Node, &s, out)
	return m.enterNext(now, out)
}

// Leads reports whether this node leads its epoch, as far as it was told.
func (m *Machine) Leads() bool { return m.leading }

// NoteLost records that this node no longer leads its epoch.
func (m *Machine) NoteLost() {
	m.leading, m.own, m.wanted = false, false, ""
}
