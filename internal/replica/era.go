package replica

import (
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// A group may replace its quorum system. One command begins another epoch for leaders,
// broadcast and state. Each system rules one epoch. Each incarnation of a node is in one
// epoch, which the state directory has before the incarnation begins, so that a node never
// returns to an earlier one. The system does not change during an incarnation.
//
// A state is of the epoch in which it got its rank. A view of the next epoch continues it if
// the members that remember are a quorum of both systems. From then on the state is of the new
// epoch, whose later views need quorums of its system alone. Ranks grow over epochs, because a
// quorum of the earlier epoch has promised the rank of the first view.
//
// Why nothing is lost: let an operation last in epoch e, and let V be the first view of e+1 that
// settles. V holds a quorum of e whose members remember, are in e+1, and stay there. One of
// them is in the quorum that has the operation. Its incarnation of e ended after it had the
// operation, because a member that has left an epoch is in no view of it; so its state has it,
// and the newest state of V continues that. No later view of e settles, because its quorum
// would hold a member of V. The views of e+1 after V hold a member of the quorum that has the
// state of V, or nothing lasted in V and they need both systems again.
//
// If the state is of a still earlier epoch, no member knows what lasted in the epochs between,
// and the view waits. So a group must not replace its system again before the state is of the
// present epoch (MayReplace). After a forced change, a quorum of the former system may be gone
// forever. An operator may then let the view continue, and operations that lasted may be lost.
//
// An operation of the log could change the system instead, as in Raft. But the broadcast must
// know whether a view holds a quorum before anything is ordered in it, and leaders would
// have another notion of the group than the state.

// Era is the epoch of a state, and the quorum system of that epoch. The zero value belongs to
// a state that no quorum has had, or whose quorum system never changes.
type Era struct {
	Epoch  uint64
	System string
}

// maxSystem is the limit of the text of a quorum system in a message.
const maxSystem = 1024

// epochBytes is the size of the largest message with epochs.
const epochBytes = 1 + viewBytes + 8 + 8 + 8 + 2 + maxSystem

// epochs has the epochs that a member sends at the beginning of a view, before its report.
type epochs struct {
	now    uint64 // of the incarnation
	system uint64 // the digest of its quorum system
	state  Era
}

// broadcastEpoch tells the others the epochs of this node and its state, if systems change.
func (m *Replica) broadcastEpoch() {
	if m.cfg.Epoch == 0 {
		return
	}
	e := epochs{m.cfg.Epoch, m.cfg.Quorum.Digest(), m.actual().Era}
	m.broadcast(marker, message{kind: kindEpoch, view: m.view.ID, epochs: e})
}

// takeEpoch records the epochs of a member.
func (m *Replica) takeEpoch(from timed.NodeID, view membership.ViewID, e epochs) {
	if view == m.view.ID && m.cfg.Epoch > 0 {
		m.epochs[m.view.Set.Rank(from)] = e
	}
}

// oneEpoch reports whether all members are in the epoch of this incarnation. Other members
// soon begin another incarnation, and the view ends. Members with different systems under one
// number belong to two groups, or one was configured wrongly.
func (m *Replica) oneEpoch() bool {
	if m.cfg.Epoch == 0 {
		return true
	}
	for _, e := range m.epochs {
		if e == (epochs{}) && m.cfg.Epoch == 1 {
			continue // an earlier build, which is heard in the first epoch only
		}
		if e.now != m.cfg.Epoch || e.system != m.cfg.Quorum.Digest() {
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

// follows reports whether the given members, which remember the state, know all that lasts
// in the former epoch, if the newest state is of that epoch.
func (m *Replica) follows(know timed.Set) bool {
	former, known := m.former()
	return known && (former == nil || former.IsQuorum(know))
}

// Epoch returns the epoch of this incarnation, or 0.
func (m *Replica) Epoch() uint64 { return m.cfg.Epoch }

// Known returns the members that are known to have the state of the view, with Stored on
// their disks, while this node is Current. It leaves out members of earlier builds, which
// send no epochs, because no other epoch hears them.
func (m *Replica) Known() (have timed.Set) {
	if !m.Current() {
		return have
	}
	for i, e := range m.epochs {
		if id := m.view.Members[i].Node; e != (epochs{}) && (m.holders.Has(id) || m.stored[i] > 0) {
			have.Add(id)
		}
	}
	return have
}

// MayReplace reports whether next may replace the quorum system: the members known to have the
// state are a quorum of both systems, so that the state is of the present epoch. Otherwise the
// change would skip an epoch, and the group might wait for members that have no state.
func (m *Replica) MayReplace(next quorum.System) bool {
	have := m.Known()
	return m.cfg.Epoch > 0 && m.cfg.Quorum.IsQuorum(have) && next.IsQuorum(have)
}
