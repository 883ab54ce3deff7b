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
	// Remembers says that the node has got a quorum's state, and knows everything that it
	// has promised since.
	Remembers bool
	// Promised is the largest rank of a view that the node saw settled.
	Promised uint64
}

// HandleEnd takes the end of the incarnation, after all its deliveries. The state then
// contains all deliveries that continue it: members that come later compare its position
// with theirs. Earlier returns it.
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
		m.view, m.phase, m.retryAt, m.resumeAt = nil, idle, timed.Never, timed.Never
	})
}

// keep makes the state of this incarnation one that the next begins with.
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

// placed notes the position of an operation. All members deliver the same up to there if
// they deliver as much, even those that end: flushed messages are the first whose place
// depends on how much a member has of the view.
func (m *Replica) placed(d *broadcast.Delivery) {
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
	return line[max(0, len(line)-maxLine):]
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

// withoutIncluded drops the branches that others continue. Their members get the state of
// the others, which contains theirs.
func (m *Replica) withoutIncluded(bs []branch) []branch {
	for i := 0; i < len(bs); {
		included := slices.ContainsFunc(bs, func(b branch) bool { return b.label != bs[i].label && m.includes(&b, &bs[i]) })
		if !included {
			i++
			continue
		}
		bs = slices.Delete(bs, i, i+1)
	}
	return bs
}

// yield reports, with a Quorum, that the state of this node gives way to another that does
// not contain it. again says that it has become this node's own since that was reported.
func (m *Replica) yield(again bool) {
	m.yielded = m.yielded && !again
	own := branch{label: m.old.Label, end: m.old.End}
	if m.cfg.Quorum == nil || own.label == (Label{}) || m.yielded || slices.ContainsFunc(m.branches, func(b branch) bool { return m.includes(&b, &own) }) {
		return
	}
	m.yielded = true
	m.notify(Event{Kind: EventDiscarded})
}
