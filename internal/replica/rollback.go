package replica

import (
	"slices"

	"github.com/failaware/failaware/timed"
)

// With Stored and a Quorum, a node that starts again counts as one that remembers, because its
// disk has all that it has confirmed. An older copy of the disk, or a disk that had not
// flushed what it said, makes that untrue, and the node cannot notice. Others can: they have
// received its confirmations. Before they report their states, the members of a view say how
// far each of them has confirmed, and how far their own disks are. A member whose disk lacks
// what it has confirmed does not remember.
//
// The members that have received confirmations may be gone, or have started again since, so
// this is no promise. A member of an earlier build says nothing, and then nobody is judged:
// all members must decide alike.

// confirmed is how far a node has confirmed that its disk has the state.
type confirmed struct {
	node timed.NodeID
	at   Point
}

// The sizes of a message with disks, and of what it says of each.
const (
	pointBytes     = viewBytes + 8
	confirmedBytes = 1 + pointBytes
	disksBytes     = 1 + viewBytes + pointBytes + 1
)

// disks is what a member says at the beginning of a view.
type disks struct {
	said      bool
	own       Point       // how far its disk is
	confirmed []confirmed // what it has heard of others
}

// noteConfirmed notes how far the disk of a node is, as it says.
func (m *Replica) noteConfirmed(from timed.NodeID, at Point) {
	if from == m.cfg.Self.Node {
		return
	}
	i := slices.IndexFunc(m.heard, func(c confirmed) bool { return c.node == from })
	switch {
	case i < 0:
		m.heard = append(m.heard, confirmed{from, at})
	case at.after(m.heard[i].at):
		m.heard[i].at = at
	}
}

// after reports whether a point of one node's state comes after another one. A node has its
// state in one view at a time, and their sequences grow.
func (p Point) after(q Point) bool {
	if p.View.Sequence != q.View.Sequence {
		return p.View.Sequence > q.View.Sequence
	}
	return p.Position > q.Position
}

// judgesDisks reports whether members that have forgotten what they confirmed make a
// difference.
func (m *Replica) judgesDisks() bool { return m.cfg.Stored && m.cfg.Quorum != nil }

// broadcastDisks tells the others how far this node's disk is, and how far the other members
// have confirmed theirs.
func (m *Replica) broadcastDisks() {
	if !m.judgesDisks() {
		return
	}
	msg := message{kind: kindDisks, view: m.view.ID, at: m.disk}
	for _, c := range m.heard {
		if m.view.Set.Has(c.node) && len(msg.confirmed) < m.cfg.disks() {
			msg.confirmed = append(msg.confirmed, c)
		}
	}
	m.broadcast(marker, msg)
}

// takeDisks records what a member says of the disks.
func (m *Replica) takeDisks(from timed.NodeID, msg *message) {
	if msg.view == m.view.ID {
		m.disks[m.view.Set.Rank(from)] = disks{true, msg.at, msg.confirmed}
	}
}

// forgetLost has the members forget whose disks lack what they have confirmed.
func (m *Replica) forgetLost() {
	behind := m.behind()
	if behind.Empty() {
		return
	}
	for id := range behind.All() {
		m.reportOf(id).remembers = false
	}
	m.remembers = m.remembers && !behind.Has(m.cfg.Self.Node)
	m.notify(Event{Kind: EventRolledBack, Members: behind})
}

// behind returns the members whose disks lack what they have confirmed.
func (m *Replica) behind() (set timed.Set) {
	for _, d := range m.disks {
		if !d.said {
			return timed.Set{}
		}
	}
	for _, d := range m.disks {
		for _, c := range d.confirmed {
			if m.view.Set.Has(c.node) && m.disks[m.view.Set.Rank(c.node)].own.lacks(c.at) {
				set.Add(c.node)
			}
		}
	}
	return set
}

// lacks reports whether a disk at p lacks what was confirmed at c. Position 0 of a place may
// stand behind all that was flushed at the end of its view.
func (p Point) lacks(c Point) bool {
	return c.after(p) && (p.View.Sequence < c.View.Sequence || p.Position > 0)
}
