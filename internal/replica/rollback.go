package replica

import (
	"math"
	"slices"

	"github.com/failaware/failaware/timed"
)

// With Stored and a Quorum, a node that starts again counts as one that remembers, because its
// disk has all that it has confirmed. An older copy of the disk, or a disk that had not
// flushed what it said, makes that untrue, and the node cannot notice. Others can: they have
// received its confirmations. Before they report their states, the members of a view say how
// far each of them has the state, and how far they have heard that others' disks were. A
// member that lacks what it has confirmed does not count among those that remember, until it
// has had the state of a later view. Its state competes with those of the others as before: it
// may still be the newest.
//
// This is not a promise. The members that received the confirmations may be absent, or have
// started again since, and so may all that were told of them. A member of an earlier build
// says nothing, and then nobody is judged: all members must decide alike.
//
// Sequences grow within a generation. An operator's word begins a later one, perhaps in new state
// directories, whose sequences start at 1 again.

// confirmed is how far a node has confirmed, in a generation, that its disk has the state.
type confirmed struct {
	node timed.NodeID
	at   Point
	in   uint64
}

// after reports whether a node has confirmed more than it had. What was confirmed in an earlier
// generation is given up, and says nothing of the sequences of this one.
func (c *confirmed) after(o *confirmed) bool {
	if c.in != o.in {
		return c.in > o.in
	}
	return c.at.after(o.at)
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
	has       Point       // how far it has the state, on its disk or in its memory
	confirmed []confirmed // how far the disks of members were, itself included, as it has heard
	promises  bool        // it promises generations
	dates     []confirmed // the generations of confirmed, unless it is 0; and that in which it has begun
}

// began returns the generation in which the member has begun, or 0.
func (d *disks) began() uint64 {
	i := slices.IndexFunc(d.dates, func(c confirmed) bool { return c.node == timed.NoNode })
	if i < 0 {
		return 0
	}
	return d.dates[i].in
}

// allOf is the point behind everything in a view.
func allOf(p Point) Point { return Point{p.View, math.MaxUint64} }

// after reports whether a point of one node's state comes after another one. A node has its
// state in one view at a time, and their sequences grow.
func (p Point) after(q Point) bool {
	if p.View.Sequence != q.View.Sequence {
		return p.View.Sequence > q.View.Sequence
	}
	return p.Position > q.Position
}

// has returns how far the state at a place goes. At Position 0 it may be the state at the
// beginning of the view, or have all of it, and what was flushed at its end: only then is the
// view among the ancestors.
func (p *Place) has() Point {
	at := Point{p.View, p.Position}
	if n := len(p.Line); p.Position == 0 && n > 0 && p.Line[n-1].View == p.View {
		return allOf(at)
	}
	return at
}

// noteHas notes that this node has the state through a point.
func (m *Replica) noteHas(at Point) {
	if at.after(m.hasTo) {
		m.hasTo = at
	}
}

// remember notes that this node has the state of the view, at least in its memory. It is not
// confirmed: a process that starts again has what the disk has.
func (m *Replica) remember() {
	m.remembers = true
	m.noteHas(allOf(Point{View: m.view.ID}))
}

// noteConfirmed notes how far the disk of a node was.
func (m *Replica) noteConfirmed(c confirmed) {
	i := slices.IndexFunc(m.heard, func(o confirmed) bool { return o.node == c.node })
	switch {
	case i < 0:
		m.heard = append(m.heard, c)
	case c.after(&m.heard[i]):
		m.heard[i] = c
	}
}

// broadcastDisks says how far this node has the state, and how far the disks of members
// were. Others may tell of the disks for which the payload has no room.
func (m *Replica) broadcastDisks() {
	if !m.cfg.Stored || m.cfg.Quorum == nil {
		return // it makes no difference who remembers
	}
	msg := message{kind: kindDisks, view: m.view.ID, at: m.hasTo}
	for _, c := range m.heard {
		if m.view.Set.Has(c.node) && len(msg.confirmed) < m.cfg.disks() {
			msg.confirmed = append(msg.confirmed, c)
		}
	}
	m.broadcast(marker, msg)
}

// takeDisks records what a member says of disks.
func (m *Replica) takeDisks(from timed.NodeID, msg *message) {
	if msg.view != m.view.ID || m.phase != reporting {
		return
	}
	d := &m.disks[m.view.Set.Rank(from)]
	d.said, d.has, d.confirmed = true, msg.at, msg.confirmed
	for i := range d.confirmed {
		c := &d.confirmed[i]
		if k := slices.IndexFunc(d.dates, func(o confirmed) bool { return o.node == c.node }); k >= 0 {
			c.in = d.dates[k].in
		}
	}
	for _, c := range msg.confirmed {
		m.noteConfirmed(c)
	}
}

// judgeDisks finds the members that lack what they have confirmed, once all have reported.
func (m *Replica) judgeDisks() {
	m.promises = !slices.ContainsFunc(m.disks, func(d disks) bool { return !d.promises })
	m.earliest = ^uint64(0)
	for i := range m.disks {
		m.earliest = min(m.earliest, m.disks[i].began())
	}
	m.rolledBack = m.lacking().Intersect(m.claiming())
	m.disks = nil
	if !m.rolledBack.Empty() {
		m.notify(Event{Kind: EventRolledBack, Members: m.rolledBack})
	}
}

// lacking returns the members that lack what they have confirmed.
func (m *Replica) lacking() (set timed.Set) {
	for _, d := range m.disks {
		if !d.said {
			return timed.Set{}
		}
	}
	for _, d := range m.disks {
		for _, c := range d.confirmed {
			if m.view.Set.Has(c.node) && m.lacks(&c) {
				set.Add(c.node)
			}
		}
	}
	return set
}

// lacks reports whether a member lacks what it has confirmed. A member without a state of any rank
// that has promised a generation had lost its disk, has got what it remembers from a view that began,
// and so has given up what it confirmed before. Members of earlier builds do not know generations.
func (m *Replica) lacks(c *confirmed) bool {
	i := m.view.Set.Rank(c.node)
	rank := m.reports[i].lineage.Rank
	if rank == 0 {
		rank = m.reports[i].promised
	}
	has := confirmed{c.node, m.disks[i].has, rank / generation}
	if !m.promises {
		has.in = c.in
	}
	return c.after(&has)
}

// forgive forgets, when a view begins a generation, what its members had confirmed that have
// lost their disks since. They go on with the state of the view, which has an older rank until a
// quorum has promised the generation: it would seem that their disks have gone back.
func (m *Replica) forgive() {
	m.heard = slices.DeleteFunc(m.heard, func(c confirmed) bool {
		return c.in < m.promised/generation && m.view.Set.Has(c.node) && m.reportOf(c.node).lineage.Rank == 0
	})
}
