package replica

import (
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// With Stored, a generation that an operator's word begins may reach some members only, and some
// disks only, before the view ends or processes do. Then the others may go on without it, and what
// they acknowledge must not give way to it. So, as with a ballot of Paxos, there are two steps:
//
//   - The members of the view promise the generation, and report that from then on. The place of
//     the state on the disk of a member says so, beside the rank that the state had before. So the
//     state is as new as it was, and nothing lasts.
//   - Once the disks of a quorum have promised, which each says in the order, the state gets a rank
//     of the generation, and another place says that. Disks that have this place count from there
//     on.
//
// A state of the generation says that a quorum has promised. Every later quorum includes a node
// that has, and whose report begins a view of that generation, or of a later one: with a rank of
// it at once if a member has such a state, and otherwise by the two steps, in whichever view.
// A node that has got what it remembers from a view that began without a quorum has promised with
// the same record of its disk, so that it does not count as a witness without the promise.
//
// Members of earlier builds give the rank at once. A view with one of them does that too, because
// it tells others that disks have the state, whatever place they have.

// firstOf returns the first rank of the generation of a rank.
func firstOf(rank uint64) uint64 { return rank - rank%generation }

// broadcastGeneration tells the others that this node promises generations, when it has begun, and
// the generations in which it has heard how far disks are. Earlier builds take the date for the
// disk of a node that does not exist.
func (m *Replica) broadcastGeneration() {
	if !m.cfg.Stored || m.cfg.Quorum == nil {
		return
	}
	msg := message{kind: kindGeneration, view: m.view.ID}
	if date := generationOf(m.cfg.Began); date > 0 {
		msg.confirmed = append(msg.confirmed, confirmed{in: date})
	}
	for _, c := range m.heard {
		if c.in > 0 && m.view.Set.Has(c.node) && len(msg.confirmed) < m.cfg.disks() {
			msg.confirmed = append(msg.confirmed, c)
		}
	}
	m.broadcast(marker, msg)
}

// takeGeneration records what a member says of generations.
func (m *Replica) takeGeneration(from timed.NodeID, msg *message) {
	if msg.view == m.view.ID && m.phase == reporting {
		d := &m.disks[m.view.Set.Rank(from)]
		d.promises, d.dates = true, msg.confirmed
	}
}

// promiseGeneration promises the generation of a view that has just been settled.
func (m *Replica) promiseGeneration() {
	m.promised = m.firstRank()
	if m.begun {
		m.forgive()
	}
	if m.established() || !m.promises {
		m.rise()
	} else {
		m.keepRank()
	}
}

// established reports whether a quorum is known to have promised the generation of the view.
func (m *Replica) established() bool {
	for _, r := range m.reports {
		if r.lineage.Rank >= m.promised {
			return true
		}
	}
	return false
}

// rise gives the state the rank of the view.
func (m *Replica) rise() {
	m.lineage.Rank, m.lineage.Era = m.promised+m.view.ID.Sequence%generation, m.present()
}

// broadcastPromised tells the others, in the order, that the disk of this node has promised the
// generation of the view.
func (m *Replica) broadcastPromised() {
	if !m.vows.Has(m.cfg.Self.Node) {
		m.broadcast(marker, message{kind: kindPromised, view: m.view.ID})
	}
}

// takePromised records that the disk of a member has promised the generation of the view.
func (m *Replica) takePromised(from timed.NodeID, view membership.ViewID) {
	if view == m.view.ID {
		m.vows.Add(from)
		m.attain()
	}
}

// attain gives the state the rank of the view once the disks of a quorum have promised the
// generation. Members that say how far their disks have the state have seen that. What the end
// of a view flushes has no position, and so there is no place for the rank behind it.
func (m *Replica) attain() {
	if m.phase != settled || m.flushed || m.cfg.Quorum == nil || !m.cfg.Stored || m.lineage.Rank >= m.promised {
		return
	}
	have := m.vows
	for i, s := range m.stored {
		if s > 0 {
			have.Add(m.view.Members[i].Node)
		}
	}
	if !m.cfg.Quorum.IsQuorum(have) {
		return
	}
	m.rise()
	if m.Current() {
		m.locate(m.last)
	}
}

// noteStored notes what members have confirmed before the last report of the view, in its
// generation.
func (m *Replica) noteStored() {
	for i, s := range m.stored {
		if s > 0 {
			m.noteConfirmed(confirmed{m.view.Members[i].Node, Point{m.view.ID, s - 1}, m.promised / generation})
		}
	}
}
