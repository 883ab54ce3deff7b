package replica

import (
	"slices"
	"sort"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// Earlier is the state with which an incarnation begins: that of an earlier one, in the
// same process or on a disk. The zero value is the initial state of every application.
type Earlier struct {
	Lineage
	// Remembers says that the node has had the state of a quorum, and knows all promises that
	// it has made since.
	Remembers bool
	// Promised is the largest rank of a view that the node saw settled; with Stored, the first
	// rank of its generation, or 0 if the state has a rank of that generation.
	Promised uint64
	// Has is how far the node has had the state, and Confirmed how far the disks of nodes
	// were, as this process has heard.
	Has       Point
	Confirmed []confirmed
	// Spare is what the node has received of a snapshot that it did not use, or nil.
	Spare *Content
}

// HandleEnd ends the incarnation, after all its deliveries. The state then contains all
// deliveries that continue it: members that come later compare its position with theirs.
// Earlier returns it.
func (m *Replica) HandleEnd(now timed.Instant, out []Effect) []Effect {
	return m.turn(now, out, func() {
		m.streams = nil
		switch {
		case m.standing == Holder:
			if len(m.queue) > 0 {
				m.locate(0)
			}
			m.drain()
			m.keep()
		case m.standing == Blank && m.ops && m.phase == settled:
			m.keep()
		case m.standing == Pending:
			m.skipQueue()
		default: // the deliveries of a view that did not settle
			m.skipQueue()
			m.old = Earlier{Lineage: m.lineage.unnamed()}
		}
		m.giveUp()
		m.old.Remembers, m.old.Promised = m.remembers, m.promised
		m.old.Has, m.old.Confirmed = m.hasTo, m.heard
		m.dropIncoming(func(*incoming) bool { return true })
		m.old.Spare, m.spare = m.spare, nil
		m.view, m.phase, m.retryAt, m.resumeAt = nil, idle, timed.Never, timed.Never
	})
}

// keep records the state of this incarnation for the next one.
func (m *Replica) keep() {
	m.old = Earlier{Lineage: m.lineage}
	if m.ops {
		m.old.Lineage = m.lineage.through(m.view.ID, m.last)
	}
}

// actual returns the lineage of the state that this node has, whatever it waits for.
func (m *Replica) actual() Lineage {
	if m.standing == Pending {
		return m.old.Lineage
	}
	return m.lineage
}

// Earlier returns the state that the incarnation has left, after HandleEnd.
func (m *Replica) Earlier() Earlier { return m.old }

// notePosition records the position of an operation. All members that deliver as much,
// even those that end, have delivered the same messages up to the first flushed one, whose
// place depends on how much of the view a member has.
func (m *Replica) notePosition(d *broadcast.Delivery) {
	m.last = d.Position
	m.flushed = m.flushed || d.Flushed
	if !m.flushed {
		m.reached = d.Position
	}
}

// lineOf returns the ancestors of a state that all these members have, or of the merger
// of states that some of them have.
func (m *Replica) lineOf(members timed.Set) (line []Ancestor) {
	for id := range members.All() {
		for _, a := range m.reportOf(id).lineage.Line {
			if !slices.Contains(line, a) {
				line = append(line, a)
			}
		}
	}
	sort.SliceStable(line, func(i, j int) bool { return line[i].View.Sequence < line[j].View.Sequence })
	return trimmed(line, maxLine, m.lineage.Rank)
}

// includes reports whether a state continues another, so that it contains all of it.
func (m *Replica) includes(b, other *branch) bool {
	for id := range b.members.All() {
		for _, a := range m.reportOf(id).lineage.Line {
			if a.contains(other.label, other.end) {
				return true
			}
		}
	}
	return false
}

// withoutIncluded drops the branches that other branches continue. Their members get the
// state of the others, which contains theirs.
func (m *Replica) withoutIncluded(bs []branch) []branch {
	for i := 0; i < len(bs); {
		if slices.ContainsFunc(bs, func(b branch) bool { return b.label != bs[i].label && m.includes(&b, &bs[i]) }) {
			bs = slices.Delete(bs, i, i+1)
		} else {
			i++
		}
	}
	return bs
}

// noteDiscarded reports, with a Quorum, that another state replaces the state of this node
// and does not contain it. again says that the node has got a new state since the last report.
func (m *Replica) noteDiscarded(again bool) {
	m.discarded = m.discarded && !again
	own := branch{label: m.old.Label, end: m.old.End}
	if m.cfg.Quorum == nil || own.label == (Label{}) || m.discarded || slices.ContainsFunc(m.branches, func(b branch) bool { return m.includes(&b, &own) }) {
		return
	}
	m.discarded = true
	m.notify(Event{Kind: EventDiscarded})
}
