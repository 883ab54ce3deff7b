package replica

import (
	"github.com/failaware/failaware/internal/enum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Situation is the stage of a replica's work in its view.
type Situation uint8

const (
	// NoView: the node is in no view yet.
	NoView Situation = iota
	// NoQuorum: the view holds no quorum. The state does not change.
	NoQuorum
	// Reporting: some members have not reported their states yet.
	Reporting
	// Mixed: some members keep the state on disks, and others do not.
	Mixed
	// Changing: some members are in another epoch of the quorum system.
	Changing
	// Recovering: too few members remember the state, and others that may know more are
	// absent.
	Recovering
	// Merging: several states meet, and some members lack some of them.
	Merging
	// Transferring: the view has one state, and this node waits for it.
	Transferring
	// Working: this node has the state of the view and applies deliveries.
	Working
)

func (s Situation) String() string {
	return enum.Name(s, "no view", "no quorum", "members report their states", "some members have a Storage, and others have none",
		"some members are in another epoch of the quorum system", "too few members remember the state", "states are being merged",
		"waits for the state of others", "at work")
}

// MarshalText returns the text of [Situation.String].
func (s Situation) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text of [Situation.String].
func (s *Situation) UnmarshalText(text []byte) error { return enum.Unmarshal(s, text, Working) }

// View returns the id of the view that the replica is in.
func (m *Replica) View() (id membership.ViewID) {
	if m.view != nil {
		id = m.view.ID
	}
	return id
}

// Situation returns the stage of this replica's work.
func (m *Replica) Situation() Situation {
	switch {
	case m.view == nil:
		return NoView
	case m.phase == idle:
		return NoQuorum
	case m.phase == reporting:
		return Reporting
	case m.phase == mixed:
		return Mixed
	case m.phase == changing:
		return Changing
	case m.phase == waiting:
		return Recovering
	case m.phase == merging:
		return Merging
	case m.standing == Pending:
		return Transferring
	}
	return Working
}

// Unreported returns the members of the view whose states this node has not heard yet. It is
// empty unless the situation is Reporting.
func (m *Replica) Unreported() (set timed.Set) {
	if m.Situation() != Reporting {
		return set
	}
	for i, r := range m.reports {
		if r == nil {
			set.Add(m.view.Members[i].Node)
		}
	}
	return set
}
