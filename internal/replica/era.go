package replica

import (
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// A group may replace its quorum system. Each system rules one epoch, and each incarnation of a
// node is in one epoch, which a state directory has before the incarnation begins: a node
// never returns to an earlier one.
//
// A state is of the epoch in which it got its rank. A view of the epoch after that goes on with
// it if those of its members that remember are quorums of both systems. Everything that lasts
// in the earlier epoch is then in one of their states, and nothing more will last there,
// because its quorums include one of these members. The state is of the new epoch from then
// on, and the later views of that need quorums of its system alone: whatever lasts there is held
// by a quorum, under the new epoch. Ranks grow over epochs, because a quorum of the earlier one
// has promised the rank of the first view.
//
// If the state is of a still earlier epoch, nobody here knows what lasted in those between,
// and the view waits. So a group must not replace its system again before the state is of the
// present epoch.

// Era is the epoch that a state is of, and the quorum system of that epoch. The zero value is
// that of a state which no quorum has had, or one whose system never changes.
type Era struct {
	Epoch  uint64
	System string
}

// maxSystem is the limit of the text of a quorum system in a message.
const maxSystem = 1024

// epochBytes is the size of the largest message with epochs.
const epochBytes = 1 + viewBytes + 8 + 8 + 2 + maxSystem

// epochs are what a member says at the begin of a view, before its report.
type epochs struct {
	now   uint64 // of the incarnation
	state Era
}

// sayEpoch tells the others the epochs of this node and its state, if systems change.
func (m *Replica) sayEpoch() {
	if m.cfg.Epoch == 0 {
		return
	}
	e := epochs{m.cfg.Epoch, m.era}
	if m.standing == Pending {
		e.state = m.old.Era
	}
	m.say(marker, message{kind: kindEpoch, view: m.view.ID, epochs: e})
}

// takeEpoch notes the epochs of a member.
func (m *Replica) takeEpoch(from timed.NodeID, view membership.ViewID, e epochs) {
	if view == m.view.ID {
		m.epochs[m.view.Set.Rank(from)] = e
	}
}

// oneEpoch reports whether all members are in the epoch of this incarnation. Those that are
// not soon begin another incarnation, and the view ends.
func (m *Replica) oneEpoch() bool {
	for _, e := range m.epochs {
		if e.now != m.cfg.Epoch {
			return false
		}
	}
	return true
}

// present returns the era of states that get their rank in this incarnation.
func (m *Replica) present() Era {
	if m.cfg.Epoch == 0 {
		return Era{}
	}
	return Era{m.cfg.Epoch, m.cfg.Quorum.String()}
}

// latest returns the era of the newest state that a member of the view has.
func (m *Replica) latest() (era Era) {
	for _, e := range m.epochs {
		if e.state.Epoch > era.Epoch {
			era = e.state
		}
	}
	return era
}

// former returns the quorum system that the newest state comes from, if that is not the
// present one. known is false if the state is of an epoch before the last one.
func (m *Replica) former() (system quorum.System, known bool) {
	era := m.latest()
	if era.Epoch == m.cfg.Epoch || era.Epoch == 0 && m.cfg.Epoch == 1 {
		return nil, true
	}
	system, err := quorum.Parse(era.System)
	if err != nil {
		return nil, false
	}
	return system, era.Epoch+1 == m.cfg.Epoch
}

// follows reports whether members that remember know all that lasts in the epoch before, if the
// newest state is of that.
func (m *Replica) follows(know timed.Set) bool {
	former, known := m.former()
	return known && (former == nil || former.IsQuorum(know))
}

// MayReplace reports whether the quorum system may be replaced by another one: those that are
// known to have the state are quorums of both, so that it is of the present epoch. Another
// change would otherwise skip an epoch, and the group might wait for members that have nothing.
func (m *Replica) MayReplace(next quorum.System) bool {
	if m.cfg.Epoch == 0 || !m.Current() {
		return false
	}
	have := m.holders
	if m.cfg.Stored {
		for i, s := range m.stored {
			if s > 0 {
				have.Add(m.view.Members[i].Node)
			}
		}
	}
	return m.cfg.Quorum.IsQuorum(have) && next.IsQuorum(have)
}
